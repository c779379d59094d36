import type { JsonValue } from '../../json.ts';
import type { EmbeddingRequest } from '../../schemas/index.ts';
import { embedInBatches, inputUsage, vectorsIn } from '../kit/embedding-batches.ts';
import type { Upstream } from '../kit/http.ts';
import { countAt, objectAt, objectsAt } from '../kit/json.ts';
import { refuse, refuseKeys } from '../kit/refusals.ts';
import type { Embeddings, EmbeddingWork } from '../vendor.ts';
import { wire } from './wire.ts';

/** What the vector is for, in the vendor's words. */
const PURPOSES: Readonly<Record<string, string>> = { query: 'RETRIEVAL_QUERY', document: 'RETRIEVAL_DOCUMENT' };

/** Older models take many texts at once; the newest ones have an action of their own and take one. */
const PREDICTING = /^(text-(multilingual-)?embedding|gemini-embedding-001)/;

/** A text that is too long is refused and not cut: the vendor's own default would cut it silently. */
export const embedding: EmbeddingWork = {
  check({ input, extra }) {
    refuse('input', input.kind === 'tokens', { oneOf: ['texts'] });
    const { input_type: purpose, ...others } = extra;
    refuse('input_type', purposeOf(purpose) === undefined && purpose != null, { oneOf: Object.keys(PURPOSES) });
    refuseKeys(others, Object.keys(others));
  },

  embed(request, upstream) {
    const isPredicting = PREDICTING.test(upstream.model);
    const inputs = isPredicting && upstream.model !== 'gemini-embedding-001' ? 250 : 1;
    return embedInBatches(request, { inputs, tokens: 20_000 }, (batch) => {
      const texts = batch.kind === 'texts' ? batch.texts : [];
      return isPredicting ? predict(texts, request, upstream) : embedOne(texts[0] ?? '', request, upstream);
    });
  },
};

async function predict(texts: readonly string[], request: EmbeddingRequest, upstream: Upstream): Promise<Embeddings> {
  const task_type = purposeOf(request.extra.input_type);
  const json = {
    instances: texts.map((content) => ({ content, task_type })),
    parameters: { outputDimensionality: request.dimensions, autoTruncate: false },
  };
  const call = { path: pathOf(upstream, 'predict'), body: { json } };
  const answer = await wire.jsonWithVectors(upstream, call, 'values');
  const items = objectsAt(answer.json, 'predictions').map((prediction) => objectAt(prediction, 'embeddings') ?? {});
  const counts = items.map((item) => countAt(objectAt(item, 'statistics'), 'token_count'));
  const isCounted = counts.every((count) => count !== undefined);
  const tokens = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  return { vectors: vectorsIn(answer, items, 'values'), usage: isCounted ? inputUsage(tokens) : undefined };
}

async function embedOne(text: string, request: EmbeddingRequest, upstream: Upstream): Promise<Embeddings> {
  const json = {
    content: { parts: [{ text }] },
    embedContentConfig: {
      taskType: purposeOf(request.extra.input_type),
      outputDimensionality: request.dimensions,
      autoTruncate: false,
    },
  };
  const call = { path: pathOf(upstream, 'embedContent'), body: { json } };
  const answer = await wire.jsonWithVectors(upstream, call, 'values');
  const tokens = countAt(objectAt(answer.json, 'usageMetadata'), 'promptTokenCount');
  const items = [objectAt(answer.json, 'embedding') ?? {}];
  return { vectors: vectorsIn(answer, items, 'values'), usage: tokens === undefined ? undefined : inputUsage(tokens) };
}

function pathOf({ model }: Upstream, action: string): string {
  return `/publishers/google/models/${encodeURIComponent(model)}:${action}`;
}

function purposeOf(purpose: JsonValue | undefined): string | undefined {
  return typeof purpose === 'string' ? PURPOSES[purpose] : undefined;
}
