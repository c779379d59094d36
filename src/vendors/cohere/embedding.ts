import { UpstreamError } from '../../errors.ts';
import type { JsonValue } from '../../json.ts';
import { embedInBatches, inputUsage } from '../kit/embedding-batches.ts';
import { countAt, listAt, objectAt } from '../kit/json.ts';
import { refuse, refuseKeys } from '../kit/refusals.ts';
import { vectorOf } from '../kit/vectors.ts';
import type { EmbeddingWork } from '../vendor.ts';
import { wire } from './wire.ts';

/** The vendor takes twice as many, but an answer of these is read at once. */
const INPUTS_MAX = 48;

/** What the vector is for: the vendor must be told one. Its own words are taken as well. */
const PURPOSES: Readonly<Record<string, string>> = {
  query: 'search_query',
  document: 'search_document',
  search_query: 'search_query',
  search_document: 'search_document',
  classification: 'classification',
  clustering: 'clustering',
};

const TRUNCATIONS: readonly string[] = ['NONE', 'START', 'END'];

/** A text that is too long is refused and not cut, unless a caller says which end may go. */
export const embedding: EmbeddingWork = {
  check({ input, extra }) {
    refuse('input', input.kind === 'tokens', { oneOf: ['texts'] });
    const { input_type: purpose, truncate, ...others } = extra;
    refuse('input_type', purpose != null && purposeOf(purpose) === undefined, { oneOf: Object.keys(PURPOSES) });
    const isKnown = truncate == null || (typeof truncate === 'string' && TRUNCATIONS.includes(truncate));
    refuse('truncate', !isKnown, { oneOf: TRUNCATIONS });
    refuseKeys(others, Object.keys(others));
  },

  embed(request, upstream) {
    const { dimensions, extra } = request;
    return embedInBatches(request, { inputs: INPUTS_MAX }, async (batch) => {
      const texts = batch.kind === 'texts' ? batch.texts : [];
      const json = {
        model: upstream.model,
        texts,
        input_type: purposeOf(extra.input_type) ?? 'search_document',
        embedding_types: ['float'],
        truncate: extra.truncate ?? 'NONE',
        output_dimension: dimensions,
      };
      const answer = await wire.json(upstream, { path: '/v2/embed', body: { json } });
      const vectors = listAt(objectAt(answer, 'embeddings'), 'float') ?? [];
      if (vectors.length !== texts.length)
        throw new UpstreamError('garbled', 'vectors that are not one for each input');
      const tokens = countAt(objectAt(objectAt(answer, 'meta'), 'billed_units'), 'input_tokens');
      return { vectors: vectors.map(vectorOf), usage: tokens === undefined ? undefined : inputUsage(tokens) };
    });
  },
};

function purposeOf(purpose: JsonValue | undefined): string | undefined {
  return typeof purpose === 'string' && Object.hasOwn(PURPOSES, purpose) ? PURPOSES[purpose] : undefined;
}
