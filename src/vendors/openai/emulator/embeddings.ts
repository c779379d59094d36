import { objectIn } from '../../emulator/json.ts';
import { base64Of, numbersOf } from '../../emulator/vectors.ts';
import {
  type Check,
  type IncomingCall,
  isFlag,
  isOneOf,
  isText,
  isWithin,
  type Refusal,
  refusalOfEnvelope,
  refusalOfFields,
  refusalOfModel,
  type Terms,
  wrong,
} from './checks.ts';

type Json = Record<string, unknown>;

/** How a server's vectors come. */
export interface Vectors {
  /** In place of what the inputs decide. */
  readonly numbers?: readonly (readonly number[])[];
  /** Numbers although base64 was asked for, as older servers give them. */
  readonly isFloat?: boolean;
  readonly isReversed?: boolean;
  /** How many numbers each has, whatever was asked for. */
  readonly dimensions?: number;
  /** Null: none. */
  readonly usage?: Json | null;
}

const INPUTS_MAX = 2048;
const INPUT_TOKENS_MAX = 8192;
const TOKENS_MAX = 300_000;

const isTokenList: Check = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((token) => Number.isInteger(token) && token >= 0);
const isFilledText: Check = (value) => isText(value) && value !== '';
const isTextInput: Check = (value) =>
  isFilledText(value) || (Array.isArray(value) && value.length > 0 && value.every(isFilledText));
const isInput: Check = (value) =>
  isTextInput(value) || isTokenList(value) || (Array.isArray(value) && value.length > 0 && value.every(isTokenList));
const isLength: Check = (value) => isWithin(1, 4096)(value) && Number.isInteger(value);

const isBatchOf =
  (most: number): Check =>
  (value) =>
    !Array.isArray(value) || value.length <= most;
const isEncoding = isOneOf('float', 'base64');
const TEXTS = { model: isText, input: isTextInput };
const TOKENS = { model: isText, input: isInput };

/** The fields of each server, with those that ask for base64 and for a length, where it has them. */
const SERVERS = {
  openai: {
    encoding: 'encoding_format',
    length: 'dimensions',
    fields: { ...TOKENS, encoding_format: isEncoding, dimensions: isLength, user: isText },
  },
  mistral: {
    encoding: 'encoding_format',
    length: 'output_dimension',
    fields: {
      ...TEXTS,
      encoding_format: isEncoding,
      output_dimension: isLength,
      output_dtype: isOneOf('float', 'int8'),
    },
  },
  voyage: {
    encoding: 'encoding_format',
    length: 'output_dimension',
    fields: {
      model: isText,
      input: (value: unknown) => isTextInput(value) && isBatchOf(128)(value),
      encoding_format: isOneOf('base64'),
      output_dimension: isLength,
      output_dtype: isOneOf('float', 'int8'),
      input_type: isOneOf('query', 'document'),
      truncation: isFlag,
    },
  },
  jina: {
    encoding: 'embedding_type',
    length: 'dimensions',
    fields: {
      ...TEXTS,
      embedding_type: isEncoding,
      dimensions: isLength,
      task: isOneOf('retrieval.query', 'retrieval.passage'),
    },
  },
  together: { encoding: '', length: '', fields: TEXTS },
  openrouter: {
    encoding: 'encoding_format',
    length: 'dimensions',
    fields: { ...TEXTS, encoding_format: isEncoding, dimensions: isLength, user: isText, input_type: isText },
  },
  dashscope: {
    encoding: '',
    length: 'dimensions',
    fields: {
      model: isText,
      input: (value: unknown) => isTextInput(value) && isBatchOf(10)(value),
      encoding_format: isOneOf('float'),
      dimensions: isLength,
    },
  },
  fireworks: {
    encoding: 'encoding_format',
    length: 'dimensions',
    fields: { ...TEXTS, encoding_format: isEncoding, dimensions: isLength },
  },
  vllm: {
    encoding: 'encoding_format',
    length: 'dimensions',
    fields: { ...TOKENS, encoding_format: isEncoding, dimensions: isLength, user: isText },
  },
  ollama: {
    encoding: 'encoding_format',
    length: 'dimensions',
    fields: { ...TEXTS, encoding_format: isEncoding, dimensions: isLength },
  },
  'llama.cpp': { encoding: 'encoding_format', length: '', fields: { ...TOKENS, encoding_format: isEncoding } },
  'lm-studio': { encoding: '', length: '', fields: { ...TEXTS, encoding_format: isEncoding } },
  tei: {
    encoding: 'encoding_format',
    length: 'dimensions',
    fields: {
      model: isText,
      input: (value: unknown) => isInput(value) && isBatchOf(32)(value),
      encoding_format: isEncoding,
      dimensions: isLength,
      user: isText,
    },
  },
} as const satisfies Record<string, { fields: Record<string, Check>; encoding: string; length: string }>;

