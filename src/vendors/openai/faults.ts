import { type Fault, UpstreamError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { UPSTREAM_ERROR_BYTES_MAX } from '../../limits.ts';
import { isObject, objectAt, stringAt } from '../kit/json.ts';

/** `error.code` tells more than the status: a 429 is a throttle or an unpaid bill. */
const FAULT_OF_CODE: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ...named('policy', ['content_policy_violation', 'moderation_blocked', 'content_filter', 'invalid_prompt', 'refusal']),
  ...named('policy', ['misalignment_policy_violation', 'image_content_policy_violation', 'cyber_policy', 'bio_policy']),
  ...named('account', ['insufficient_quota', 'credit_balance_exhausted', 'billing_not_active', 'payment_required']),
  ...named('account', ['billing_hard_limit_reached', 'usage_limit_exceeded', 'project_spend_limit_exceeded']),
  ...named('account', ['organization_spend_limit_exceeded', 'organization_usage_limit_exceeded']),
  ...named('account', ['invalid_api_key', 'authentication', 'authentication_error', 'permission_denied']),
  ...named('rate', ['rate_limit_exceeded', 'slow_down', 'flex_unavailable', 'provider_overloaded']),
  ...named('timeout', ['timeout', 'request_timeout']),
  ...named('config', ['model_not_found']),
  ...named('client', ['context_length_exceeded', 'max_tokens_exceeded', 'token_limit_exceeded', 'string_too_long']),
]);

/** Only for an error inside a 200, where no status speaks. */
const FAULT_OF_TYPE: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ['invalid_request_error', 'client'],
  ['BadRequestError', 'client'],
  ['rate_limit_error', 'rate'],
  ['authentication_error', 'account'],
  ['permission_error', 'account'],
  ['not_found_error', 'config'],
]);

const FAULT_OF_STATUS: ReadonlyMap<number, Fault> = new Map<number, Fault>([
  ...[400, 422].map((status) => [status, 'client'] as const),
  ...[413, 415].map((status) => [status, 'unfit'] as const),
  ...[401, 402, 403].map((status) => [status, 'account'] as const),
  [404, 'config'],
  [408, 'timeout'],
  // A conflict with another request of ours passes by itself.
  [409, 'server'],
  [429, 'rate'],
]);

/** Reads a refusal. Undefined leaves it to the status. */
export function faultOf(status: number, body: JsonObject | undefined): Fault | undefined {
  return faultOfError(errorIn(body), body) ?? FAULT_OF_STATUS.get(status);
}

/** Some servers answer 200 and then tell that it went wrong, in the whole answer, a frame or a choice. */
export function throwIfError(body: JsonObject): void {
  const error = errorIn(body);
  if (error !== undefined) throw toUpstreamError(error, body);
}

export function toUpstreamError(error: JsonValue, body?: JsonObject): UpstreamError {
  const fault = faultOfError(error, body) ?? faultWithin(error) ?? 'server';
  const text = JSON.stringify(error).slice(0, UPSTREAM_ERROR_BYTES_MAX);
  return new UpstreamError(fault, `an error inside a success: ${text}`, { isUncertain: false });
}

function errorIn(body: JsonObject | undefined): JsonValue | undefined {
  if (body === undefined) return undefined;
  if (body.error) return body.error;
  if (body.object === 'error') return body;
  return stringAt(objectAt(body, 'x_groq'), 'error');
}

function faultOfError(error: JsonValue | undefined, body: JsonObject | undefined): Fault | undefined {
  if (!isObject(error)) return FAULT_OF_CODE.get(stringAt(body, 'code') ?? '');
  const named = stringAt(objectAt(error, 'metadata'), 'error_type') ?? stringAt(error, 'code') ?? '';
  // The type of a throttle may say the same as that of an unpaid bill, so it counts only where there is no code.
  if (named === '' && error.type === 'insufficient_quota') return 'account';
  return FAULT_OF_CODE.get(named);
}

/** The code of an error inside a 200 may be the status that it would have had. */
function faultWithin(error: JsonValue): Fault | undefined {
  if (!isObject(error)) return undefined;
  return FAULT_OF_STATUS.get(Number(error.code)) ?? FAULT_OF_TYPE.get(stringAt(error, 'type') ?? '');
}

function named(fault: Fault, codes: readonly string[]): [string, Fault][] {
  return codes.map((code) => [code, fault]);
}
