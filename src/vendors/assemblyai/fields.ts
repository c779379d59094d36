import type { JsonObject, JsonValue } from '../../json.ts';

/** Readers of an upstream's JSON, which may hold anything anywhere. */

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listAt(from: JsonObject, key: string): readonly JsonValue[] | undefined {
  const value = from[key];
  return isList(value) ? value : undefined;
}

export function stringAt(from: JsonObject, key: string): string | undefined {
  const value = from[key];
  return typeof value === 'string' ? value : undefined;
}

/** A number from zero up; undefined for all else. */
export function amountAt(from: JsonObject, key: string): number | undefined {
  const value = from[key];
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
