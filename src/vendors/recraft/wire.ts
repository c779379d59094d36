import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { objectAt, stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/** Errors are `{"code", "message"}`; some programs read `{"error": {"message"}}` as well. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  faults: {
    codesIn: (body) => [stringAt(body, 'code'), stringAt(objectAt(body, 'error'), 'code')],
    // Unverified: the first is known from others' programs, the rest are its likely siblings.
    codes: {
      account: ['not_enough_credits', 'unauthorized', 'forbidden'],
      client: ['invalid_parameter', 'invalid_request'],
      rate: ['too_many_requests', 'rate_limit_exceeded'],
      policy: ['nsfw_content', 'content_policy_violation'],
    },
    patterns: [
      [/credit|balance|payment|billing|api_units/i, 'account'],
      [/nsfw|moderat|content_policy|safety/i, 'policy'],
    ],
    exception: faultInWords,
  },
});

const UNPAID = /(insufficient|not enough|no|out of|add|more) (api )?(credit|unit|fund|balance)/i;
const UNSAFE = /nsfw|moderation|content policy/i;
/** A bad request may quote what the caller wrote, so its words count only where they begin. */
const UNPAID_REQUEST = /^(insufficient|not enough|no|out of) (api )?(credit|unit|fund|balance)/i;
const UNSAFE_REQUEST = /^(the |your )?(prompt|image|request|content) (is|was|has been) (nsfw|rejected by moderation)/i;

/** For what has no code. */
function faultInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status === undefined || status >= 500 || stringAt(body, 'code') !== undefined) return undefined;
  const words =
    stringAt(objectAt(body, 'error'), 'message') ?? stringAt(body, 'error') ?? stringAt(body, 'message') ?? '';
  const isOfRequest = status === 400 || status === 422;
  const [unpaid, unsafe] = isOfRequest ? [UNPAID_REQUEST, UNSAFE_REQUEST] : [UNPAID, UNSAFE];
  if (unpaid.test(words)) return 'account';
  return unsafe.test(words) ? 'policy' : undefined;
}
