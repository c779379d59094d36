import type { JsonValue } from '../../json.ts';
import { unsupported } from '../../unsupported.ts';
import type { Media } from '../vendor.ts';
import { refuseLength } from './refusals.ts';

/** Part of a model's input. Media in it are still to be read. */
export type WireFields = Readonly<Record<string, JsonValue | Media | readonly Media[]>>;

/** JSON with media anywhere in it; what is undefined is left out. */
export type WireMedia =
  | JsonValue
  | Media
  | undefined
  | readonly WireMedia[]
  | {
      readonly [key: string]: WireMedia;
    };

type Plain = string | number | boolean;

/** How a model takes each public field of a request. A field that is not here is one that it cannot take. */
export type FieldMap<Request> = { readonly [Key in keyof Request]?: Mapping<Request, NonNullable<Request[Key]>> };
type Mapping<Request, Value> = (value: Value, field: string, request: Request) => WireFields;

/** Every field of a request that a model may be unable to take, with its public name. */
export type PublicNames<Request> = readonly (readonly [keyof Request, string])[];

/** Models that take the same. */
export interface ModelFamily<Request> {
  readonly takes: FieldMap<Request>;
  /** Sent whatever is asked for, unless one of the fields says otherwise. */
  readonly always?: WireFields;
}

/** The input for a request. Throws ApiError for what the family cannot take. */
export function mapFields<Request>(
  request: Request,
  family: ModelFamily<Request>,
  names: PublicNames<Request>,
): WireFields {
  const input: Record<string, WireFields[string]> = { ...family.always };
  const add = <Key extends keyof Request>(key: Key, field: string) => {
    const value = request[key];
    if (value === undefined || value === null || isEmptyList(value)) return;
    const map: FieldMap<Request>[Key] = family.takes[key];
    if (map !== undefined) Object.assign(input, map(value, field, request));
    // What cannot be switched on is off.
    else if (value !== false) throw unsupported(field);
  };
  for (const [key, field] of names) add(key, field);
  return input;
}

/** Throws ApiError for a field that is neither absent nor among those that are supported. */
export function refuseFields<Request>(
  request: Request,
  supported: readonly (keyof Request)[],
  names: PublicNames<Request>,
): void {
  for (const [key, field] of names) {
    const isGiven = !OFF.has(request[key]) && !isEmptyList(request[key]);
    if (isGiven && !supported.includes(key)) throw unsupported(field);
  }
}

const OFF: ReadonlySet<unknown> = new Set([undefined, null, false]);

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** By a model's name: the first row that fits it counts. */
export function firstMatch<Value>(rows: readonly (readonly [RegExp, Value])[], model: string): Value | undefined {
  return rows.find(([name]) => name.test(model))?.[1];
}

/** As it is, under the model's own name. */
export function as(name: string): (value: WireFields[string]) => WireFields {
  return (value) => ({ [name]: value });
}

/** One of a list only. */
export function single(name: string): (value: readonly Media[], field: string) => WireFields {
  return (media, field) => {
    const [first, second] = media;
    if (first === undefined || second !== undefined) throw unsupported(field, { atMost: 1 });
    return { [name]: first };
  };
}

export function several(name: string, most: number): (media: readonly Media[], field: string) => WireFields {
  return (media, field) => {
    if (media.length > most) throw unsupported(field, { atMost: most });
    return { [name]: media };
  };
}

/** Whole seconds in a text. */
export function secondsText(name: string, unit: '' | 's' = ''): (seconds: number, field: string) => WireFields {
  return (seconds, field) => {
    if (!Number.isInteger(seconds)) throw unsupported(field, { oneOf: ['whole seconds'] });
    return { [name]: `${seconds}${unit}` };
  };
}

/** A number within bounds. */
export function between(name: string, from: number, to: number): (value: number, field: string) => WireFields {
  return (value, field) => {
    if (!(value >= from && value <= to)) throw unsupported(field, { from, to });
    return { [name]: value };
  };
}

/** Whole seconds as a number. */
export function wholeSeconds(name: string, from: number, to: number): (seconds: number, field: string) => WireFields {
  return (seconds, field) => {
    if (!(seconds >= from && seconds <= to)) throw unsupported(field, { from, to });
    if (!Number.isInteger(seconds)) throw unsupported(field, { oneOf: ['whole seconds'] });
    return { [name]: seconds };
  };
}

export function oneOf(name: string, words: readonly string[]): (word: string, field: string) => WireFields {
  return (word, field) => {
    if (!words.includes(word)) throw unsupported(field, { oneOf: words });
    return { [name]: word };
  };
}

export function oneOfNumbers(name: string, numbers: readonly number[]): (value: number, field: string) => WireFields {
  return (value, field) => {
    if (!numbers.includes(value)) throw unsupported(field, { oneOf: numbers });
    return { [name]: value };
  };
}

/** The vendor's word for each of ours, whatever the case of that. */
export function wordFor(
  name: string,
  words: Readonly<Record<string, string>>,
): (word: string, field: string) => WireFields {
  return (word, field) => {
    const key = word.toLowerCase();
    const own = Object.hasOwn(words, key) ? words[key] : undefined;
    if (own === undefined) throw unsupported(field, { oneOf: Object.keys(words) });
    return { [name]: own };
  };
}

/** Nothing but `auto`, which leaves it to the model and so is not sent. */
export function autoOnly(word: string, field: string): WireFields {
  if (word !== 'auto') throw unsupported(field);
  return {};
}

/** Values of what the model makes anyway: nothing is sent for them. */
export function implied(...values: readonly Plain[]): (value: Plain, field: string) => WireFields {
  return (value, field) => {
    const given = typeof value === 'string' ? value.toLowerCase() : value;
    if (!values.includes(given)) throw unsupported(field, { oneOf: values.map(String) });
    return {};
  };
}

/** Whether a size or a shape is left to the model. */
export function isAutomatic(value: string | undefined): value is undefined | 'auto' | 'adaptive' {
  return value === undefined || value === 'auto' || value === 'adaptive';
}

/** A shape out of a list, or the model's own choice. */
export function shapeAmong(name: string, shapes: readonly string[]): (shape: string, field: string) => WireFields {
  return (shape, field) => (isAutomatic(shape) ? {} : oneOf(name, shapes)(shape, field));
}

/** A text by its length in characters. */
export function textWithin(name: string, min: number, max: number): (text: string, field: string) => WireFields {
  return (text, field) => {
    refuseLength(field, text, min, max);
    return { [name]: text };
  };
}
