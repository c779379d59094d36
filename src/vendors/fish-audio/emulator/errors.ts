import type { Answer } from '../../emulator/scripted-server.ts';

/** What the vendor answers to a request that it does not take: words, words with a code, or a list. */
export interface Refusal {
  readonly status: number;
  readonly body: object | string;
}

/** Every row of the vendor's tables of errors. */
export const ERRORS = {
  invalid: words(400, 'Invalid parameters'),
  noVoice: words(400, 'Reference not found'),
  badKey: words(401, 'Invalid Token'),
  noCredit: words(402, 'Insufficient credits'),
  noCreditInWords: words(400, 'Not enough balance for this request'),
  noApiCredit: words(400, 'Insufficient API credit'),
  tooQuiet: words(400, 'Insufficient speech in the audio'),
  forbidden: words(403, 'Not permitted for this key'),
  lostVoice: words(404, 'Model not found'),
  noRoute: words(404, 'Not Found'),
  busy: words(429, 'Rate limit exceeded'),
  broken: words(500, 'Internal server error'),
  highLoad: words(503, 'High load, please try again later'),
  moderated: words(400, 'The text was refused by content moderation'),
  unprocessable: unread('text', 'Field required'),
  unreadable: { status: 400, body: 'Failed to parse the request body' },
  atTheEdge: { status: 413, body: '<html>413 Request Entity Too Large</html>' },
  badParameter: coded(400, 'invalid_parameter'),
  badAudio: coded(400, 'invalid_audio'),
  tooLong: coded(400, 'audio_too_long'),
  tooShort: coded(400, 'audio_too_short'),
  tooLarge: coded(413, 'request_too_large'),
  badType: coded(415, 'unsupported_media_type'),
  unavailable: coded(503, 'upstream_unavailable'),
  tooSlow: coded(504, 'upstream_timeout'),
} as const satisfies Record<string, Refusal>;

export type ErrorName = keyof typeof ERRORS;

function words(status: number, message: string): Refusal {
  return { status, body: { status, message } };
}

function coded(status: number, code: string): Refusal {
  return { status, body: { status, message: `The request failed: ${code}`, code, request_id: 'r-1' } };
}

export function unread(field: string, msg: string): Refusal {
  return { status: 422, body: [{ loc: ['body', field], type: 'value_error', msg, ctx: {}, in: 'body' }] };
}

export function refusalAnswer({ status, body }: Refusal, marker: string): Answer {
  const isText = typeof body === 'string';
  const headers = { 'content-type': isText ? 'text/plain' : 'application/json', 'x-request-id': marker };
  return { status, headers, body: isText ? body : JSON.stringify(body).replaceAll('r-1', marker) };
}
