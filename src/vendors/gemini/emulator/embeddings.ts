import { numbersOf } from '../../emulator/vectors.ts';

type Json = Record<string, unknown>;

/** How vectors come. */
export interface Vectors {
  /** In place of what the texts decide. */
  readonly numbers?: readonly (readonly number[])[];
  readonly usageMetadata?: Json;
}

const REQUESTS_MAX = 100;
const DIMENSIONS = 3072;
const FIELDS = ['model', 'content', 'taskType', 'title', 'outputDimensionality'];
const PURPOSES = [
  ...['RETRIEVAL_QUERY', 'RETRIEVAL_DOCUMENT', 'SEMANTIC_SIMILARITY', 'CLASSIFICATION', 'CLUSTERING'],
  ...['QUESTION_ANSWERING', 'FACT_VERIFICATION', 'CODE_RETRIEVAL_QUERY'],
];

/** What the vendor has against the body of a batch. */
export function batchFault({ requests, ...others }: Json, model: string): string | undefined {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`;
  if (!Array.isArray(requests) || requests.length === 0) return '* BatchEmbedContentsRequest.requests: required';
  if (requests.length > REQUESTS_MAX) return `at most ${REQUESTS_MAX} requests can be in one batch`;
  for (const request of requests) {
    const fault = requestFault(request, model);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function requestFault(request: Json, model: string): string | undefined {
  const unknown = Object.keys(request).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) return `Invalid JSON payload received. Unknown name "${unknown}" at 'requests'`;
  if (request.model !== `models/${model}`) return 'The model of each request must be that of the batch.';
  if (textIn(request) === '') return 'content must not be empty';
  const { taskType, outputDimensionality: length } = request;
  if (taskType !== undefined && !PURPOSES.some((purpose) => purpose === taskType)) return 'Invalid value at task_type.';
  const isLength =
    length === undefined || (Number.isInteger(length) && Number(length) > 0 && Number(length) <= DIMENSIONS);
  return isLength ? undefined : 'output_dimensionality is out of range.';
}

function textIn({ content }: Json): string {
  const { parts } = (content ?? {}) as { parts?: readonly { text?: unknown }[] };
  return (parts ?? []).map(({ text }) => (typeof text === 'string' ? text : '')).join('');
}

/** What a text becomes, so that a test can compare. */
export function vectorFor(text: string, dimensions = DIMENSIONS): number[] {
  return numbersOf(`gemini ${text}`, dimensions);
}

export function batchOf({ numbers, usageMetadata }: Vectors, { requests }: Json): Json {
  const values = (requests as Json[]).map((request) =>
    vectorFor(textIn(request), Number(request.outputDimensionality ?? DIMENSIONS)),
  );
  const embeddings = (numbers ?? values).map((vector) => ({ values: vector }));
  return { embeddings, ...(usageMetadata !== undefined && { usageMetadata }) };
}
