import type { JsonValue } from '../../json.ts';
import type { EmbeddingInput, EmbeddingRequest } from '../../schemas/index.ts';
import { modelPath, toCall, usageOf, wire } from '../formats/generate-content/index.ts';
import { embedInBatches, vectorsIn } from '../kit/embedding-batches.ts';
import { objectsAt } from '../kit/json.ts';
import { refuse, refuseKeys } from '../kit/refusals.ts';
import type { WireValue } from '../kit/wire.ts';
import type { EmbeddingWork } from '../vendor.ts';

/** The most that one call takes; a longer list of inputs is sent in several. */
const BATCH = { inputs: 100 };

/** What the vector is for, in the vendor's words. */
const PURPOSES: Readonly<Record<string, string>> = { query: 'RETRIEVAL_QUERY', document: 'RETRIEVAL_DOCUMENT' };

/** Its vectors come as numbers, and most of its models tell no usage. It has no field for the caller's user. */
export const embedding: EmbeddingWork = {
  check({ input, extra }) {
    refuse('input', input.kind === 'tokens', { oneOf: ['texts'] });
    const { input_type: purpose, ...others } = extra;
    refuse('input_type', purposeOf(purpose) === undefined && purpose != null, { oneOf: Object.keys(PURPOSES) });
    refuseKeys(others, Object.keys(others));
  },

  embed(request, upstream) {
    return embedInBatches(request, BATCH, async (batch) => {
      const body = { json: toWire(request, batch, upstream.model) };
      const answer = await wire.jsonWithVectors(
        upstream,
        toCall(upstream, { action: 'batchEmbedContents', body }),
        'values',
      );
      return {
        vectors: vectorsIn(answer, objectsAt(answer.json, 'embeddings'), 'values'),
        usage: usageOf(answer.json),
      };
    });
  },
};

function toWire({ dimensions, extra }: EmbeddingRequest, batch: EmbeddingInput, model: string): WireValue {
  const texts = batch.kind === 'texts' ? batch.texts : [];
  const requests = texts.map((text) => ({
    model: modelPath(model),
    content: { parts: [{ text }] },
    taskType: purposeOf(extra.input_type),
    outputDimensionality: dimensions,
  }));
  return { requests };
}

function purposeOf(purpose: JsonValue | undefined): string | undefined {
  return typeof purpose === 'string' ? PURPOSES[purpose] : undefined;
}
