import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { objectAt, stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/**
 * Errors are `{code, error, message}` of the vendor's own, `{detail: […]}` where validation failed, and what its gateway
 * says in front of it: `{message}`, or `{fault: {faultstring, detail: {errorcode}}}`.
 */
export const wire = defineWire({
  // The vendor's edge is said to refuse calls of a client without a name.
  headers: ({ apiKey }) => ({ 'x-hume-api-key': apiKey, 'user-agent': 'Tollgate' }),
  faults: {
    exception: faultInWords,
    codesIn: (body) => [stringAt(body, 'code'), stringAt(objectAt(objectAt(body, 'fault'), 'detail'), 'errorcode')],
    codes: {
      account: ['E0300', 'oauth.v2.InvalidApiKey', 'oauth.v2.FailedToResolveAPIKey'],
      rate: ['policies.ratelimit.QuotaViolation', 'policies.ratelimit.SpikeArrestViolation'],
    },
    patterns: [
      // Those of the account's credits.
      [/^E03\d\d$/, 'account'],
      [/moderation|policy_violation/i, 'policy'],
    ],
  },
});

/** Most of its errors are told in words. They are the vendor's own; it does not repeat the text. */
function faultInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status === undefined || status >= 500) return undefined;
  const words = ['error', 'message'].map((key) => stringAt(body, key) ?? '').join('\n');
  if (/\bcredits?\b|payment|billing|subscription|usage limit|monthly \w+ limit/i.test(words)) return 'account';
  if (/moderation|content policy|terms of use/i.test(words)) return 'policy';
  // The caller chose the voice, and is not to shut the route for others by it.
  return status === 404 && /\bvoice\b/i.test(words) ? 'client' : undefined;
}
