import type { Answer } from '../../emulator/scripted-server.ts';

/** What the vendor answers to a request that it does not take. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly validation_errors?: readonly string[];
}

export const ERRORS = {
  invalid: { status: 400, message: 'Invalid parameter(s)', validation_errors: ['audio_url: invalid'] },
  noModel: { status: 400, message: 'Invalid parameter(s)', validation_errors: ['model: unknown'] },
  badAudio: { status: 400, message: 'The file could not be read as audio' },
  badKey: { status: 401, message: 'gladia key is invalid' },
  noCredit: { status: 402, message: 'Payment required' },
  noCreditOfHours: { status: 403, message: 'Free tier maximum transcription hours exceeded' },
  noCreditThrottled: { status: 429, message: 'Your monthly usage limit has been reached' },
  noCreditInWords: { status: 400, message: 'You have exceeded your quota' },
  noPlan: { status: 403, message: 'Forbidden' },
  noTask: { status: 404, message: 'Not found' },
  tooLarge: { status: 413, message: 'File too large' },
  unprocessable: { status: 422, message: 'No audio in the file' },
  tooMany: { status: 429, message: 'Maximum number of concurrent jobs reached for this usage' },
  busy: { status: 429, message: 'Too many requests' },
  broken: { status: 500, message: 'Internal server error' },
  unavailable: { status: 503, message: 'Service unavailable' },
} as const satisfies Record<string, Refusal>;

export type ErrorName = keyof typeof ERRORS;

export function invalidField(name: string): Refusal {
  return { ...ERRORS.invalid, validation_errors: [`${name}: missing, unknown or invalid`] };
}

export function refusalAnswer({ status, ...body }: Refusal, marker: string): Answer {
  const document = { timestamp: '2026-11-18T00:00:00.000Z', request_id: marker, statusCode: status, ...body };
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(document) };
}
