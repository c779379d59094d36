import { isObject } from '../../emulator/json.ts';
/** What is wrong with a value; undefined where nothing is. */
export type Rule = (value: unknown) => string | undefined;
export type Fields = Readonly<Record<string, Rule>>;

export const flag: Rule = (value) => (typeof value === 'boolean' ? undefined : 'Expected boolean');

/** By UTF-16 units. */
export function text(max = Number.POSITIVE_INFINITY): Rule {
  return (value) => {
    if (typeof value !== 'string') return 'Expected string';
    if (value.length === 0) return 'String must contain at least 1 character(s)';
    return value.length > max ? `String must contain at most ${max} character(s)` : undefined;
  };
}

export function oneOf(...values: readonly (string | number)[]): Rule {
  return (value) => (values.some((each) => each === value) ? undefined : 'Invalid enum value');
}

export function between(from: number, to: number, isWhole = false): Rule {
  return (value) => {
    if (typeof value !== 'number' || (isWhole && !Number.isInteger(value))) return 'Expected number';
    return value < from || value > to ? `Number must be between ${from} and ${to}` : undefined;
  };
}

export const seed = between(0, 4_294_967_295, true);

const DATA_URI = /^data:(image|video|audio)\/[\w.+-]+;base64,[A-Za-z0-9+/]+={0,2}$/;
const DATA_URI_CHARS_MAX = 5 * 1024 * 1024;

/** An address with TLS, an upload, or a data URI of the right kind that is not too long. */
export function uri(kind: 'image' | 'video' | 'audio'): Rule {
  return (value) => {
    if (typeof value !== 'string') return 'Expected string';
    if (/^(https|runway):\/\/./.test(value)) return undefined;
    if (DATA_URI.exec(value)?.[1] !== kind) return `Invalid ${kind} URI`;
    return value.length > DATA_URI_CHARS_MAX ? 'Data URI is too large' : undefined;
  };
}

export function object(fields: Fields, required: readonly string[] = Object.keys(fields)): Rule {
  return (value) => {
    if (!isObject(value)) return 'Expected object';
    return problemsIn(value, fields, required)[0]?.message;
  };
}

export function list(rule: Rule, min: number, max: number): Rule {
  return (value) => {
    if (!Array.isArray(value)) return 'Expected array';
    if (value.length < min || value.length > max) return `Array must contain ${min} to ${max} element(s)`;
    return value.map(rule).find((problem) => problem !== undefined);
  };
}

export interface Problem {
  readonly path: readonly string[];
  readonly message: string;
}

export function problemsIn(
  body: Readonly<Record<string, unknown>>,
  fields: Fields,
  required: readonly string[],
): Problem[] {
  const missing = required.filter((name) => !(name in body)).map((name) => ({ path: [name], message: 'Required' }));
  const wrong = Object.entries(body).flatMap(([name, value]) => {
    const rule = Object.hasOwn(fields, name) ? fields[name] : () => `Unrecognized key(s) in object: '${name}'`;
    const message = rule?.(value);
    return message === undefined ? [] : [{ path: [name], message }];
  });
  return [...missing, ...wrong];
}
