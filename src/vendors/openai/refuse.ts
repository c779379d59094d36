import { ApiError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';

/** Throws ApiError where a field is one that the model cannot take. */
export function refuse(field: string, isRefused: boolean, message = `This model cannot take that "${field}".`): void {
  if (isRefused) throw new ApiError('unsupported_parameter', { message });
}

/** Forms hold words for everything. */
const ABSENT: ReadonlySet<JsonValue | undefined> = new Set([undefined, null, false, 'false']);

/** A stream of events would come where something else is read. */
export function refuseStream({ stream }: JsonObject): void {
  refuse('stream', !ABSENT.has(stream));
}
