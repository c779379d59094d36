import { UpstreamError } from '../../errors.ts';
import { isWrittenNumber, type JsonObject, type JsonValue } from '../../json.ts';

/** Readers of JSON that may hold anything anywhere: an upstream's answer, or what a caller gave to be passed on. */

/** A number that was kept as written looks like an object, and is none. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isWrittenNumber(value);
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function objectAt(from: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = from?.[key];
  return isObject(value) ? value : undefined;
}

export function listAt(from: JsonObject | undefined, key: string): readonly JsonValue[] | undefined {
  const value = from?.[key];
  return isList(value) ? value : undefined;
}

/** An absent or foreign value is an empty list. */
export function itemsAt(from: JsonObject | undefined, key: string): readonly JsonValue[] {
  return listAt(from, key) ?? [];
}

export function stringAt(from: JsonObject | undefined, key: string): string | undefined {
  const value = from?.[key];
  return typeof value === 'string' ? value : undefined;
}

/** What an answer cannot do without, such as the id of a task. */
export function requiredString(from: JsonObject | undefined, key: string): string {
  const value = stringAt(from, key);
  if (value === undefined || value === '') throw new UpstreamError('garbled', `an answer without "${key}"`);
  return value;
}

/** The objects of a list; all else in it is left out. */
export function objectsAt(from: JsonObject | undefined, key: string): JsonObject[] {
  return itemsAt(from, key).filter(isObject);
}

/** A whole number from zero up; undefined for all else. */
export function countAt(from: JsonObject | undefined, key: string): number | undefined {
  const value = from?.[key];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** A count that is absent is `otherwise`; one that is no count is NaN, and so is every sum with it. */
export function countOr(from: JsonObject | undefined, key: string, otherwise: number): number {
  const value = from?.[key];
  return value === undefined || value === null ? otherwise : (countAt(from, key) ?? Number.NaN);
}

/** A number from zero up, such as of seconds; undefined for all else. */
export function amountAt(from: JsonObject | undefined, key: string): number | undefined {
  const value = from?.[key];
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Without what is undefined, so that spreading it leaves what was there. */
export function defined<Fields extends Readonly<Record<string, JsonValue | undefined>>>(fields: Fields): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
