type Json = Record<string, unknown>;

/** What the model says, in the vendor's own parts. */
export interface Answer {
  readonly text?: string;
  readonly parts?: readonly Json[];
  readonly finishReason?: string;
  readonly candidates?: readonly Json[];
  readonly usageMetadata?: Json;
  readonly promptFeedback?: Json;
}

export interface Refusal {
  readonly status: number;
  /** The vendor's word for it. */
  readonly name: string;
  readonly message: string;
  readonly reason?: string;
}

/** The vendor's table of errors. */
export const ERRORS = {
  invalid: { status: 400, name: 'INVALID_ARGUMENT', message: 'Request contains an invalid argument.' },
  'bad key': {
    status: 400,
    name: 'INVALID_ARGUMENT',
    message: 'API key not valid. Please pass a valid API key.',
    reason: 'API_KEY_INVALID',
  },
  precondition: { status: 400, name: 'FAILED_PRECONDITION', message: 'The request cannot be executed now.' },
  range: { status: 400, name: 'OUT_OF_RANGE', message: 'A value is out of range.' },
  unauthenticated: { status: 401, name: 'UNAUTHENTICATED', message: 'Invalid authentication credentials.' },
  'no credit': { status: 402, name: 'RESOURCE_EXHAUSTED', message: 'Your prepaid credit is used up.' },
  forbidden: { status: 403, name: 'PERMISSION_DENIED', message: 'The caller does not have permission.' },
  'not found': { status: 404, name: 'NOT_FOUND', message: 'The model is not found for API version v1beta.' },
  aborted: { status: 409, name: 'ABORTED', message: 'The operation was aborted.' },
  exists: { status: 409, name: 'ALREADY_EXISTS', message: 'The entity already exists.' },
  rate: { status: 429, name: 'RESOURCE_EXHAUSTED', message: 'You exceeded your current quota.' },
  cancelled: { status: 499, name: 'CANCELLED', message: 'The operation was cancelled.' },
  internal: { status: 500, name: 'INTERNAL', message: 'An internal error has occurred.' },
  unavailable: { status: 503, name: 'UNAVAILABLE', message: 'The model is overloaded.' },
  deadline: { status: 504, name: 'DEADLINE_EXCEEDED', message: 'The deadline expired.' },
} as const satisfies Record<string, Refusal>;

export function errorBody({ status, name, message, reason }: Refusal, marker: string): Json {
  const type = 'type.googleapis.com/google.rpc.ErrorInfo';
  const details = [{ '@type': type, reason: reason ?? name, domain: 'googleapis.com', metadata: { marker } }];
  return { error: { code: status, message: `${message} (${marker})`, status: name, details } };
}

/** What the vendor writes beside every answer and every frame. */
export function stamp(marker: string): Json {
  return { modelVersion: `version-${marker}`, responseId: `response-${marker}` };
}

export function documentOf(answer: Answer, marker: string): Json {
  const { text = 'Hello there.', parts = [{ text }], finishReason = 'STOP', promptFeedback } = answer;
  const usageMetadata = answer.usageMetadata ?? usageOf(7, 3);
  if (promptFeedback !== undefined) return { promptFeedback, usageMetadata, ...stamp(marker) };
  const candidates = answer.candidates ?? [candidateOf(parts, finishReason)];
  return { candidates, usageMetadata, ...stamp(marker) };
}

/** One frame for each part, and for each word of a text; the last tells why it is the last. */
export function framesOf(answer: Answer, marker: string): Json[] {
  const { text = 'Hello there.', parts = [{ text }], finishReason = 'STOP' } = answer;
  if (answer.promptFeedback !== undefined || answer.candidates !== undefined) return [documentOf(answer, marker)];
  const pieces = parts.flatMap((part) =>
    typeof part.text === 'string' ? part.text.split(/(?<= )/).map((word) => ({ ...part, text: word })) : [part],
  );
  return pieces.map((piece, index) => {
    const isLast = index === pieces.length - 1;
    const usageMetadata = isLast ? (answer.usageMetadata ?? usageOf(7, 3)) : usageOf(7, index + 1);
    return { candidates: [candidateOf([piece], isLast ? finishReason : undefined)], usageMetadata, ...stamp(marker) };
  });
}

function candidateOf(parts: readonly Json[], finishReason: string | undefined): Json {
  return { content: { parts, role: 'model' }, ...(finishReason === undefined ? {} : { finishReason }), index: 0 };
}

function usageOf(promptTokenCount: number, candidatesTokenCount: number): Json {
  return { promptTokenCount, candidatesTokenCount, totalTokenCount: promptTokenCount + candidatesTokenCount };
}
