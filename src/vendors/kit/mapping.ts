import type { JsonValue } from '../../json.ts';
import { unsupported } from '../../unsupported.ts';
import type { Media } from '../vendor.ts';

/** Part of a model's input. Media in it are still to be read. */
export type Fields = Readonly<Record<string, JsonValue | Media | readonly Media[]>>;

/** How a model takes each public field of a request. A field that is not here is one that it cannot take. */
export type Takes<Request> = { readonly [Key in keyof Request]?: Take<Request, NonNullable<Request[Key]>> };
type Take<Request, Value> = (value: Value, field: string, request: Request) => Fields;

/** Every field of a request that a model may be unable to take, with its public name. */
export type PublicNames<Request> = readonly (readonly [keyof Request, string])[];

export interface Family<Request> {
  readonly takes: Takes<Request>;
  /** Sent whatever is asked for, unless one of the fields says otherwise. */
  readonly always?: Fields;
}

/** The input for a request. Throws ApiError for what the family cannot take. */
export function inputOf<Request>(request: Request, family: Family<Request>, names: PublicNames<Request>): Fields {
  const input: Record<string, Fields[string]> = { ...family.always };
  const add = <Key extends keyof Request>(key: Key, field: string) => {
    const value = request[key];
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return;
    const take: Takes<Request>[Key] = family.takes[key];
    if (take !== undefined) Object.assign(input, take(value, field, request));
    // What cannot be switched on is off.
    else if (value !== false) throw unsupported(field);
  };
  for (const [key, field] of names) add(key, field);
  return input;
}

/** As it is, under the model's own name. */
export function as(name: string): (value: Fields[string]) => Fields {
  return (value) => ({ [name]: value });
}

/** One of a list only. */
export function single(name: string): (value: readonly Media[], field: string) => Fields {
  return (media, field) => {
    const [first, second] = media;
    if (first === undefined || second !== undefined) throw unsupported(field, { atMost: 1 });
    return { [name]: first };
  };
}

/** A length as the models write it: whole seconds in a text. */
export function secondsText(name: string, unit: '' | 's' = ''): (seconds: number, field: string) => Fields {
  return (seconds, field) => {
    if (!Number.isInteger(seconds)) throw unsupported(field, { oneOf: ['whole seconds'] });
    return { [name]: `${seconds}${unit}` };
  };
}

export function oneOf(name: string, words: readonly string[]): (word: string, field: string) => Fields {
  return (word, field) => {
    if (!words.includes(word)) throw unsupported(field, { oneOf: words });
    return { [name]: word };
  };
}
