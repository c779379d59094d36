import type { JsonObject, JsonValue } from '../../json.ts';

/** Readers of an upstream's JSON, which may hold anything anywhere. */

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function stringAt(from: JsonObject | undefined, key: string): string | undefined {
  const value = from?.[key];
  return typeof value === 'string' ? value : undefined;
}
