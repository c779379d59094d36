import type { JsonObject, JsonValue } from '../../json.ts';
import { countCharacters } from '../../text/index.ts';
import { type FieldSupport, unsupported } from '../../unsupported.ts';

export { invalid } from '../../unsupported.ts';

/** Throws ApiError where a field is one that the model cannot take. */
export function refuse(field: string, isRefused: boolean, support: FieldSupport = 'another value'): void {
  if (isRefused) throw unsupported(field, support);
}

export function refuseOutside(field: string, value: number | undefined, from: number, to: number): void {
  if (value !== undefined && !(value >= from && value <= to)) throw unsupported(field, { from, to });
}

/** By characters as a person counts them. */
export function refuseLength(field: string, text: string, min: number, max: number): void {
  const characters = countCharacters(text);
  if (characters < min) throw unsupported(field, { atLeast: min, unit: 'characters' });
  if (characters > max) throw unsupported(field, { atMost: max, unit: 'characters' });
}

/** Forms hold words for everything. */
const OFF: ReadonlySet<JsonValue | undefined> = new Set([undefined, null, false, 'false']);

/** For unmodelled keys that would bring something else than what is answered and charged for. */
export function refuseKeys(extra: JsonObject, names: readonly string[], support: FieldSupport = 'none'): void {
  for (const name of names) if (!OFF.has(extra[name])) throw unsupported(name, support);
}
