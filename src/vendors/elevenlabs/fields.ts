import { ApiError } from '../../errors.ts';
import { isWrittenNumber, type JsonObject, type JsonValue } from '../../json.ts';

/** Readers of an upstream's or a caller's JSON, which may hold anything anywhere. */

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isWrittenNumber(value);
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function stringAt(from: JsonObject, key: string): string | undefined {
  const value = from[key];
  return typeof value === 'string' ? value : undefined;
}

/** A number of seconds; undefined for all else. */
export function secondsAt(from: JsonObject, key: string): number | undefined {
  const value = from[key];
  return typeof value === 'number' && value >= 0 ? value : undefined;
}

/** As a form or a query writes it: a number stays as it was written. */
export function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Forms hold words for everything. */
const OFF: ReadonlySet<JsonValue | undefined> = new Set([undefined, null, false, 'false']);

/** Throws ApiError for an unmodelled key that would bring something else than what is answered and charged for. */
export function refuseKeys(extra: JsonObject, names: readonly string[]): void {
  for (const name of names) if (!OFF.has(extra[name])) throw unsupported(name);
}

export function unsupported(field: string, why = 'is not supported'): ApiError {
  return new ApiError('unsupported_parameter', { message: `"${field}" ${why} on this model.` });
}
