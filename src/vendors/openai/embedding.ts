import type { JsonObject } from '../../json.ts';
import type { EmbeddingInput, EmbeddingRequest } from '../../schemas/index.ts';
import { dialectOf } from '../kit/dialects.ts';
import { type BatchLimits, embedInBatches, inputUsage, vectorsIn } from '../kit/embedding-batches.ts';
import type { Upstream } from '../kit/http.ts';
import { countAt, defined, objectAt, objectsAt, stringAt } from '../kit/json.ts';
import { refuse, refuseKeys } from '../kit/refusals.ts';
import type { Call, Wire } from '../kit/wire.ts';
import type { EmbeddingWork, TokenUsage } from '../vendor.ts';
import { DIALECTS } from './terms.ts';
import { usageIn } from './usage.ts';

/** Vectors are asked for as base64, whatever the caller wants: less to send, and nothing is rounded on the way. */
export function embeddingOver(wire: Wire): EmbeddingWork {
  return {
    check({ input, extra }, upstream) {
      const { takesTokens } = waysOf(upstream);
      refuse('input', input.kind === 'tokens' && !takesTokens, { oneOf: ['texts'] });
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
  /** The names of the fields that it has others for. */
  readonly dimensions: string;
  readonly encoding: string;
  readonly takesUser: boolean;
  readonly takesTokens: boolean;
  readonly batch: BatchLimits;
  /** Its own words for `input_type`. */
  readonly purpose?: { readonly field: string; readonly words: Readonly<Record<string, string>> };
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

const WAYS: Readonly<Partial<Record<keyof typeof DIALECTS, Ways>>> = {
  mistral: { ...FOREIGN, dimensions: 'output_dimension' },
  voyage: { ...FOREIGN, dimensions: 'output_dimension', batch: { inputs: 128 } },
  jina: {
    ...FOREIGN,
    encoding: 'embedding_type',
    purpose: { field: 'task', words: { query: 'retrieval.query', document: 'retrieval.passage' } },
  },
  together: FOREIGN,
  openrouter: FOREIGN,
  fireworks: FOREIGN,
};

/** Hosts that are not known are taken at their word. */
function waysOf(upstream: Pick<Upstream, 'address' | 'dialect'>): Ways {
  const dialect = dialectOf(upstream, DIALECTS);
  return (dialect && WAYS[dialect]) ?? AUTHOR;
}

function callOf(request: EmbeddingRequest, batch: EmbeddingInput, { model }: Upstream, ways: Ways): Call {
  const { output_dtype: _dtype, embedding_type: _type, ...extra } = request.extra;
  const json = {
    ...withPurpose(extra, ways),
    model,
    input: batch.kind === 'texts' ? batch.texts : batch.lists,
    [ways.encoding]: 'base64',
    ...defined({ [ways.dimensions]: request.dimensions, user: ways.takesUser ? request.user : undefined }),
  };
  return { path: '/embeddings', body: { json } };
}

function withPurpose(extra: JsonObject, { purpose }: Ways): JsonObject {
  const word = purpose?.words[stringAt(extra, 'input_type') ?? ''];
  if (purpose === undefined || word === undefined) return extra;
  const { input_type: _type, ...others } = extra;
  return { [purpose.field]: word, ...others };
}

/** Some servers tell only the total. */
function usageOf(answer: JsonObject): TokenUsage | undefined {
  const total = countAt(objectAt(answer, 'usage'), 'total_tokens');
  return usageIn(answer) ?? (total === undefined ? undefined : inputUsage(total));
}
