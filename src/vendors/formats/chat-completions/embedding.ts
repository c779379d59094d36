import type { JsonObject } from '../../../json.ts';
import type { EmbeddingInput, EmbeddingRequest } from '../../../schemas/index.ts';
import { dialectOf } from '../../kit/dialects.ts';
import { type BatchLimits, embedInBatches, inputUsage, vectorsIn } from '../../kit/embedding-batches.ts';
import type { Upstream } from '../../kit/http.ts';
import { countAt, defined, objectAt, objectsAt, stringAt } from '../../kit/json.ts';
import { refuse, refuseKeys } from '../../kit/refusals.ts';
import type { Call, Wire } from '../../kit/wire.ts';
import type { EmbeddingWork, TokenUsage } from '../../vendor.ts';
import { DIALECTS } from './terms.ts';
import { usageIn } from './usage.ts';

/** Vectors are asked for as base64, whatever the caller wants: less to send, and nothing is rounded on the way. */
export function embeddingOver(wire: Wire): EmbeddingWork {
  return {
    check({ input, dimensions, extra }, upstream) {
      const ways = waysOf(upstream);
      refuse('input', input.kind === 'tokens' && !ways.takesTokens, { oneOf: ['texts'] });
      refuse('dimensions', dimensions !== undefined && ways.dimensions === undefined, 'none');
      refuse('input_type', extra.input_type != null && ways.purpose === 'none', 'none');
      // Numbers of another kind would not fit the answer.
      refuse('output_dtype', !isFloat(extra.output_dtype), { oneOf: ['float'] });
      refuse('embedding_type', !isFloat(extra.embedding_type), { oneOf: ['float'] });
      refuseKeys(extra, ['stream']);
    },

    embed(request, upstream) {
      const ways = waysOf(upstream);
      return embedInBatches(request, ways.batch, async (batch) => {
        const answer = await wire.jsonWithVectors(upstream, callOf(request, batch, upstream, ways), 'embedding');
        return { vectors: vectorsIn(answer, objectsAt(answer.json, 'data'), 'embedding'), usage: usageOf(answer.json) };
      });
    },
  };
}

function isFloat(type: unknown): boolean {
  return type === undefined || type === null || type === 'float';
}

/** How a server differs from the format's author. */
interface Ways {
  /** The names of the fields that it may have others for; undefined where it has none. */
  readonly dimensions: string | undefined;
  readonly encoding: string | undefined;
  readonly takesUser: boolean;
  readonly takesTokens: boolean;
  readonly batch: BatchLimits;
  /** Its own words for `input_type`, or that it has none; absent where it is passed on. */
  readonly purpose?: 'none' | { readonly field: string; readonly words: Readonly<Record<string, string>> };
  /** Sent unless a caller says otherwise: the author refuses a text that is too long, and cuts none. */
  readonly defaults?: JsonObject;
}

const AUTHOR: Ways = {
  dimensions: 'dimensions',
  encoding: 'encoding_format',
  takesUser: true,
  takesTokens: true,
  batch: { inputs: 2_048, tokens: 300_000 },
};
/** A vocabulary of its own, so lists of another's tokens would be nonsense to it. */
const FOREIGN: Ways = { ...AUTHOR, takesTokens: false, takesUser: false };

/** Servers that an operator runs take tokens of their model's own vocabulary. */
const WAYS: Readonly<Partial<Record<keyof typeof DIALECTS, Ways>>> = {
  mistral: { ...FOREIGN, dimensions: 'output_dimension', purpose: 'none' },
  voyage: { ...FOREIGN, dimensions: 'output_dimension', batch: { inputs: 128 }, defaults: { truncation: false } },
  jina: {
    ...FOREIGN,
    encoding: 'embedding_type',
    purpose: { field: 'task', words: { query: 'retrieval.query', document: 'retrieval.passage' } },
  },
  together: { ...FOREIGN, dimensions: undefined, encoding: undefined, purpose: 'none' },
  openrouter: { ...FOREIGN, takesUser: true },
  /** Answers numbers, and refuses to be asked for anything else. */
  dashscope: { ...FOREIGN, encoding: undefined, batch: { inputs: 10 }, purpose: 'none' },
  fireworks: { ...FOREIGN, purpose: 'none' },
  vllm: { ...AUTHOR, purpose: 'none' },
  ollama: { ...FOREIGN, purpose: 'none' },
  /** Overlooks a length that it is asked for. */
  'llama.cpp': { ...AUTHOR, dimensions: undefined, takesUser: false, purpose: 'none' },
  'lm-studio': { ...FOREIGN, dimensions: undefined, purpose: 'none' },
  /** As it starts without options. */
  tei: { ...AUTHOR, batch: { inputs: 32, tokens: 16_384 }, purpose: 'none' },
};

/** Hosts that are not known are taken at their word. */
function waysOf(upstream: Pick<Upstream, 'address' | 'dialect'>): Ways {
  const dialect = dialectOf(upstream, DIALECTS);
  return (dialect && WAYS[dialect]) ?? AUTHOR;
}

function callOf(request: EmbeddingRequest, batch: EmbeddingInput, { model }: Upstream, ways: Ways): Call {
  const { output_dtype: _dtype, embedding_type: _type, ...extra } = request.extra;
  const json = {
    ...ways.defaults,
    ...withPurpose(extra, ways),
    model,
    input: batch.kind === 'texts' ? batch.texts : batch.lists,
    ...(ways.encoding !== undefined && { [ways.encoding]: 'base64' }),
    ...(ways.dimensions !== undefined && defined({ [ways.dimensions]: request.dimensions })),
    ...defined({ user: ways.takesUser ? request.user : undefined }),
  };
  return { path: '/embeddings', body: { json } };
}

function withPurpose(extra: JsonObject, { purpose }: Ways): JsonObject {
  if (purpose === undefined) return extra;
  const { input_type: _type, ...others } = extra;
  if (purpose === 'none') return others;
  const word = purpose.words[stringAt(extra, 'input_type') ?? ''];
  if (word === undefined) return extra;
  return { [purpose.field]: word, ...others };
}

/** Some servers tell only the total. */
function usageOf(answer: JsonObject): TokenUsage | undefined {
  const total = countAt(objectAt(answer, 'usage'), 'total_tokens');
  return usageIn(answer) ?? (total === undefined ? undefined : inputUsage(total));
}
