// The table of results in docs/clients.md, between two marks.
import { readFileSync, writeFileSync } from 'node:fs';
import { type Outcome, WORKS } from '../../test/clients/support/record.ts';
import { CLIENT_PROGRAMS, type ClientProgram, versionOf } from '../../test/clients/versions.ts';

const DOCUMENT = 'docs/clients.md';
const BEGIN = '<!-- results: begin (written by npm run test:clients) -->\n';
const END = '<!-- results: end -->';
const HEAD = ['| Client | Version | What was called | Result |', '|---|---|---|---|'];

/** A row as it stands in the document. */
export interface TableRow {
  readonly title: string;
  readonly version: string;
  readonly result: string;
  readonly line: string;
}

export function readTable(text: string = readFileSync(DOCUMENT, 'utf8')): readonly TableRow[] {
  const [begin, end] = bounds(text);
  const lines = text.slice(begin, end).split('\n').slice(HEAD.length);
  return lines
    .filter((line) => line.startsWith('| '))
    .map((line) => {
      const [, title = '', version = '', , result = ''] = line.split('|').map((cell) => cell.trim());
      return { title, version, result, line };
    });
}

/** Puts the rows of the programs that ran in the place of theirs. Those of the others stay, in the order of the list. */
export function writeTable(ran: readonly ClientProgram[], outcomes: readonly Outcome[]): void {
  const text = readFileSync(DOCUMENT, 'utf8');
  const known = readTable(text);
  const rows = CLIENT_PROGRAMS.flatMap((program) =>
    ran.includes(program)
      ? rowsOf(program, outcomes)
      : known.filter(({ title }) => title === program.title).map(({ line }) => line),
  );
  const [begin, end] = bounds(text);
  const table = ['', ...HEAD, ...rows, '', ''].join('\n');
  writeFileSync(DOCUMENT, text.slice(0, begin) + table + text.slice(end));
}

/** A row for each kind of result: what works stands together. A program that told nothing has failed. */
function rowsOf(program: ClientProgram, outcomes: readonly Outcome[]): string[] {
  const own = outcomes.filter((outcome) => outcome.program === program.name);
  const results = [...new Set(own.map(({ result }) => result))].sort(
    (a, b) => Number(b === WORKS) - Number(a === WORKS),
  );
  const row = (calls: string, result: string) => `| ${program.title} | ${versionOf(program)} | ${calls} | ${result} |`;
  if (results.length === 0) return [row('–', 'fails')];
  return results.map((result) => {
    const calls = own.filter((outcome) => outcome.result === result).map(({ call }) => call);
    return row([...new Set(calls)].join(', '), result);
  });
}

function bounds(text: string): readonly [number, number] {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${DOCUMENT} has no place for the table of results.`);
  return [begin + BEGIN.length, end];
}
