import { JSON_DEPTH_MAX, JSON_EXACT_VALUES_MAX } from './limits.ts';

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** The text is not JSON, or is deeper or longer than anything a person writes. Its message may be shown. */
export class JsonError extends Error {}

/**
 * JSON of a caller. Depth is bounded before the parser sees the text. `exact` gives the same value in which every
 * number that a double cannot hold as written (2^53 + 1, 1.0, 1e400) is kept as written, so that `JSON.stringify`
 * forwards it unchanged; it is computed only when asked for and needed.
 */
export interface ParsedJson {
  readonly value: unknown;
  readonly exact: () => unknown;
}

export function parseJson(text: string): ParsedJson {
  const { lossy, values } = scan(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new JsonError('The body is not valid JSON.');
  }
  return { value, exact: () => (lossy ? exactly(text, values) : value) };
}

/** Looks at every value one by one, which takes microseconds each: with millions of them nobody else would be served. */
function exactly(text: string, values: number): unknown {
  if (values <= JSON_EXACT_VALUES_MAX) return JSON.parse(text, keepNumberSource);
  throw new JsonError(`The body has more than ${JSON_EXACT_VALUES_MAX} values, and numbers that need care among them.`);
}

// `context.source` and JSON.rawJSON are newer than the standard library's types.
interface ReviverContext {
  readonly source?: string;
}
const { rawJSON, isRawJSON } = JSON as unknown as {
  readonly rawJSON: (source: string) => unknown;
  readonly isRawJSON: (value: unknown) => boolean;
};

/** Whether this is a number that `exact` kept as written: it looks like an object and prints as the number. */
export function isWrittenNumber(value: unknown): boolean {
  return isRawJSON(value);
}

function keepNumberSource(_key: string, value: unknown, context?: ReviverContext): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return String(value) === context.source ? value : rawJSON(context.source);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * One pass over the text: refuses depth beyond the cap, and tells whether any number would change when printed
 * again. It need not notice bad syntax; the parser behind it does.
 */
function scan(text: string): { lossy: boolean; values: number } {
  let depth = 0;
  let values = 1;
  let lossy = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      at = endOfString(text, at);
    } else if (char === 0x7b || char === 0x5b) {
      if (++depth > JSON_DEPTH_MAX) throw new JsonError(`The JSON is nested deeper than ${JSON_DEPTH_MAX} levels.`);
    } else if (char === 0x2c) {
      values++;
    } else if (char === 0x7d || char === 0x5d) {
      depth--;
    } else if (char === 0x2d || (char >= 0x30 && char <= 0x39)) {
      const end = endOfNumber(text, at);
      if (!lossy) lossy = isLossy(text, at, end);
      at = end - 1;
    }
  }
  return { lossy, values };
}

function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at === -1 ? text.length : at;
}

function isEscaped(text: string, quote: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  for (; end < text.length; end++) {
    const char = text.charCodeAt(end);
    const inNumber =
      (char >= 0x30 && char <= 0x39) || char === 0x2e || char === 0x2b || char === 0x2d || (char | 0x20) === 0x65;
    if (!inNumber) break;
  }
  return end;
}

function isLossy(text: string, start: number, end: number): boolean {
  const source = text.slice(start, end);
  return String(Number(source)) !== source;
}
