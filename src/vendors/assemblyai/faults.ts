import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { stringAt } from '../kit/json.ts';
import type { Failed } from '../vendor.ts';

/** An unpaid bill is told as a bad request. Undefined leaves it to the status. */
export function faultOf(status: number, body: JsonObject | undefined): Fault | undefined {
  return status === 400 && /\bbalance\b/i.test(textOf(body)) ? 'account' : undefined;
}

/** A task that is unknown, or deleted, is told as a bad request too. */
export function isUnknown(status: number, body: JsonObject): boolean {
  return status === 404 || /not found/i.test(textOf(body));
}

/** The vendor tells its refusals in one line. */
export function textOf(body: JsonObject | undefined): string {
  return (body && stringAt(body, 'error')) ?? '';
}

/**
 * What the recording itself is to blame for. That it could not be fetched is not among it: the recording lies with the
 * vendor, which took it.
 */
const OF_THE_AUDIO = [
  /does not appear to contain audio/i,
  /unsupported|transcoding failed|corrupt|decode/i,
  /too short|too long|too large|duration/i,
  /no (spoken|audio|speech)/i,
  /language/i,
];

export function failedFor(detail: string): Failed {
  const isOfTheAudio = OF_THE_AUDIO.some((words) => words.test(detail));
  return { state: 'failed', code: isOfTheAudio ? 'upstream_rejected' : 'upstream_failed', detail };
}
