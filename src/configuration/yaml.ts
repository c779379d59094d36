import type { YAMLError, YAMLMap } from 'yaml';
import { Composer, type CST, type Document, isAlias, isMap, isScalar, Lexer, LineCounter, Parser, visit } from 'yaml';
import { JSON_DEPTH_MAX } from '../limits.ts';
import { offsetOf, offsetOfPath } from './locate.ts';
import { DocumentError, excerpt, type Finding, pathText } from './problems.ts';
import { TOO_DEEP, valueFindings } from './values.ts';

/** A plain value read from YAML or JSON text, with the places its parts have in the text. */
export interface Source {
  readonly value: unknown;
  /** Throws DocumentError unless there are no findings. */
  refuse(findings: readonly Finding[]): void;
}

/**
 * Reads YAML 1.2; JSON is YAML. Throws DocumentError with every problem of the text. Whatever the text, the work is
 * bounded: depth is checked before anything recurses, and aliases are counted before they are followed.
 */
export function readYaml(text: string): Source {
  const lines = new LineCounter();
  const document = composeOne(text.replace(/^\uFEFF/, ''), lines);
  refuseFaults([...document.errors, ...document.warnings].map(syntaxFault), lines);
  refuseFaults(nodeFaults(document), lines);
  const source = { value: plainValue(document), refuse: refuserOf(document, lines) };
  source.refuse(valueFindings(source.value));
  return source;
}

/** Far more than eight mebibytes of sensible configuration; without it the same size of brackets takes minutes. */
const TOKENS_MAX = 2_000_000;
const ALIASES_MAX = 1000;
const ALIAS_EXPANSION_MAX = 100;
const PROBLEMS_MAX = 1000;

const OPTIONS = {
  version: '1.2',
  // Named here so that a %YAML directive cannot choose another.
  schema: 'core',
  merge: false,
  resolveKnownTags: false,
  stringKeys: true,
  // The parser's own check compares every key with every other; nodeFaults does it in one pass.
  uniqueKeys: false,
  // Pretty errors quote the source, and with it secrets.
  prettyErrors: false,
  logLevel: 'silent',
} as const;

/** Something wrong at a place in the text. */
interface Fault {
  readonly offset: number;
  readonly problem: string;
}

function composeOne(text: string, lines: LineCounter): Document {
  const composed = new Composer(OPTIONS).compose(boundedTokens(text, lines), true, text.length);
  const [document, second] = [...composed];
  if (second !== undefined) {
    refuseFaults([{ offset: second.range[0], problem: 'expected one document, got several' }], lines);
  }
  if (document === undefined) throw new DocumentError([{ path: '', problem: 'the document is empty' }]);
  return document;
}

/** What reads these tokens recurses, so nothing deep may reach it. */
function* boundedTokens(text: string, lines: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine);
  const refuse = (problem: string) => refuseFaults([{ offset: parser.offset, problem }], lines);
  lines.addNewLine(0);
  let tokens = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme.includes('\0')) refuse('holds a NUL character');
    if (++tokens > TOKENS_MAX) refuse(`holds more than ${TOKENS_MAX} parts`);
    yield* parser.next(lexeme);
    // The stack holds the document and then each open collection.
    const deepest = parser.stack[JSON_DEPTH_MAX + 1];
    if (deepest !== undefined && COLLECTION_TOKENS.has(deepest.type)) refuse(TOO_DEEP);
  }
  yield* parser.end();
}

const COLLECTION_TOKENS: ReadonlySet<string> = new Set(['block-map', 'block-seq', 'flow-collection']);

function syntaxFault({ code, message, pos }: YAMLError): Fault {
  const problem = SYNTAX_PROBLEMS[code] ?? message.charAt(0).toLowerCase() + message.slice(1);
  return { offset: pos[0], problem };
}

/** The parser's own words for these quote the source, which may be a secret, or speak of its options. */
const SYNTAX_PROBLEMS: Partial<Record<YAMLError['code'], string>> = {
  UNEXPECTED_TOKEN: 'this is not valid YAML or JSON here',
  NON_STRING_KEY: 'a key must be plain text',
  TAG_RESOLVE_FAILED: 'tags other than those of plain values are not read',
};

function nodeFaults(document: Document): readonly Fault[] {
  const faults: Fault[] = [];
  const anchors = new Set<string>();
  let aliases = 0;
  visit(document, {
    Node(_key, node) {
      if (isAlias(node)) {
        if (!anchors.has(node.source)) faults.push({ offset: offsetOf(node), problem: 'no anchor of this name above' });
        if (++aliases > ALIASES_MAX) return visit.BREAK;
      } else if (node.anchor !== undefined) anchors.add(node.anchor);
      if (isMap(node)) faults.push(...repeatedKeys(node));
      return undefined;
    },
  });
  if (aliases > ALIASES_MAX) faults.push({ offset: 0, problem: `more than ${ALIASES_MAX} aliases` });
  return faults;
}

function repeatedKeys(map: YAMLMap): readonly Fault[] {
  const seen = new Set<string>();
  const repeated: Fault[] = [];
  for (const { key } of map.items) {
    if (!isScalar<string>(key)) continue;
    if (seen.has(key.value))
      repeated.push({ offset: offsetOf(key), problem: `the key ${excerpt(key.value)} is here twice` });
    seen.add(key.value);
  }
  return repeated;
}

function plainValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: ALIAS_EXPANSION_MAX });
  } catch (cause) {
    if (!(cause instanceof ReferenceError)) throw cause;
    throw new DocumentError([{ path: '', problem: 'the aliases would expand too far' }]);
  }
}

function refuseFaults(faults: readonly Fault[], lines: LineCounter): void {
  if (faults.length === 0) return;
  const problems = faults.map(({ offset, problem }) => ({ path: '', problem, ...position(offset, lines) }));
  throw new DocumentError(problems.slice(0, PROBLEMS_MAX));
}

function refuserOf(document: Document, lines: LineCounter): Source['refuse'] {
  return (findings) => {
    if (findings.length === 0) return;
    const problems = findings.slice(0, PROBLEMS_MAX).map(({ path, problem }) => {
      return { path: pathText(path), problem, ...position(offsetOfPath(document, path), lines) };
    });
    throw new DocumentError(problems.sort((left, right) => left.line - right.line || left.column - right.column));
  };
}

function position(offset: number, lines: LineCounter): { line: number; column: number } {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}
