import type { Answer } from '../../emulator/scripted-server.ts';

/** What the vendor answers to a request that it does not take, in one of its three shapes. */
export interface Refusal {
  readonly status: number;
  readonly body: Readonly<Record<string, string>> | string;
}

/** Every row of the vendor's tables of errors. */
export const ERRORS = {
  badJson: currentError(400, 'INVALID_JSON', 'Invalid JSON submitted.'),
  badAudio: legacyError(400, 'Bad Request', 'Bad Request: failed to process audio: corrupt or unsupported data'),
  badOption: legacyError(400, 'INVALID_QUERY_PARAMETER', 'Failed to deserialize query parameters'),
  noModel: legacyError(400, 'Bad Request', 'Bad Request: No such model/language/tier combination found.'),
  noVoice: legacyError(400, 'Bad Request', 'Bad Request: No such model/version combination found.'),
  badKey: legacyError(401, 'INVALID_AUTH', 'Invalid credentials.'),
  noScope: legacyError(401, 'INSUFFICIENT_PERMISSIONS', 'User does not have sufficient permissions.'),
  noAccess: legacyError(403, 'INSUFFICIENT_PERMISSIONS', 'Project does not have access to the requested model.'),
  noCredit: legacyError(402, 'ASR_PAYMENT_REQUIRED', 'Project does not have enough credits for an ASR request.'),
  noCreditInWords: legacyError(400, 'Bad Request', 'Insufficient credits in this project.'),
  newPayment: currentError(400, 'LISTEN_PAYMENT_REQUIRED', 'Add a means of payment.'),
  noProject: currentError(404, 'PROJECT_NOT_FOUND', 'A project with the specified ID could not be found.'),
  tooLarge: legacyError(413, 'Payload Too Large', 'Input exceeds the maximum.'),
  brokenUpload: legacyError(422, 'ASR_UNPROCESSABLE_ENTITY', 'The upload was interrupted or too slow.'),
  busy: legacyError(429, 'TOO_MANY_REQUESTS', 'Too many requests. Please try again later.'),
  broken: currentError(500, 'INTERNAL_SERVER_ERROR', 'We are currently experiencing an internal server error.'),
  tooSlow: { status: 504, body: 'upstream request timeout' },
  text: { status: 400, body: 'Bad Request' },
} as const satisfies Record<string, Refusal>;

export type ErrorName = keyof typeof ERRORS;

export function legacyError(status: number, err_code: string, err_msg: string): Refusal {
  return { status, body: { err_code, err_msg, request_id: 'r-1' } };
}

function currentError(status: number, category: string, message: string): Refusal {
  return { status, body: { category, message, details: 'See the documentation.', request_id: 'r-1' } };
}

export function refusalAnswer({ status, body }: Refusal, marker: string): Answer {
  const text = typeof body === 'string' ? `${body} ${marker}` : JSON.stringify({ ...body, request_id: marker });
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  return { status, headers: { 'content-type': type, 'dg-error': marker, 'dg-request-id': marker }, body: text };
}
