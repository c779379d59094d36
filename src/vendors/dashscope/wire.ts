import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { objectAt, stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/** Pictures, speech and transcripts that come with the answer. */
export const GENERATION = '/api/v1/services/aigc/multimodal-generation/generation';

/** Errors are `{"code", "message", "request_id"}`, some of them with status 200 and without `output`. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  faults: {
    errorIn,
    codesIn: (body) => [codeIn(body)],
    codes: {
      policy: ['DataInspectionFailed', 'data_inspection_failed', 'IPInfringementSuspect'],
      account: [
        // The key, then the balance: an unpaid bill is told as a bad request.
        ...['InvalidApiKey', 'invalid_api_key', 'AccessDenied', 'Arrearage'],
        ...['AllocationQuota.FreeTierOnly', 'CommodityNotPurchased', 'PrepaidBillOverdue', 'PostpaidBillOverdue'],
      ],
      config: ['ModelNotFound', 'model_not_found'],
      rate: [
        ...['Throttling', 'Throttling.RateQuota', 'Throttling.BurstRate', 'Throttling.AllocationQuota'],
        ...['insufficient_quota', 'limit_requests'],
      ],
      timeout: ['RequestTimeOut', 'InternalError.Timeout'],
      server: ['InternalError', 'InternalError.Algo', 'SystemError', 'ModelServiceFailed', 'ModelUnavailable'],
      // The third is of media that could not be read for moderation, and no verdict of it.
      client: ['InvalidParameter', 'InvalidURL', 'InvalidParameter.DataInspection', 'UnsupportedOperation'],
    },
    patterns: [
      [/Arrearage|BillOverdue|AccessDenied|Unpurchased|FreeTier/, 'account'],
      [/^Throttling/, 'rate'],
      [/^InternalError/, 'server'],
      [/^(InvalidParameter|BadRequest|InvalidFile|InvalidURL)/, 'client'],
    ],
    exception: faultInWords,
  },
});

function errorIn(body: JsonObject): JsonObject | undefined {
  const code = codeIn(body);
  return code === undefined ? undefined : { code, message: messageOf(body) };
}

/** The compatible format tells it one level deeper; a success may have it empty. */
function codeIn(body: JsonObject): string | undefined {
  return stringAt(body, 'code') || stringAt(objectAt(body, 'error'), 'code') || undefined;
}

function messageOf(body: JsonObject): string {
  return stringAt(body, 'message') ?? stringAt(objectAt(body, 'error'), 'message') ?? '';
}

/** A free allowance that is used up is told by the name of a throttle, and does not pass by itself. */
function faultInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status !== undefined && status >= 500) return undefined;
  const isUsedUp = /free (allocated )?(quota|tier)/i.test(messageOf(body));
  return isUsedUp || /overdue[- ](payment|bill)|account is in arrears/i.test(messageOf(body)) ? 'account' : undefined;
}
