import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { isHttpUrl, withoutTrailingSlashes } from './addresses.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A value that must not be printed: it shows as a mark in logs, JSON and templates. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]';
  }
}

/** Reads the environment one setting at a time, and collects what is wrong with it. */
export class Settings {
  readonly problems: string[] = [];
  readonly #env: Environment;
  readonly #known = new Set<string>();

  constructor(env: Environment) {
    this.#env = env;
  }

  complain(name: string, problem: string): void {
    this.problems.push(`${name} ${problem}`);
  }

  optional(name: string): string | undefined {
    this.#known.add(name);
    const value = this.#env[name];
    return value === undefined || value === '' ? undefined : value;
  }

  text(name: string, fallback: string): string {
    const value = this.optional(name) ?? fallback;
    if (value.includes('\0')) this.complain(name, 'must not contain NUL');
    return value;
  }

  host(name: string, fallback: string): string {
    const value = this.optional(name) ?? fallback;
    if (isIP(value) !== 0 || /^[A-Za-z0-9._-]+$/.test(value)) return value;
    this.complain(name, `must be an address or a host name, not ${JSON.stringify(value)}`);
    return fallback;
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const text = this.optional(name);
    if (text === undefined) return fallback;
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    this.complain(name, `must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`);
    return fallback;
  }

  flag(name: string): boolean {
    return this.choice(name, '0', ['0', '1'] as const) === '1';
  }

  choice<Choice extends string>(name: string, fallback: Choice, choices: readonly Choice[]): Choice {
    const text = this.optional(name);
    const chosen = text === undefined ? fallback : choices.find((choice) => choice === text);
    if (chosen === undefined) this.complain(name, `must be one of ${choices.join(', ')}, not ${JSON.stringify(text)}`);
    return chosen ?? fallback;
  }

  list(name: string, expected: string, accepts: (item: string) => boolean): readonly string[] {
    const items = (this.optional(name) ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
    const bad = items.filter((item) => !accepts(item));
    if (bad.length > 0) this.complain(name, `must be a comma list of ${expected}; these are not: ${bad.join(', ')}`);
    return items;
  }

  origin(name: string, fallback: string): string {
    const value = withoutTrailingSlashes(this.optional(name) ?? fallback);
    if (!isHttpUrl(value)) this.complain(name, `must be an http or https address such as https://api.example.com`);
    return value;
  }

  header(name: string, fallback: string): string {
    const value = this.text(name, fallback).toLowerCase();
    if (!/^[a-z0-9-]{1,64}$/.test(value)) this.complain(name, 'must be a header name of letters, digits and dashes');
    return value;
  }

  /** NAME, or the first line of the file that NAME_FILE names. */
  secret(name: string, charsMin = 1): Secret | undefined {
    const direct = this.optional(name);
    const path = this.optional(`${name}_FILE`);
    if (direct !== undefined && path !== undefined) this.complain(name, `and ${name}_FILE are both set; keep one`);
    const value = direct ?? (path === undefined ? undefined : this.#firstLine(name, path));
    if (value === undefined) return undefined;
    if (value.length < charsMin) this.complain(name, `must have at least ${charsMin} characters`);
    return new Secret(value);
  }

  /** The first line of the file that NAME_FILE names: for what has no place in an environment. */
  secretFile(name: string, charsMin: number, charsMax: number): Secret | undefined {
    const path = this.optional(`${name}_FILE`);
    const value = path === undefined ? undefined : this.#firstLine(name, path);
    if (value === undefined) return undefined;
    if (value.length < charsMin || value.length > charsMax)
      this.complain(`${name}_FILE`, `must hold ${charsMin} to ${charsMax} characters in its first line`);
    return new Secret(value);
  }

  #firstLine(name: string, path: string): string | undefined {
    try {
      const line = readFileSync(path, 'utf8').split(/\r?\n/, 1)[0];
      if (line !== undefined && line !== '') return line;
      this.complain(`${name}_FILE`, 'names an empty file');
      return undefined;
    } catch {
      this.complain(`${name}_FILE`, `names a file that cannot be read: ${path}`);
      return undefined;
    }
  }

  refuseUnknown(): void {
    for (const name of Object.keys(this.#env)) {
      if (/^(TOLLGATE|OIDC)_/.test(name) && !this.#known.has(name)) this.complain(name, 'is not a setting of Tollgate');
    }
  }
}
