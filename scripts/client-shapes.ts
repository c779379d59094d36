// Which shapes of /openapi.json a client library knows, and by which names: the same in TypeScript (client-types.ts) and in
// Python (python-types.ts).
import type { ContractDocument, Schema } from './contract-types.ts';

type Named = readonly (readonly [name: string, schema: Schema])[];

export interface ClientShapes {
  /** Every code that a call may be refused with. */
  readonly codes: readonly string[];
  /** What calls take, with media by name. */
  readonly taken: Named;
  readonly answered: Named;
}

/** What each route takes, by the name that it has in the library. */
const REQUESTS: Readonly<Record<string, string>> = {
  ChatRequest: '/v1/chat/completions',
  EmbeddingRequest: '/v1/embeddings',
  EstimateRequest: '/v1/estimate',
  ImageEditRequest: '/v1/images/edits',
  ImageRequest: '/v1/images/generations',
  SoundRequest: '/v1/audio/speech',
  TranscriptionRequest: '/v1/audio/transcriptions',
  VideoRequest: '/v1/videos',
};

/** Routes that are refused with codes, beside those above. */
const OTHER_PATHS = [
  '/v1/audio/music',
  '/v1/credits',
  '/v1/files',
  '/v1/jobs',
  '/v1/jobs/{job_id}',
  '/v1/jobs/{job_id}/assets',
  '/v1/models',
];

const ANSWERS = [
  'Asset',
  'ChatCompletion',
  'CreditBalance',
  'Embeddings',
  'Estimate',
  'File',
  'Job',
  'Model',
  'Pricing',
  'Transcription',
];

/** What the library fills in itself, or knows more of than the contract says. */
const OWN_FIELDS: Readonly<Record<string, readonly string[]>> = {
  ChatRequest: ['messages', 'stream', 'stream_options'],
  EmbeddingRequest: ['encoding_format'],
  SoundRequest: ['output'],
  TranscriptionRequest: ['file', 'response_format', 'stream'],
};

/** Media in a request, which would otherwise be written out at each of its fields. */
const MEDIA_FIELD = 'mask';

export function clientShapesOf(document: ContractDocument): ClientShapes {
  const media = mediaSchema(document);
  const requests = Object.entries(REQUESTS).map(
    ([name, path]) => [name, takenOf(name, named(bodyOf(document, path), media))] as const,
  );
  const answered = ANSWERS.map((name) => [name, document.components.schemas[name] ?? {}] as const);
  return { codes: codesOf(document), taken: [...requests, ['MediaInput', media]], answered };
}

function bodyOf({ paths }: ContractDocument, path: string): Schema {
  const schema = paths[path]?.post?.requestBody?.content['application/json']?.schema;
  if (schema === undefined) throw new Error(`no JSON is taken at ${path}`);
  return schema;
}

function mediaSchema(document: ContractDocument): Schema {
  const field = bodyOf(document, '/v1/images/generations').properties?.[MEDIA_FIELD];
  const [media] = field?.anyOf ?? [];
  if (media === undefined) throw new Error(`"${MEDIA_FIELD}" takes no media`);
  return media;
}

/** The same schema with the media in it by name. */
function named(schema: Schema, media: Schema): Schema {
  const text = JSON.stringify(schema).replaceAll(JSON.stringify(media), JSON.stringify({ $ref: '/MediaInput' }));
  return JSON.parse(text);
}

/** One name for each field, and without null, which is the same as leaving it out. */
function takenOf(name: string, { properties = {}, required = [], ...schema }: Schema): Schema {
  const own = OWN_FIELDS[name] ?? [];
  const isTaken = ([field, { description = '' }]: [string, Schema]) =>
    !own.includes(field) && !description.startsWith('The same as');
  const kept = Object.entries(properties).filter(isTaken);
  return {
    ...schema,
    properties: Object.fromEntries(kept.map(([field, of]) => [field, withoutNull(of)])),
    required: required.filter((field) => !own.includes(field)),
  };
}

function withoutNull(schema: Schema): Schema {
  const { type, anyOf } = schema;
  if (Array.isArray(type)) return { ...schema, type: type.filter((one) => one !== 'null') };
  return anyOf === undefined
    ? schema
    : { ...schema, anyOf: anyOf.filter((choice) => choice.type !== 'null').map(withoutNull) };
}

function codesOf({ paths }: ContractDocument): string[] {
  const ofPaths = [...Object.values(REQUESTS), ...OTHER_PATHS].flatMap((path) => Object.values(paths[path] ?? {}));
  const codes = ofPaths.flatMap(({ responses }) =>
    Object.values(responses).flatMap((response) => response['x-codes'] ?? []),
  );
  return [...new Set(codes)].sort();
}
