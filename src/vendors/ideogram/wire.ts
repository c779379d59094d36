import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { objectAt, stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/** Errors have no codes: words under `error`, `detail` or `message`, or a document that only says that it is not safe. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ 'api-key': apiKey }),
  faults: {
    exception: faultInWords,
    // What does not fit the schema is a 400; a 422 is the safety check.
    statuses: { 422: 'policy' },
  },
});

const UNPAID =
  /(insufficient|not enough|no|out of|add|more) (api )?(credit|fund|balance)|payment is required|spending limit/i;
const UNSAFE = /safety check/i;
/** A bad request may quote what the caller wrote, so its words count only where they begin. */
const UNPAID_REQUEST = /^(insufficient|not enough|no|out of) (api )?(credit|fund|balance)|^payment is required/i;
const UNSAFE_REQUEST = /^(the )?(prompt|image)( or \w+( image)?)? failed (the )?safety check/i;

function faultInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status === undefined || status >= 500) return undefined;
  if (body.is_image_safe === false) return 'policy';
  const words = wordsOf(body);
  const isOfRequest = status === 400 || status === 422;
  const [unpaid, unsafe] = isOfRequest ? [UNPAID_REQUEST, UNSAFE_REQUEST] : [UNPAID, UNSAFE];
  if (unpaid.test(words)) return 'account';
  return unsafe.test(words) ? 'policy' : undefined;
}

function wordsOf(body: JsonObject): string {
  const nested = stringAt(objectAt(body, 'error'), 'message');
  return nested ?? stringAt(body, 'error') ?? stringAt(body, 'detail') ?? stringAt(body, 'message') ?? '';
}
