import type { JsonObject, JsonValue } from '../../json.ts';
import type { Media } from '../vendor.ts';
import { isMedia, isMediaList } from './inline-media.ts';
import { isList, isObject } from './json.ts';
import type { WireFields } from './mapping.ts';
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

/** An input as a form, with each medium in it as a file; the rest as `toParts` writes it with repeated names. */
export function formWithMedia(input: WireFields): Part[] {
  return Object.entries(input).flatMap(([name, value]): Part[] => {
    if (isMedia(value)) return [filePart(name, value)];
    if (isMediaList(value)) return value.map((media) => filePart(name, media));
    return toParts({ [name]: value }, 'repeated');
  });
}

function filePart(name: string, file: Media): Part {
  return { name, fileName: `${name}.${extensionOf(file)}`, file };
}

/** Types whose second half is not what files of it end in. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'jpg'],
  ['audio/mpeg', 'mp3'],
]);

/** Servers go by the ending of a file's name. */
export function extensionOf({ mimeType }: Media): string {
  return EXTENSIONS.get(mimeType) ?? mimeType.slice(mimeType.indexOf('/') + 1);
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
