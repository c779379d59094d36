import { INEXACT_MARK, JsonError, type JsonScan, scanJson } from './json-scan.ts';

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/**
 * JSON of a caller. `exact` gives the same value in which every number that a double cannot hold as written (2^53 + 1,
 * 1.0, 1e400) is kept as written, so that `JSON.stringify` forwards it unchanged; it is computed only when asked for
 * and needed.
 */
export interface ParsedJson {
  readonly value: unknown;
  readonly exact: () => unknown;
}

/**
 * The same in the form in which it can be sent to another thread: in the tree, marks stand for the numbers that a double
 * cannot hold, and beside it is how each was written.
 */
export interface MarkedJson {
  readonly tree: unknown;
  readonly written: readonly string[];
}

/** Throws JsonError for what is not JSON, or is over the bounds of `scanJson`. */
export function parseJson(text: string): ParsedJson {
  return unmark(parseMarked(text));
}

export function parseMarked(text: string, { inexact }: JsonScan = scanJson(text)): MarkedJson {
  const written: string[] = [];
  let marked = inexact.length === 0 ? text : '';
  let rest = 0;
  for (let at = 0; at < inexact.length; at += 2) {
    const [start, end] = [inexact[at] ?? 0, inexact[at + 1] ?? 0];
    marked += text.slice(rest, start) + String(INEXACT_MARK - written.length);
    written.push(text.slice(start, end));
    rest = end;
  }
  if (rest > 0) marked += text.slice(rest);
  try {
    return { tree: JSON.parse(marked), written };
  } catch {
    throw new JsonError('The body is not valid JSON.');
  }
}

export function unmark({ tree, written }: MarkedJson): ParsedJson {
  if (written.length === 0) return { value: tree, exact: () => tree };
  return { value: restore(tree, written.map(Number)), exact: () => restore(tree, written.map(rawJSON)) };
}

// Newer than the standard library's types.
const { rawJSON, isRawJSON } = JSON as unknown as {
  readonly rawJSON: (source: string) => unknown;
  readonly isRawJSON: (value: unknown) => boolean;
};

/** Whether this is a number that `exact` kept as written: it looks like an object and prints as the number. */
export function isWrittenNumber(value: unknown): boolean {
  return isRawJSON(value);
}

/** The tree with each mark's number in its place; whatever has none inside is shared and not copied. */
function restore(tree: unknown, numbers: readonly unknown[]): unknown {
  if (typeof tree === 'number') return tree <= INEXACT_MARK ? numbers[INEXACT_MARK - tree] : tree;
  if (typeof tree !== 'object' || tree === null) return tree;
  return Array.isArray(tree) ? restoreList(tree, numbers) : restoreObject(tree, numbers);
}

function restoreList(list: readonly unknown[], numbers: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (const [at, item] of list.entries()) {
    const restored = restore(item, numbers);
    if (restored === item) continue;
    copy ??= [...list];
    copy[at] = restored;
  }
  return copy ?? list;
}

function restoreObject(object: object, numbers: readonly unknown[]): object {
  let copy: Record<string, unknown> | undefined;
  for (const [name, item] of Object.entries(object)) {
    const restored = restore(item, numbers);
    if (restored === item) continue;
    copy ??= { ...object };
    // Safe with any name, `__proto__` included: the copy has a member of that name already.
    copy[name] = restored;
  }
  return copy ?? object;
}

export { JsonError } from './json-scan.ts';
