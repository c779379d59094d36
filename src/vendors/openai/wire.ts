import type { JsonObject, JsonValue } from '../../json.ts';
import type { FaultRules } from '../kit/faults.ts';
import { isObject, objectAt, stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

export const faultRules = {
  errorIn,
  codesIn,
  codes: {
    policy: [
      ...['content_policy_violation', 'moderation_blocked', 'content_filter', 'invalid_prompt', 'refusal'],
      ...['misalignment_policy_violation', 'image_content_policy_violation', 'cyber_policy', 'bio_policy'],
    ],
    account: [
      ...['insufficient_quota', 'credit_balance_exhausted', 'billing_not_active', 'payment_required'],
      ...['billing_hard_limit_reached', 'usage_limit_exceeded', 'project_spend_limit_exceeded'],
      ...['organization_spend_limit_exceeded', 'organization_usage_limit_exceeded'],
      ...['invalid_api_key', 'authentication', 'authentication_error', 'permission_denied'],
    ],
    rate: ['rate_limit_exceeded', 'slow_down', 'flex_unavailable', 'provider_overloaded'],
    timeout: ['timeout', 'request_timeout'],
    config: ['model_not_found'],
    client: ['context_length_exceeded', 'max_tokens_exceeded', 'token_limit_exceeded', 'string_too_long'],
  },
  types: {
    client: ['invalid_request_error', 'BadRequestError'],
    rate: ['rate_limit_error'],
    account: ['authentication_error', 'permission_error'],
    config: ['not_found_error'],
  },
} satisfies FaultRules;

/** A server without a key is sent no authorization. Some answer 200 and then tell that it went wrong. */
export const wire = defineWire({
  headers: ({ apiKey }): Record<string, string> => (apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
  hasUntypedEvents: true,
  faults: faultRules,
});

/** In the whole answer, a frame or a choice. */
function errorIn(body: JsonObject): JsonValue | undefined {
  if (body.error) return body.error;
  return body.object === 'error' ? body : stringAt(objectAt(body, 'x_groq'), 'error');
}

/** The code tells more than the status: a 429 is a throttle or an unpaid bill. */
function codesIn(body: JsonObject): readonly (string | undefined)[] {
  const error = errorIn(body);
  if (!isObject(error)) return [stringAt(body, 'code')];
  const code = stringAt(objectAt(error, 'metadata'), 'error_type') ?? stringAt(error, 'code') ?? '';
  // The type of a throttle may say the same as that of an unpaid bill, so it counts only where there is no code.
  return [code === '' && error.type === 'insufficient_quota' ? error.type : code];
}
