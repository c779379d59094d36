import type { Answer } from '../../emulator/scripted-server.ts';

/** What the vendor answers to a request that it does not take, itself or by its gateway. */
export interface Refusal {
  readonly status: number;
  readonly body: object | string;
}

export const ERRORS = {
  invalid: ownError(400, 'E0101', 'Bad request', 'The request is invalid.'),
  needsVoice: ownError(400, 'E0101', 'Bad request', 'Version 2 must be given a voice.'),
  noVoice: ownError(404, 'E0102', 'Not found', 'There is no such voice.'),
  noRoute: { status: 404, body: { message: 'no Route matched with those values' } },
  badKey: { status: 401, body: gatewayFault('Invalid ApiKey', 'oauth.v2.InvalidApiKey') },
  badKeyInWords: { status: 401, body: { message: 'Invalid authentication credentials' } },
  atTheEdge: { status: 403, body: 'error code: 1010' },
  noCredit: ownError(402, 'E0300', 'Payment required', 'Purchase more credits.'),
  noCreditThrottled: ownError(429, 'E0300', 'Exhausted', 'You have exhausted what was granted.'),
  noCreditInWords: { status: 400, body: { message: 'Your monthly usage limit has been reached.' } },
  unpaid: ownError(403, 'E0310', 'Forbidden', 'Access is paused.'),
  busy: { status: 429, body: { message: 'API rate limit exceeded' } },
  throttled: { status: 429, body: gatewayFault('Rate limit', 'policies.ratelimit.QuotaViolation') },
  moderated: ownError(400, 'moderation_failed', 'Bad request', 'The text is not permitted.'),
  unprocessable: validationError('utterances', 'Field required'),
  tooLarge: { status: 413, body: 'Payload too large' },
  broken: ownError(500, 'E0500', 'Internal server error', 'Try again.'),
  unavailable: { status: 503, body: { message: 'The upstream server is down' } },
} as const satisfies Record<string, Refusal>;

export type ErrorName = keyof typeof ERRORS;

function ownError(status: number, code: string, error: string, message: string): Refusal {
  return { status, body: { code, error, message } };
}

function gatewayFault(faultstring: string, errorcode: string): object {
  return { fault: { faultstring, detail: { errorcode } } };
}

export function validationError(field: string, msg: string): Refusal {
  return { status: 422, body: { detail: [{ loc: ['body', field], msg, type: 'value_error' }] } };
}

export function refusalAnswer({ status, body }: Refusal, marker: string): Answer {
  const isText = typeof body === 'string';
  const headers = { 'content-type': isText ? 'text/plain' : 'application/json', 'x-request-id': marker };
  return { status, headers, body: isText ? body : JSON.stringify(body) };
}
