/** Where in a YAML text the cursor is: for completion, so it must make sense of text that is not finished. */
export interface YamlPlace {
  /** To the map or the value that is being typed; `*` is an item of a list. */
  readonly path: readonly string[];
  /** A value after `key:`, not a key. */
  readonly isValue: boolean;
  readonly word: string;
  /** The keys that the map has already. */
  readonly present: readonly string[];
  /** Inside braces or brackets, where a key cannot begin a block. */
  readonly isFlow: boolean;
}

export const ITEM = '*';

/** Undefined in a comment. */
export function placeAt(text: string, offset: number): YamlPlace | undefined {
  const above = text.slice(0, offset).split('\n');
  const typed = above.pop() ?? '';
  if (/(?:^|\s)#/.test(typed)) return undefined;
  const line = lineOf(typed);
  const inner = placeInLine(line.rest);
  const outer = containerOf(above, line);
  const below = text.slice(offset).split('\n').slice(1);
  const siblings = [...outer.siblings, ...siblingsBelow(below, line.start)];
  return {
    path: [...outer.path, ...inner.path],
    isValue: inner.isValue,
    word: inner.word,
    present: inner.isFlow ? inner.present : siblings,
    isFlow: inner.isFlow,
  };
}

interface Line {
  /** The columns of its dashes. */
  readonly dashes: readonly number[];
  /** The column at which its content begins. */
  readonly start: number;
  readonly rest: string;
  /** Undefined where it is no `key:`. */
  readonly key: string | undefined;
  readonly hasValue: boolean;
}

const KEY = /^("[^"]*"|'[^']*'|[^\s:#{}[\],"'&*!|>%@`-][^:#{}[\],]*?)\s*:(?:\s+(.*))?$/;

function lineOf(text: string): Line {
  const dashes: number[] = [];
  let start = text.length - text.trimStart().length;
  for (let rest = text.slice(start); /^-(?:\s|$)/.test(rest); rest = text.slice(start)) {
    dashes.push(start);
    start += Math.max(1, rest.length - rest.slice(1).trimStart().length);
  }
  const rest = text.slice(start);
  const [, key, value = ''] = KEY.exec(rest) ?? [];
  const hasValue = value.replace(/(?:^|\s)#.*$/, '').trim() !== '';
  return { dashes, start, rest, key: key === undefined ? undefined : unquoted(key), hasValue };
}

function unquoted(text: string): string {
  return /^["'].*["']$/.test(text) ? text.slice(1, -1) : text;
}

interface Container {
  readonly path: readonly string[];
  readonly siblings: readonly string[];
}

/** Climbs from the line to the top: to the key that its map belongs to, the list that its item is of, and so on. */
function containerOf(above: readonly string[], { dashes, start }: Line): Container {
  const path: string[] = [];
  const siblings: string[] = [];
  let column = start;
  let isList = false;
  const enterList = (of: readonly number[]) => {
    path.unshift(ITEM);
    column = of.at(-1) ?? 0;
    isList = true;
  };
  if (dashes.length > 0) enterList(dashes);
  for (const text of above.toReversed()) {
    if (/^\s*(?:#|$)/.test(text)) continue;
    const line = lineOf(text);
    if (isList ? isParentOfList(line, column) : line.start < column && isOpen(line)) {
      path.unshift(line.key ?? '');
      column = line.start;
      isList = false;
      if (line.dashes.length > 0) enterList(line.dashes);
    } else if (!isList && line.start === column) {
      if (path.length === 0 && line.key !== undefined) siblings.push(line.key);
      if (line.dashes.length > 0) enterList(line.dashes);
    }
  }
  return { path, siblings };
}

/** `key:` with nothing behind it. */
function isOpen({ key, hasValue }: Line): boolean {
  return key !== undefined && !hasValue;
}

/** A list may begin in the same column as its key. */
function isParentOfList(line: Line, column: number): boolean {
  return isOpen(line) && (line.start < column || (line.start === column && line.dashes.length === 0));
}

function siblingsBelow(below: readonly string[], column: number): readonly string[] {
  const keys: string[] = [];
  for (const text of below) {
    if (/^\s*(?:#|$)/.test(text)) continue;
    const line = lineOf(text);
    if (line.start < column || line.dashes.length > 0) break;
    if (line.start === column && line.key !== undefined) keys.push(line.key);
  }
  return keys;
}

type LinePlace = Pick<YamlPlace, 'path' | 'isValue' | 'word' | 'present' | 'isFlow'>;

/** What lies within the line itself: `key: value`, and maps and lists in braces and brackets. */
function placeInLine(rest: string): LinePlace {
  const [, key, value] = /^("[^"]*"|'[^']*'|[^\s:#{}[\],]+)\s*:\s+(.*)$/.exec(rest) ?? [];
  const outer = key === undefined ? [] : [unquoted(key)];
  const levels: { readonly isMap: boolean; key: string | undefined; readonly keys: string[] }[] = [];
  let word = '';
  for (const letter of value ?? rest) {
    const level = levels.at(-1);
    if (letter === '{' || letter === '[') levels.push({ isMap: letter === '{', key: undefined, keys: [] });
    else if (letter === '}' || letter === ']') levels.pop();
    else if (letter === ',' && level !== undefined) level.key = undefined;
    else if (letter === ':' && level?.isMap === true) {
      level.key = unquoted(word.trim());
      level.keys.push(level.key);
    } else {
      word += letter;
      continue;
    }
    word = '';
  }
  const inner = levels.flatMap((level) => (level.isMap ? (level.key ?? []) : ITEM));
  const last = levels.at(-1);
  return {
    path: [...outer, ...inner],
    isValue: last === undefined ? key !== undefined : !last.isMap || last.key !== undefined,
    word: word.trimStart(),
    present: last?.keys ?? [],
    isFlow: last !== undefined,
  };
}
