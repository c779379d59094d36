import { type ErrorCode, type ErrorEnvelope, errorStatus } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';

const TYPE_OF_STATUS: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [408, 'timeout_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [499, 'timeout_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
]);

/** The same refusal as this format tells it, with our code and field beside what its clients know. */
export function messagesError({ error }: ErrorEnvelope, requestId: string): JsonObject {
  const { message, code, param } = error;
  return { type: 'error', error: { type: typeOf(code), message, code, param }, request_id: requestId };
}

function typeOf(code: ErrorCode): string {
  const status = errorStatus(code);
  return TYPE_OF_STATUS.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}
