import type { JsonObject, JsonValue } from '../../json.ts';

/** Readers of JSON whose shape nobody has checked: what is absent or of another type is undefined, empty or zero. */

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectAt(value: JsonObject, key: string): JsonObject | undefined {
  const found = value[key];
  return isObject(found) ? found : undefined;
}

export function stringAt(value: JsonObject, key: string): string | undefined {
  const found = value[key];
  return typeof found === 'string' ? found : undefined;
}

export function listAt(value: JsonObject, key: string): readonly JsonValue[] {
  const found = value[key];
  return Array.isArray(found) ? found : [];
}

export function countAt(value: JsonObject, key: string): number {
  const found = value[key];
  return typeof found === 'number' && Number.isSafeInteger(found) && found > 0 ? found : 0;
}
