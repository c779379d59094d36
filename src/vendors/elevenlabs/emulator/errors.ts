import type { Answer } from '../../emulator/scripted-server.ts';

/** What the vendor answers to a request that it does not take, in one of its three shapes. */
export interface Refusal {
  readonly status: number;
  readonly detail: Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[];
}

/** Every row of the vendor's tables of errors, of today and of old. */
export const ERRORS = {
  invalid: today(400, 'validation_error', 'invalid_parameters'),
  textTooLong: today(400, 'validation_error', 'text_too_long'),
  emptyText: today(400, 'validation_error', 'empty_text'),
  badFormat: today(400, 'validation_error', 'invalid_output_format'),
  badSettings: today(400, 'validation_error', 'invalid_voice_settings'),
  badPlan: today(400, 'validation_error', 'invalid_composition_plan'),
  noTranscript: today(404, 'not_found', 'transcript_not_found'),
  noWebhook: today(400, 'validation_error', 'no_webhooks_configured'),
  otherModel: today(400, 'validation_error', 'unsupported_model'),
  badKey: today(401, 'authentication_error', 'invalid_api_key'),
  noKey: today(401, 'authentication_error', 'missing_api_key'),
  noCredit: today(402, 'payment_required', 'insufficient_credits'),
  noPlan: today(403, 'authorization_error', 'subscription_required'),
  otherVoice: today(403, 'authorization_error', 'voice_access_denied'),
  noVoice: today(404, 'not_found', 'voice_not_found'),
  noModel: today(404, 'not_found', 'model_not_found'),
  throttled: today(429, 'rate_limit_error', 'rate_limit_exceeded'),
  tooManyAtOnce: today(429, 'rate_limit_error', 'concurrent_limit_exceeded'),
  busy: today(429, 'rate_limit_error', 'system_busy'),
  newThrottle: today(429, 'rate_limit_error', 'a_name_of_tomorrow'),
  newModeration: today(422, 'validation_error', 'music_moderation_failed'),
  broken: today(500, 'internal_error', 'internal_error'),
  maintenance: today(503, 'service_unavailable', 'maintenance'),
  oldTextTooLong: old(400, 'max_character_limit_exceeded'),
  oldNoVoice: old(400, 'voice_not_found'),
  oldBadKey: old(401, 'invalid_api_key'),
  oldNoCredit: old(401, 'quota_exceeded'),
  oldUnusual: old(401, 'detected_unusual_activity'),
  oldNoPlan: old(403, 'only_for_creator+'),
  oldPolicy: old(403, 'content_against_policy'),
  oldBlocked: old(403, 'blocked_generation'),
  oldBadPrompt: old(422, 'bad_prompt'),
  oldThrottled: old(429, 'too_many_concurrent_requests'),
  oldThrottledForCredit: old(429, 'quota_exceeded'),
  unprocessable: unread('text', 'Field required', 'missing'),
} as const satisfies Record<string, Refusal>;

export type ErrorName = keyof typeof ERRORS;

export function today(status: number, type: string, code: string, param?: string): Refusal {
  const request_id = 'req-1';
  return { status, detail: { type, code, message: `${code}.`, status: code, request_id, ...(param && { param }) } };
}

function old(status: number, name: string): Refusal {
  return { status, detail: { status: name, message: `${name}.` } };
}

export function unread(field: string, msg: string, type = 'value_error'): Refusal {
  return { status: 422, detail: [{ loc: ['body', field], msg, type }] };
}

export function refusalAnswer({ status, detail }: Refusal, marker: string): Answer {
  const body = JSON.stringify({ detail }).replaceAll('."', ` (${marker})."`);
  return { status, headers: { 'content-type': 'application/json', 'request-id': marker }, body };
}
