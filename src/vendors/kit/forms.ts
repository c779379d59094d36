import type { JsonObject, JsonValue } from '../../json.ts';
import { isList, isObject } from './json.ts';
import type { Part } from './multipart.ts';

type FormFields = Readonly<Record<string, JsonValue | undefined>>;
type ValuePart = Extract<Part, { readonly value: string }>;

/**
 * Fields as parts of a form; null is left out as well, and numbers are as they were written. What nests is written with
 * `a[b]` for objects and `a[]` for lists, or a list is its name over and over and what nests deeper is JSON.
 */
export function toParts(fields: FormFields, nesting: 'brackets' | 'repeated'): ValuePart[] {
  const write = nesting === 'brackets' ? inBrackets : repeated;
  return Object.entries(fields).flatMap(([name, value]) => write(name, value));
}

function inBrackets(name: string, value: JsonValue | undefined): ValuePart[] {
  if (value === undefined || value === null) return [];
  if (isList(value)) return value.flatMap((each) => inBrackets(`${name}[]`, each));
  if (isObject(value)) return Object.entries(value).flatMap(([key, each]) => inBrackets(`${name}[${key}]`, each));
  return [{ name, value: toText(value) }];
}

function repeated(name: string, value: JsonValue | undefined): ValuePart[] {
  if (value === undefined || value === null) return [];
  const isFlat = isList(value) && !value.some((each) => isList(each) || isObject(each));
  return (isFlat ? value : [value]).map((each) => ({ name, value: toText(each) }));
}

function toText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function withQuery(path: string, fields: FormFields): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== null) query.set(name, toText(value));
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** A form holds words for everything: for vendors whose fields have no text that is a number or a flag. */
export function withTypes(extra: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(extra).map(([name, value]) => [name, withType(value)]));
}

function withType(value: JsonValue): JsonValue {
  const isOther = typeof value === 'string' && /^(true|false|-?(0|[1-9]\d{0,8})(\.\d{1,9})?)$/.test(value);
  return isOther ? JSON.parse(value) : value;
}
