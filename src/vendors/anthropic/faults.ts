import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { isObject } from '../kit/json.ts';
import { textOf } from './fields.ts';

const FAULT_OF_TYPE: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ['invalid_request_error', 'client'],
  ['request_too_large', 'unfit'],
  ['authentication_error', 'account'],
  ['permission_error', 'account'],
  ['billing_error', 'account'],
  ['not_found_error', 'config'],
  ['rate_limit_error', 'rate'],
  ['conflict_error', 'server'],
  ['api_error', 'server'],
  ['overloaded_error', 'server'],
  ['timeout_error', 'timeout'],
]);

/** Codes inside an error that blame the account whatever its type and status: a full month, a closed organisation. */
const ACCOUNT_CODES: ReadonlySet<string> = new Set([
  'enforced_spend_limit_reached',
  'organization_on_hold',
  'cmek_key_disabled',
  'cmek_key_network_blocked',
]);

// Three things that are not the caller's mistake are told as invalid_request_error and differ in their words only.
// Only beginnings are compared: further on, a message may repeat what the caller wrote.
const ACCOUNT_WORDS = ['Your credit balance is too low', 'You have reached your specified'];
const POLICY_WORDS = 'Output blocked by content filtering policy';

/** The body tells all; the status adds nothing. */
export function faultOfRefusal(_status: number, body: JsonObject | undefined): Fault | undefined {
  const error = body?.error;
  return isObject(error) ? faultOf(error) : undefined;
}

/** Of the `error` object, which is the same in a refusal and in an event of a stream. */
export function faultOf(error: JsonObject): Fault | undefined {
  const code = isObject(error.details) ? textOf(error.details.error_code) : undefined;
  if (code !== undefined && ACCOUNT_CODES.has(code)) return 'account';
  if (error.type === 'invalid_request_error') {
    const message = textOf(error.message) ?? '';
    if (message.startsWith(POLICY_WORDS)) return 'policy';
    if (ACCOUNT_WORDS.some((words) => message.startsWith(words))) return 'account';
  }
  return FAULT_OF_TYPE.get(textOf(error.type) ?? '');
}
