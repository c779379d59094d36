import type { JsonObject, JsonValue } from '../../json.ts';
import { type Taken, unsupported } from '../../unsupported.ts';

/** Throws ApiError where a field is one that the model cannot take. */
export function refuse(field: string, isRefused: boolean, taken: Taken = 'another value'): void {
  if (isRefused) throw unsupported(field, taken);
}

/** Forms hold words for everything. */
const ABSENT: ReadonlySet<JsonValue | undefined> = new Set([undefined, null, false, 'false']);

/** A stream of events would come where something else is read. */
export function refuseStream({ stream }: JsonObject): void {
  refuse('stream', !ABSENT.has(stream));
}
