import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { listAt, objectAt, stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/** Errors are `{"error": {"code", "message", "type", "param"}}`, with a code of words and dots. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  faults: {
    // A task tells in the same place why it failed, and some pictures of an answer may have come all the same.
    errorIn: (body) => (isOfTask(body) || hasResults(body) ? undefined : objectAt(body, 'error')),
    codesIn: (body) => [stringAt(objectAt(body, 'error'), 'code')],
    codes: {
      account: ['AuthenticationError', 'AccountOverdueError', 'AccessDenied', 'SetLimitExceeded'],
      config: ['ModelNotOpen'],
      unfit: ['InvalidParameter.OversizedImage', 'InvalidParameter.UnsupportedImageFormat'],
      rate: ['ServerOverloaded', 'QuotaExceeded', 'ModelLoadingError', 'InflightBatchsizeExceeded'],
      server: ['InternalServiceError'],
    },
    patterns: [
      [/SensitiveContent|RiskDetection/, 'policy'],
      [/Overdue/, 'account'],
      [/^InvalidEndpoint/, 'config'],
      [/RateLimitExceeded/, 'rate'],
      [/^(Missing|Invalid)Parameter/, 'client'],
    ],
    exception: faultInWords,
  },
});

/** A free allowance that is used up is told by the name of a throttle, and does not pass by itself. */
function faultInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status !== undefined && status >= 500) return undefined;
  const error = objectAt(body, 'error');
  const isUsedUp = stringAt(error, 'code') === 'QuotaExceeded' && /\b(free|trial)\b/i.test(messageOf(error));
  return isUsedUp || /overdue (balance|bill|payment)|insufficient balance/i.test(messageOf(error))
    ? 'account'
    : undefined;
}

function messageOf(error: JsonObject | undefined): string {
  return stringAt(error, 'message') ?? '';
}

function isOfTask(body: JsonObject): boolean {
  return stringAt(body, 'status') !== undefined;
}

function hasResults(body: JsonObject): boolean {
  return (listAt(body, 'data') ?? []).length > 0;
}
