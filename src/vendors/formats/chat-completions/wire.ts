import type { Fault } from '../../../errors.ts';
import type { JsonObject, JsonValue } from '../../../json.ts';
import type { FaultRules } from '../../kit/faults.ts';
import { isObject, objectAt, stringAt } from '../../kit/json.ts';
import { defineWire } from '../../kit/wire.ts';

export const faultRules = {
  errorIn,
  codesIn,
  exception: wordsFault,
  codes: {
    policy: [
      ...['content_policy_violation', 'moderation_blocked', 'content_filter', 'invalid_prompt', 'refusal'],
      ...['data_inspection_failed', 'DataInspectionFailed'],
      ...['misalignment_policy_violation', 'image_content_policy_violation', 'cyber_policy', 'bio_policy'],
    ],
    account: [
      ...['insufficient_quota', 'credit_balance_exhausted', 'billing_not_active', 'payment_required'],
      ...['billing_hard_limit_reached', 'usage_limit_exceeded', 'project_spend_limit_exceeded'],
      ...['organization_spend_limit_exceeded', 'organization_usage_limit_exceeded'],
      ...['invalid_api_key', 'authentication', 'authentication_error', 'permission_denied'],
      ...['blocked_api_access', 'organization_restricted', 'AUTHZ_INSUFFICIENT_BALANCE', 'credit_limit'],
      ...['Arrearage', 'AllocationQuota.FreeTierOnly'],
    ],
    rate: ['rate_limit_exceeded', 'slow_down', 'flex_unavailable', 'provider_overloaded'],
    timeout: ['timeout', 'request_timeout'],
    config: ['model_not_found', 'invalid_model', 'not_supported_error', 'INPUT_MODEL_NOT_FOUND'],
    // The model wrote what the server cannot read: another may do better.
    unfit: ['tool_use_failed', 'json_validate_failed'],
    client: ['context_length_exceeded', 'max_tokens_exceeded', 'token_limit_exceeded', 'string_too_long'],
  },
  types: {
    client: ['invalid_request_error', 'BadRequestError'],
    rate: ['rate_limit_error'],
    account: ['authentication_error', 'permission_error'],
    config: ['not_found_error'],
  },
  /** A model that failed behind its server, and a tier that is full for now. */
  statuses: { 424: 'server', 498: 'rate' },
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

/** Types that say as much as a code, whatever the code. */
const TELLING_TYPES: ReadonlySet<JsonValue | undefined> = new Set([
  'invalid_model',
  'not_supported_error',
  'credit_limit',
]);

/** The code tells more than the status: a 429 is a throttle or an unpaid bill. */
function codesIn(body: JsonObject): readonly (string | undefined)[] {
  const error = errorIn(body);
  if (!isObject(error)) return [stringAt(body, 'code')];
  const code = stringAt(objectAt(error, 'metadata'), 'error_type') ?? stringAt(error, 'code') ?? '';
  const type = stringAt(error, 'type');
  // The type of a throttle may say the same as that of an unpaid bill, so it counts only where there is no code.
  if (TELLING_TYPES.has(type)) return [type, code];
  return [code === '' && type === 'insufficient_quota' ? type : code];
}

/** The operator's account, told in words alone under the status of another fault, and a refused prompt as a missing right. */
function wordsFault(body: JsonObject, status: number | undefined): Fault | undefined {
  const error = errorIn(body);
  const message = isObject(error) ? (stringAt(error, 'message') ?? '') : typeof error === 'string' ? error : '';
  // A bad request may quote the prompt, so its words count only where they begin.
  if (status === 400) return /^Incorrect API key provided/.test(message) ? 'account' : undefined;
  if (status === 403 || status === undefined) {
    const metadata = isObject(error) ? objectAt(error, 'metadata') : undefined;
    if (metadata?.flagged_input !== undefined || /^Content violates usage guidelines/.test(message)) return 'policy';
  }
  const isUnpaid = /spending limit|used all available credits|account .*suspended/i.test(message);
  return isUnpaid && (status === 429 || status === 412) ? 'account' : undefined;
}
