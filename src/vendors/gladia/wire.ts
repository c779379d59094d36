import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { itemsAt, stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/** Errors are `{statusCode, message, request_id, validation_errors?}`: words, and no names. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ 'x-gladia-key': apiKey }),
  faults: { exception: faultInWords },
});

/** The words are the vendor's own. A limit of calls at a time is told with the same status as one of hours in a month. */
function faultInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status === undefined || status >= 500) return undefined;
  const words = stringAt(body, 'message') ?? '';
  if (/concurren|too many requests|rate limit/i.test(words)) return 'rate';
  if (OUT_OF_MONEY.test(words)) return 'account';
  // The route says which model it is, not the caller.
  const isOfModel = (error: unknown) => typeof error === 'string' && /^model\b/.test(error);
  return itemsAt(body, 'validation_errors').some(isOfModel) ? 'config' : undefined;
}

const OUT_OF_MONEY =
  /\bcredits?\b|payment|billing|balance|subscription|free tier|(hours?|usage|quota)\W.*(exceed|reach|exhaust)|exceed\w* .*(quota|usage)/i;
