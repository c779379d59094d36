import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/** Errors are `{"message"}`, without a code: the status tells nearly all. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  faults: {
    exception: wordsFault,
    // Told of a token that is not taken: not known whether of the prompt or of the account, so another upstream is asked.
    statuses: { 498: 'unfit' },
  },
});

/** A trial that has ended is told as a throttle, and would be asked again and again. */
function wordsFault(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status !== 429) return undefined;
  return /trial key|billing|payment/i.test(stringAt(body, 'message') ?? '') ? 'account' : undefined;
}
