import { setImmediate } from 'node:timers/promises';
import { isWrittenNumber } from '../../json.ts';
import { JSON_INLINE_MAX } from '../../limits.ts';
import type { StreamedBody } from './exchange.ts';
import type { WireValue } from './wire.ts';

/**
 * The text of a request. A long one is printed and encoded piece by piece, each in a turn of the event loop: as one piece,
 * a prompt of 25 MiB blocks all other requests for 70 ms.
 */
export function toJsonBody(value: WireValue): string | Promise<StreamedBody> {
  return charsIn(value) <= JSON_INLINE_MAX.bytes ? JSON.stringify(value) : encodeInTurns(value, JSON_INLINE_MAX.bytes);
}

/** Exported for its test: the same for any length of a piece. */
export async function encodeInTurns(value: WireValue, pieceChars: number): Promise<StreamedBody> {
  const sizes = new Map<object, number>();
  charsIn(value, sizes);
  const pieces: Buffer[] = [];
  let text = '';
  for (const part of partsOf(value, { sizes, pieceChars })) {
    text += part;
    if (text.length < pieceChars) continue;
    pieces.push(Buffer.from(text));
    text = '';
    await setImmediate();
  }
  pieces.push(Buffer.from(text));
  return { bytes: pieces.reduce((sum, { length }) => sum + length, 0), pieces: each(pieces) };
}

/** About how long its JSON is. `sizes` is filled with the same of every object and list in it. */
function charsIn(value: WireValue, sizes?: Map<object, number>): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return CHARS_PER_VALUE;
  let chars = 0;
  if (Array.isArray(value)) for (const item of value) chars += charsIn(item, sizes);
  else for (const [name, item] of Object.entries(value)) chars += name.length + charsIn(item, sizes);
  sizes?.set(value, chars);
  return chars;
}

const CHARS_PER_VALUE = 6;

interface Cut {
  readonly sizes: ReadonlyMap<object, number>;
  readonly pieceChars: number;
}

/** What is short is printed at once. */
function* partsOf(value: WireValue, cut: Cut): Generator<string> {
  if (typeof value === 'string') yield* stringParts(value, cut.pieceChars);
  else if (typeof value !== 'object' || value === null || isShort(value, cut)) yield JSON.stringify(value) ?? 'null';
  else if (Array.isArray(value)) yield* listParts(value, cut);
  else yield* objectParts(value, cut);
}

function isShort(value: object, { sizes, pieceChars }: Cut): boolean {
  return isWrittenNumber(value) || (sizes.get(value) ?? 0) <= pieceChars;
}

function* listParts(list: readonly WireValue[], cut: Cut): Generator<string> {
  let before = '[';
  for (const item of list) {
    yield before;
    yield* partsOf(item, cut);
    before = ',';
  }
  yield ']';
}

function* objectParts(object: object, cut: Cut): Generator<string> {
  let before = '{';
  for (const [name, item] of Object.entries(object)) {
    if (item === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* partsOf(item, cut);
    before = ',';
  }
  yield '}';
}

function* stringParts(text: string, pieceChars: number): Generator<string> {
  yield '"';
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + pieceChars;
    // A surrogate pair stays together: halves would be printed as escapes.
    if (isHighSurrogate(text.charCodeAt(end - 1))) end++;
    yield JSON.stringify(text.slice(start, end)).slice(1, -1);
  }
  yield '"';
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

async function* each(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}
