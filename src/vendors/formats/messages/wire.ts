import type { FaultRules } from '../../kit/faults.ts';
import { objectAt, stringAt } from '../../kit/json.ts';
import { defineWire } from '../../kit/wire.ts';

/**
 * Every server of this format takes it. The later 2026-10-21 answers alike and refuses more: sampling fields, documents
 * of the assistant, citations of the user. None of these is ever sent, so a request is good under both.
 */
const VERSION = '2023-06-01';

// Three things that are not the caller's mistake are told as invalid_request_error and differ in their words only.
// Only beginnings are compared: further on, a message may repeat what the caller wrote.
const ACCOUNT_WORDS = ['Your credit balance is too low', 'You have reached your specified'];
const POLICY_WORDS = 'Output blocked by content filtering policy';

export const faultRules = {
  errorIn: (body) => (body.type === 'error' ? (objectAt(body, 'error') ?? body) : undefined),
  codesIn: (body) => {
    const error = objectAt(body, 'error');
    return [stringAt(objectAt(error, 'details'), 'error_code'), stringAt(error, 'type')];
  },
  codes: {
    client: ['invalid_request_error'],
    unfit: ['request_too_large'],
    account: [
      ...['authentication_error', 'permission_error', 'billing_error'],
      // Whatever the type and the status: a full month, a closed organisation.
      ...['enforced_spend_limit_reached', 'organization_on_hold', 'cmek_key_disabled', 'cmek_key_network_blocked'],
    ],
    config: ['not_found_error'],
    rate: ['rate_limit_error'],
    server: ['conflict_error', 'api_error', 'overloaded_error'],
    timeout: ['timeout_error'],
  },
  exception: (body) => {
    const error = objectAt(body, 'error');
    if (error?.type !== 'invalid_request_error') return undefined;
    const message = stringAt(error, 'message') ?? '';
    if (message.startsWith(POLICY_WORDS)) return 'policy';
    return ACCOUNT_WORDS.some((words) => message.startsWith(words)) ? 'account' : undefined;
  },
} satisfies FaultRules;

/** The error object is the same in a refusal, in an answer and in an event of a stream; the status adds nothing. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ 'x-api-key': apiKey, 'anthropic-version': VERSION }),
  faults: faultRules,
});
