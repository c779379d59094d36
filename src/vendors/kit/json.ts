import { UpstreamError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { countAt, stringAt } from '../../json-read.ts';

export { countAt, isList, isObject, itemsAt, listAt, objectAt, objectsAt, stringAt } from '../../json-read.ts';

/** Further readers of an upstream's answer. */

/** What an answer cannot do without, such as the id of a task. */
export function requiredString(from: JsonObject | undefined, key: string): string {
  const value = stringAt(from, key);
  if (value === undefined || value === '') throw new UpstreamError('garbled', `an answer without "${key}"`);
  return value;
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
