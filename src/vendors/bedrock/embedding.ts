import { UpstreamError } from '../../errors.ts';
import type { JsonValue } from '../../json.ts';
import type { EmbeddingRequest } from '../../schemas/index.ts';
import { embedInBatches, inputUsage } from '../kit/embedding-batches.ts';
import { parseObject, readBytes, type Upstream } from '../kit/http.ts';
import { countAt, listAt, objectAt } from '../kit/json.ts';
import { refuse, refuseKeys } from '../kit/refusals.ts';
import { vectorOf } from '../kit/vectors.ts';
import type { WireValue } from '../kit/wire.ts';
import type { Embeddings, EmbeddingWork } from '../vendor.ts';
import { pathOf } from './chat.ts';
import { wire } from './wire.ts';

/** What the vector is for, in Cohere's words; it must be told one. */
const PURPOSES: Readonly<Record<string, string>> = { query: 'search_query', document: 'search_document' };

/** Titan takes one text at a time, Cohere many; an answer of sixteen is read at once. */
const COHERE_INPUTS = 16;

/** Titan's and Cohere's models. Behind a profile the family stands after the region, so it is looked for anywhere. */
export const embedding: EmbeddingWork = {
  check({ input, extra }, { model }) {
    refuse('input', input.kind === 'tokens', { oneOf: ['texts'] });
    const { input_type: purpose, ...others } = extra;
    const isKnown = isCohere(model) && purposeOf(purpose) !== undefined;
    refuse('input_type', purpose != null && !isKnown, isCohere(model) ? { oneOf: Object.keys(PURPOSES) } : 'none');
    refuseKeys(others, Object.keys(others));
  },

  embed(request, upstream) {
    const inputs = isCohere(upstream.model) ? COHERE_INPUTS : 1;
    return embedInBatches(request, { inputs }, (batch) => {
      const texts = batch.kind === 'texts' ? batch.texts : [];
      return isCohere(upstream.model)
        ? embedMany(texts, request, upstream)
        : embedOne(texts[0] ?? '', request, upstream);
    });
  },
};

function isCohere(model: string): boolean {
  return model.includes('cohere.');
}

async function embedOne(inputText: string, { dimensions }: EmbeddingRequest, upstream: Upstream): Promise<Embeddings> {
  const { answer } = await invoke({ inputText, dimensions }, upstream);
  const tokens = countAt(answer, 'inputTextTokenCount');
  return { vectors: [vectorOf(answer.embedding)], usage: tokens === undefined ? undefined : inputUsage(tokens) };
}

/** The count is told in a header only. A text that is too long is refused and not cut. */
async function embedMany(texts: readonly string[], request: EmbeddingRequest, upstream: Upstream): Promise<Embeddings> {
  const input_type = purposeOf(request.extra.input_type) ?? 'search_document';
  const json = { texts, input_type, truncate: 'NONE', output_dimension: request.dimensions };
  const { answer, tokens } = await invoke(json, upstream);
  const vectors = listAt(answer, 'embeddings') ?? listAt(objectAt(answer, 'embeddings'), 'float') ?? [];
  if (vectors.length !== texts.length) throw new UpstreamError('garbled', 'vectors that are not one for each input');
  return { vectors: vectors.map(vectorOf), usage: tokens === undefined ? undefined : inputUsage(tokens) };
}

async function invoke(json: WireValue, upstream: Upstream) {
  const reply = await wire.send(upstream, { path: pathOf(upstream, 'invoke'), body: { json } });
  const answer = parseObject((await readBytes(reply)).toString('utf8'));
  if (answer === undefined) throw new UpstreamError('garbled', 'the answer is not a JSON object');
  wire.faults.throwIfError(answer);
  const count = Number(reply.headers['x-amzn-bedrock-input-token-count']);
  return { answer, tokens: Number.isSafeInteger(count) && count >= 0 ? count : undefined };
}

function purposeOf(purpose: JsonValue | undefined): string | undefined {
  return typeof purpose === 'string' ? PURPOSES[purpose] : undefined;
}
