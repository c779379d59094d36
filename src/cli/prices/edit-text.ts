import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  Scalar,
  type YAMLMap,
} from 'yaml';
import { CommandError } from '../command.ts';
import type { Change } from './changes.ts';

/** Text in place of a stretch of another. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The edits that make these changes in a checked document of YAML or JSON: only the figures themselves are replaced, so that
 * comments, order and layout stay. Throws CommandError where a value is not written in its place but through an alias.
 */
export function editsFor(text: string, changes: readonly Change[]): readonly Edit[] {
  const document = parseDocument(text, { schema: 'core', prettyErrors: false, logLevel: 'silent' });
  const edits = changes.flatMap((change) => editFor(document, text, change) ?? []);
  return joinInsertions(edits).sort((left, right) => left.start - right.start);
}

/** The edits must be in order. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let [result, done] = ['', 0];
  for (const { start, end, text: replacement } of edits) {
    result += text.slice(done, start) + replacement;
    done = end;
  }
  return result + text.slice(done);
}

function editFor(document: Document, text: string, { path, value }: Change): Edit | undefined {
  const [parent, key] = [parentOf(document, path), String(path.at(-1))];
  const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === key);
  const node = pair?.value;
  if (node === undefined) return insertionOf(parent, text, key, value);
  if (isAlias(node)) throw throughAlias(path);
  if (typeof value === 'string') {
    if (!isScalar(node)) throw throughAlias(path);
    return Number(node.value) === Number(value) ? undefined : replacementOf(node, text, value);
  }
  if (!isSeq(node)) throw throughAlias(path);
  return replacementOf(node, text, rungsText(value, isQuoted(parent)));
}

function parentOf(document: Document, path: Change['path']): YAMLMap {
  let node: unknown = document.contents;
  for (const segment of path.slice(0, -1)) {
    node = isCollection(node) ? node.get(segment, true) : undefined;
    if (isAlias(node)) throw throughAlias(path);
  }
  if (!isMap(node)) throw throughAlias(path);
  return node;
}

function throughAlias(path: Change['path']): CommandError {
  return new CommandError(`${path.join('.')} is not written there but through an alias: write it out first.`);
}

function replacementOf(node: { range?: readonly [number, number, number] | null }, text: string, by: string): Edit {
  const [start, end] = node.range ?? [0, 0];
  return { start, end: start + text.slice(start, end).trimEnd().length, text: by };
}

/** Behind the last pair whose value ends where its text does: what ends a block is not told by its range. */
function insertionOf(parent: YAMLMap, text: string, key: string, value: Change['value']): Edit {
  const name = isQuoted(parent) ? JSON.stringify(key) : key;
  const written = `${name}: ${typeof value === 'string' ? value : rungsText(value, isQuoted(parent))}`;
  const last = parent.items.findLast((item) => endOf(item.value) !== undefined);
  const end = endOf(last?.value);
  if (last === undefined || end === undefined) throw new CommandError(`There is no place for ${key} in the file.`);
  if (parent.flow === true) return { start: end, end, text: `, ${written}` };
  const keyStart = isScalar(last.key) ? (last.key.range?.[0] ?? 0) : 0;
  const indent = keyStart - (text.lastIndexOf('\n', keyStart) + 1);
  const lineFeed = text.indexOf('\n', end);
  const isWindows = lineFeed > 0 && text[lineFeed - 1] === '\r';
  const start = lineFeed < 0 ? text.length : lineFeed - (isWindows ? 1 : 0);
  return { start, end: start, text: `${isWindows ? '\r\n' : '\n'}${' '.repeat(indent)}${written}` };
}

function endOf(node: unknown): number | undefined {
  const isPlain = isScalar(node) && node.type !== Scalar.BLOCK_FOLDED && node.type !== Scalar.BLOCK_LITERAL;
  const isFlow = (isMap(node) || isSeq(node)) && node.flow === true;
  return isPlain || isFlow ? node.range?.[1] : undefined;
}

/** As JSON is. */
function isQuoted(map: YAMLMap): boolean {
  return map.items.some(({ key }) => isScalar(key) && key.type === Scalar.QUOTE_DOUBLE);
}

function rungsText(rungs: Exclude<Change['value'], string>, hasQuotes: boolean): string {
  const maps = rungs.map((rung) => {
    const pairs = Object.entries(rung).map(([name, value]) => `${hasQuotes ? JSON.stringify(name) : name}: ${value}`);
    return `{ ${pairs.join(', ')} }`;
  });
  return `[${maps.join(', ')}]`;
}

/** Several new pairs of one map stand at the same place: they become one edit, in their order. */
function joinInsertions(edits: readonly Edit[]): Edit[] {
  const joined: Edit[] = [];
  for (const edit of edits) {
    const same = joined.findIndex(({ start, end }) => start === end && edit.start === edit.end && start === edit.start);
    const earlier = joined[same];
    if (earlier === undefined) joined.push(edit);
    else joined[same] = { ...earlier, text: earlier.text + edit.text };
  }
  return joined;
}
