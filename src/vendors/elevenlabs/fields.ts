import type { JsonObject, JsonValue } from '../../json.ts';
import { unsupported } from '../../unsupported.ts';

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
