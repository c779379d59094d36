import type { JsonObject } from '../../json.ts';
import { failed } from '../kit/faults.ts';
import { stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';
import type { Failed } from '../vendor.ts';

/** This vendor's keys stand without a word for their kind, and it tells its refusals in one line of words. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: apiKey }),
  faults: {
    // An unpaid bill is told as a bad request.
    exception: (body, status) => (status === 400 && /\bbalance\b/i.test(errorText(body)) ? 'account' : undefined),
  },
});

export function errorText(body: JsonObject | undefined): string {
  return stringAt(body, 'error') ?? '';
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
  return failed(OF_THE_AUDIO.some((words) => words.test(detail)) ? 'client' : 'server', detail);
}
