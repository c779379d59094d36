import type { Answer } from '../../emulator/scripted-server.ts';

/** What the vendor answers to a request that it does not take: words, words with a code, or a list. */
export interface Refusal {
  readonly status: number;
  readonly body: object | string;
}

/** Every row of the vendor's tables of errors. */
export const ERRORS = {
  invalid: plainError(400, 'Invalid parameters'),
  noVoice: plainError(400, 'Reference not found'),
  badKey: plainError(401, 'Invalid Token'),
  noCredit: plainError(402, 'Insufficient credits'),
  noCreditInWords: plainError(400, 'Not enough balance for this request'),
  noApiCredit: plainError(400, 'Insufficient API credit'),
  tooQuiet: plainError(400, 'Insufficient speech in the audio'),
  forbidden: plainError(403, 'Not permitted for this key'),
  lostVoice: plainError(404, 'Model not found'),
  noRoute: plainError(404, 'Not Found'),
  busy: plainError(429, 'Rate limit exceeded'),
  broken: plainError(500, 'Internal server error'),
  highLoad: plainError(503, 'High load, please try again later'),
  moderated: plainError(400, 'The text was refused by content moderation'),
  unprocessable: validationError('text', 'Field required'),
  unreadable: { status: 400, body: 'Failed to parse the request body' },
  atTheEdge: { status: 413, body: '<html>413 Request Entity Too Large</html>' },
  badParameter: codedError(400, 'invalid_parameter'),
  badAudio: codedError(400, 'invalid_audio'),
  tooLong: codedError(400, 'audio_too_long'),
  tooShort: codedError(400, 'audio_too_short'),
  tooLarge: codedError(413, 'request_too_large'),
  badType: codedError(415, 'unsupported_media_type'),
  unavailable: codedError(503, 'upstream_unavailable'),
  tooSlow: codedError(504, 'upstream_timeout'),
} as const satisfies Record<string, Refusal>;

export type ErrorName = keyof typeof ERRORS;

function plainError(status: number, message: string): Refusal {
  return { status, body: { status, message } };
}

function codedError(status: number, code: string): Refusal {
  return { status, body: { status, message: `The request failed: ${code}`, code, request_id: 'r-1' } };
}

export function validationError(field: string, msg: string): Refusal {
  return { status: 422, body: [{ loc: ['body', field], type: 'value_error', msg, ctx: {}, in: 'body' }] };
}

export function refusalAnswer({ status, body }: Refusal, marker: string): Answer {
  const isText = typeof body === 'string';
  const headers = { 'content-type': isText ? 'text/plain' : 'application/json', 'x-request-id': marker };
  return { status, headers, body: isText ? body : JSON.stringify(body).replaceAll('r-1', marker) };
}
