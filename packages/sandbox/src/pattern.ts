import { countCharacters } from '../../../src/text/index.ts';

/** A text that a simple regular expression matches, made from it. The expression itself is never run: it may be slow. */

const REPEATS_MAX = 1_000;

/** How often each repetition without an upper bound goes beyond its least. */
type Make = (more: number) => string;

/** Undefined for an expression with more to it than letters, classes, groups, choices and repetitions. */
export function textMatching(pattern: string, charsMin: number): string | undefined {
  const reader = new PatternReader(pattern);
  const make = reader.choices();
  if (make === undefined || !reader.isAtEnd) return undefined;
  const least = make(0);
  const missing = charsMin - countCharacters(least);
  return missing <= 0 ? least : make(Math.min(missing, REPEATS_MAX));
}

class PatternReader {
  readonly #chars: readonly string[];
  #at = 0;

  constructor(pattern: string) {
    this.#chars = Array.from(pattern);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#chars.length;
  }

  /** The first of `a|b|c`. */
  choices(): Make | undefined {
    const first = this.#sequence();
    while (this.#take('|')) if (this.#sequence() === undefined) return undefined;
    return first;
  }

  #sequence(): Make | undefined {
    const parts: Make[] = [];
    while (!this.isAtEnd && this.#peek !== '|' && this.#peek !== ')') {
      const part = this.#repeated();
      if (part === undefined) return undefined;
      parts.push(part);
    }
    return (more) => parts.map((part) => part(more)).join('');
  }

  #repeated(): Make | undefined {
    const one = this.#one();
    if (one === undefined) return undefined;
    const [least, isOpen] = this.#times() ?? [undefined, false];
    if (least === undefined || least > REPEATS_MAX) return undefined;
    return (more) =>
      Array.from({ length: least + (isOpen ? more : 0) }, () => one(more && !isOpen ? more : 0)).join('');
  }

  /** How often at least, and whether any more often. */
  #times(): readonly [number, boolean] | undefined {
    if (this.#take('*')) return [0, true];
    if (this.#take('+')) return [1, true];
    if (this.#take('?')) return [0, false];
    const counted = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(this.#chars.slice(this.#at, this.#at + 12).join(''));
    if (counted === null) return this.#peek === '{' ? undefined : [1, false];
    this.#at += counted[0].length;
    return [Number(counted[1]), counted[2] === ','];
  }

  #one(): Make | undefined {
    const char = this.#chars[this.#at++] ?? '';
    if (char === '^' || char === '$') return () => '';
    if (char === '(') return this.#group();
    if (char === '[') return this.#class();
    if (char === '.') return () => 'a';
    if (char === '\\') return this.#escaped(this.#chars[this.#at++] ?? '');
    return /[*+?{}\])]/.test(char) ? undefined : () => char;
  }

  #group(): Make | undefined {
    if (this.#take('?') && !this.#take(':')) return undefined;
    const inner = this.choices();
    return this.#take(')') ? inner : undefined;
  }

  /** The first member of a class; of one that excludes, any letter or digit that it does not. */
  #class(): Make | undefined {
    const isExcluding = this.#take('^');
    const members: string[] = [];
    while (!this.isAtEnd && this.#peek !== ']') {
      const char = this.#chars[this.#at++] ?? '';
      const member = char === '\\' ? this.#escaped(this.#chars[this.#at++] ?? '')?.(0) : char;
      if (member === undefined) return undefined;
      members.push(member);
    }
    if (!this.#take(']') || members.length === 0) return undefined;
    const [first = ''] = members;
    if (!isExcluding) return () => first;
    // Ranges and the members that stand for many are not worked out.
    if (members.includes('-')) return undefined;
    const other = ['a', '0', ' ', '_', '-', 'Z', '9'].find((char) => !members.includes(char));
    return other === undefined ? undefined : () => other;
  }

  #escaped(char: string): Make | undefined {
    const standsFor = STANDS_FOR[char];
    if (standsFor !== undefined) return () => standsFor;
    return /[\w]/.test(char) || char === '' ? undefined : () => char;
  }

  get #peek(): string | undefined {
    return this.#chars[this.#at];
  }

  #take(char: string): boolean {
    if (this.#peek !== char) return false;
    this.#at++;
    return true;
  }
}

const STANDS_FOR: Readonly<Record<string, string | undefined>> = {
  d: '7',
  w: 'a',
  s: ' ',
  D: 'a',
  W: ' ',
  S: 'a',
  t: '\t',
  n: '\n',
  b: '',
};
