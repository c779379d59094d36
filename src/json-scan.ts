import { JSON_DEPTH_MAX, JSON_NAMES_MAX, JSON_VALUES_MAX } from './limits.ts';

/** The text is not JSON, or is deeper or larger than anything a person writes. Its message may be shown. */
export class JsonError extends Error {}

export interface JsonScan {
  /** Objects, lists and all that is in them; the outermost one counts. */
  readonly values: number;
  /** Start and end, one after the other, of each number that would change if it were read as a double and printed. */
  readonly inexact: readonly number[];
}

/**
 * One pass over a text before it is parsed, since a tree costs a hundred times as much as the look at its text. Throws
 * JsonError above JSON_DEPTH_MAX levels, `valuesMax` values or JSON_NAMES_MAX different names of members. It need
 * not notice bad syntax; the parser behind it does.
 */
export function scanJson(text: string, valuesMax = JSON_VALUES_MAX): JsonScan {
  let depth = 0;
  let values = 0;
  let members = 0;
  const inexact: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      values++;
      at = endOfString(text, at);
    } else if (char === COLON) {
      // The string before it was a name.
      values--;
      members++;
    } else if (char === OPEN_OBJECT || char === OPEN_LIST) {
      values++;
      if (++depth > JSON_DEPTH_MAX) throw new JsonError(`The JSON is nested deeper than ${JSON_DEPTH_MAX} levels.`);
    } else if (char === CLOSE_OBJECT || char === CLOSE_LIST) {
      depth--;
    } else if (char === MINUS || isDigit(char)) {
      values++;
      const end = endOfNumber(text, at);
      if (!isExact(text, at, end)) inexact.push(at, end);
      at = end - 1;
    } else if (char === 0x74 || char === 0x66 || char === 0x6e) {
      // The first letter of true, false or null, which is in none of them a second time.
      values++;
    }
    if (values > valuesMax) throw new JsonError(`The JSON has more than ${valuesMax} values.`);
  }
  if (members > JSON_NAMES_MAX) refuseManyNames(text);
  return { values, inexact };
}

/** A name that is written in two ways, with escapes and without, counts twice. */
function refuseManyNames(text: string): void {
  const names = new Set<string>();
  let name = '';
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      const end = endOfString(text, at);
      name = text.slice(at, end);
      at = end;
    } else if (char === COLON && names.add(name).size > JSON_NAMES_MAX) {
      throw new JsonError(`The JSON has more than ${JSON_NAMES_MAX} different names.`);
    }
  }
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

function isDigit(char: number): boolean {
  return char >= 0x30 && char <= 0x39;
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
    if (!isDigit(char) && char !== 0x2e && char !== 0x2b && char !== MINUS && (char | 0x20) !== 0x65) break;
  }
  return end;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** So many digits are always held. */
const EXACT_DIGITS = 15;

/** What is no number of JSON is left for the parser to refuse. */
function isExact(text: string, start: number, end: number): boolean {
  if (end - start === 1 && text.charCodeAt(start) !== MINUS) return true;
  const source = text.slice(start, end);
  if (source.length <= EXACT_DIGITS && WHOLE.test(source)) return true;
  const value = Number(source);
  return (String(value) === source && value > INEXACT_MARK) || !NUMBER.test(source);
}

const WHOLE = /^[1-9]\d*$/;

/**
 * Numbers from here down stand for the inexact ones of a text while it is parsed: this for the first, one less for the
 * second. A number that is written so low counts as inexact itself, so that none is taken for another.
 */
export const INEXACT_MARK = -9e15;
