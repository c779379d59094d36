import { isWrittenNumber, type JsonObject, type JsonValue } from './json.ts';

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

/** The objects of a list; all else in it is left out. */
export function objectsAt(from: JsonObject | undefined, key: string): JsonObject[] {
  return itemsAt(from, key).filter(isObject);
}

/** A whole number from zero up; undefined for all else. */
export function countAt(from: JsonObject | undefined, key: string): number | undefined {
  const value = from?.[key];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
