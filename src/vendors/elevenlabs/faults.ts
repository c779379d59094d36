import type { Fault } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { isObject, stringAt } from '../kit/json.ts';

/** By the name that the vendor gives an error, of today or of old; its status alone would mislead. */
const FAULT_OF_NAME: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ...named('client', ['invalid_parameters', 'invalid_output_format', 'invalid_audio_format', 'invalid_voice_settings']),
  ...named('client', ['text_too_long', 'max_character_limit_exceeded', 'empty_text']),
  // The caller chose the voice, and is not to shut the route for others by it.
  ...named('client', ['voice_not_found', 'voice_does_not_exist', 'voice_id_does_not_exist', 'invalid_voice_id']),
  ['voice_access_denied', 'client'],
  ...named('account', ['invalid_api_key', 'missing_api_key', 'needs_authorization', 'missing_permissions']),
  // Out of credits, whether it comes as a refused login, an unpaid bill or a throttle.
  ...named('account', ['quota_exceeded', 'insufficient_credits', 'paid_plan_required', 'detected_unusual_activity']),
  ...named('config', ['model_not_found', 'unsupported_model']),
  ...named('rate', ['rate_limit_exceeded', 'concurrent_limit_exceeded', 'too_many_concurrent_requests', 'system_busy']),
  ...named('policy', ['content_against_policy', 'blocked_generation', 'bad_prompt', 'bad_composition_plan']),
  // The kinds, for a name that is not here.
  ['validation_error', 'client'],
  ['authentication_error', 'account'],
  ['authorization_error', 'account'],
  ['payment_required', 'account'],
  ['rate_limit_error', 'rate'],
]);

/** New names of this kind appear without notice. */
const IS_POLICY = /moderat|polic(y|ies)/;

const FAULT_OF_STATUS: ReadonlyMap<number, Fault> = new Map<number, Fault>([
  [408, 'timeout'],
  [409, 'server'],
  [425, 'server'],
]);

/** Reads a refusal in any of the vendor's shapes. Undefined leaves it to the status. */
export function faultOf(status: number, body: JsonObject | undefined): Fault | undefined {
  const faults = namesIn(body?.detail).map(
    (name) => FAULT_OF_NAME.get(name) ?? (IS_POLICY.test(name) ? 'policy' : undefined),
  );
  return faults.find((fault) => fault !== undefined) ?? FAULT_OF_STATUS.get(status);
}

/** From the most exact to the least. What failed validation is a list, and its status says enough. */
function namesIn(detail: JsonValue | undefined): string[] {
  if (!isObject(detail)) return [];
  return ['code', 'status', 'type'].flatMap((key) => stringAt(detail, key) ?? []);
}

function named(fault: Fault, names: readonly string[]): [string, Fault][] {
  return names.map((name) => [name, fault]);
}
