import type { Answer } from '../../emulator/scripted-server.ts';

/** What the vendor answers to a request that it does not take: a code, or words alone. */
export interface Refusal {
  readonly status: number;
  readonly body: object | string;
}

export const ERRORS = {
  invalid: codedError(400, null, 'Invalid request', 'The request is invalid.'),
  badAudio: codedError(400, null, 'Invalid audio', 'The file could not be decoded.'),
  noVersion: codedError(400, null, 'Missing version', 'Set the Cartesia-Version header.'),
  badKey: codedError(401, 'unauthorized', 'Unauthorized', 'Invalid API key.'),
  noCredit: codedError(402, 'quota_exceeded', 'Quota exceeded', 'The credits of this month are used up.'),
  noCreditThrottled: codedError(429, 'quota_exceeded', 'Quota exceeded', 'The credits of this month are used up.'),
  noCreditInWords: codedError(400, null, 'Credit limit reached', 'Upgrade for more.'),
  noPlan: codedError(403, 'plan_upgrade_required', 'Forbidden', 'Not in this plan.'),
  noVoice: codedError(404, 'voice_not_found', 'Voice not found', 'There is no such voice.'),
  noVoiceInWords: codedError(404, null, 'Not found', 'Voice not found.'),
  noModel: codedError(404, 'model_not_found', 'Model not found', 'There is no such model.'),
  noRoute: codedError(404, null, 'Not found', 'There is nothing here.'),
  tooLarge: codedError(413, null, 'Payload too large', 'The file is too large.'),
  busy: codedError(429, 'concurrency_limited', 'Too many concurrent requests', 'You have too many requests.'),
  moderated: codedError(400, 'content_policy_violation', 'Refused', 'The text is not permitted.'),
  broken: codedError(500, null, 'Internal server error', 'Try again.'),
  unavailable: { status: 503, body: 'Service unavailable' },
  ofOld: { status: 400, body: 'Bad request: the voice is invalid' },
} as const satisfies Record<string, Refusal>;

export type ErrorName = keyof typeof ERRORS;

export function codedError(status: number, error_code: string | null, title: string, message: string): Refusal {
  return { status, body: { error_code, title, message, request_id: 'r-1' } };
}

export function refusalAnswer({ status, body }: Refusal, marker: string): Answer {
  const isText = typeof body === 'string';
  const text = isText ? body : JSON.stringify(body).replaceAll('r-1', marker);
  const headers = { 'content-type': isText ? 'text/plain' : 'application/json', 'x-request-id': marker };
  return { status, headers, body: text };
}
