/** One thing wrong with a configuration document. Never holds a secret's value. */
export interface DocumentProblem {
  /** Such as `models[2].pricing.credits.base`; empty for the document as a whole. */
  readonly path: string;
  readonly problem: string;
  /** Where in the text, from 1, when the document was read from text. */
  readonly line?: number;
  readonly column?: number;
}

/** Everything wrong with a configuration document, at once. Its message may be shown to the operator. */
export class DocumentError extends Error {
  readonly problems: readonly DocumentProblem[];

  constructor(problems: readonly DocumentProblem[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  - ${problemText(problem)}`).join('\n')}`);
    this.problems = problems;
  }
}

export type Path = readonly PropertyKey[];

/** A problem as the checks find it, before it is located in the text. */
export interface Finding {
  readonly path: Path;
  readonly problem: string;
}

/** Throws DocumentError unless there are no findings. */
export function refuseUnlocated(findings: readonly Finding[]): void {
  if (findings.length === 0) return;
  throw new DocumentError(findings.map(({ path, problem }) => ({ path: pathText(path), problem })));
}

export function pathText(path: Path): string {
  return path.map(segmentText).join('').replace(/^\./, '');
}

/** The start of a text that may be long, as a message can carry it. */
export function excerpt(text: string): string {
  return JSON.stringify(text.length > EXCERPT_CHARS_MAX ? `${text.slice(0, EXCERPT_CHARS_MAX)}…` : text);
}

const EXCERPT_CHARS_MAX = 60;

function segmentText(segment: PropertyKey): string {
  if (typeof segment === 'number') return `[${segment}]`;
  const key = String(segment);
  return /^[\w-]{1,60}$/.test(key) ? `.${key}` : `[${excerpt(key)}]`;
}

function problemText({ path, problem, line, column }: DocumentProblem): string {
  const place = line === undefined ? '' : `line ${line}:${column}`;
  const where = [path, place === '' || path === '' ? place : `(${place})`].filter((part) => part !== '').join(' ');
  return where === '' ? problem : `${where}: ${problem}`;
}