export type EmbeddingServer = keyof typeof SERVERS;

/** The server's reading of texts to embed, or its refusal. */
export function readEmbedding(
  call: IncomingCall,
  terms: Terms,
  server: EmbeddingServer,
): { readonly fields: Json } | { readonly refusal: Refusal } {
  const outside = refusalOfEnvelope(call, terms);
  if (outside !== undefined) return { refusal: outside };
  const body = objectIn(call.bytes);
  if (body === undefined) return { refusal: wrong('We could not parse the JSON body of your request.') };
  if (!isText(body.model)) return { refusal: wrong('you must provide a model parameter') };
  const { fields } = SERVERS[server];
  const refusal =
    refusalOfModel(String(body.model), terms) ?? refusalOfFields(body, terms, fields) ?? refusalOfInput(body);
  return refusal === undefined ? { fields: body } : { refusal };
}

function refusalOfInput(body: Json): Refusal | undefined {
  if (body.input === undefined || body.input === null) return wrong("Missing required parameter: 'input'.", 'input');
  const inputs = inputsOf(body.input);
  if (inputs.length > INPUTS_MAX) return wrong(`Invalid 'input': at most ${INPUTS_MAX} items.`, 'input');
  const tokens = inputs.map(tokensOf);
  if (tokens.some((count) => count > INPUT_TOKENS_MAX)) return wrong('An input is too long.', 'input');
  if (tokens.reduce((sum, count) => sum + count, 0) > TOKENS_MAX) {
    return wrong(
      `Requested more than the maximum of ${TOKENS_MAX} tokens per request.`,
      'input',
      'max_tokens_per_request',
    );
  }
  const isFixed = body.model === 'text-embedding-ada-002' && body.dimensions !== undefined;
  return isFixed ? wrong('This model does not support specifying dimensions.', 'dimensions') : undefined;
}

type Input = string | readonly number[];

function inputsOf(input: unknown): readonly Input[] {
  return isText(input) || isTokenList(input) ? [input as Input] : (input as readonly Input[]);
}

/** A text has a token for every four letters; a list is as long as it is. */
function tokensOf(input: Input): number {
  return typeof input === 'string' ? Math.ceil(input.length / 4) : input.length;
}

const DIMENSIONS: Readonly<Record<string, number>> = {
  'text-embedding-3-small': 1536,
  'text-embedding-3-large': 3072,
  'text-embedding-ada-002': 1536,
};
const DIMENSIONS_OTHERWISE = 16;

/** What an input becomes, so that a test can compare. */
export function vectorFor(input: Input, dimensions: number): number[] {
  return numbersOf(JSON.stringify(input), dimensions);
}

export function embeddingsOf(script: Vectors, body: Json, server: EmbeddingServer, marker: string): Json {
  const inputs = inputsOf(body.input);
  const { encoding, length } = SERVERS[server];
  const asked = script.dimensions ?? body[length] ?? DIMENSIONS[String(body.model)] ?? DIMENSIONS_OTHERWISE;
  const isBase64 = body[encoding] === 'base64' && script.isFloat !== true;
  const vectors = script.numbers ?? inputs.map((input) => vectorFor(input, Number(asked)));
  const data = vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: isBase64 ? base64Of(vector) : vector,
  }));
  const total = inputs.reduce((sum, input) => sum + tokensOf(input), 0);
  const { usage = server === 'voyage' ? { total_tokens: total } : { prompt_tokens: total, total_tokens: total } } =
    script;
  return {
    object: 'list',
    data: script.isReversed === true ? data.reverse() : data,
    model: `${String(body.model)}-${marker}`,
    ...(usage !== null && { usage }),
  };
}
