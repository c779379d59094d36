import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { VECTORS_BYTES_MAX } from '../../limits.ts';
import type { EmbeddingInput, EmbeddingRequest } from '../../schemas/index.ts';
import { estimateTokens } from '../../text/index.ts';
import type { Embeddings, TokenUsage } from '../vendor.ts';
import type { JsonWithBlobs } from './blobs.ts';
import { countAt } from './json.ts';

/** What one call of an upstream can take. */
export interface BatchLimits {
  readonly inputs: number;
  readonly tokens?: number;
}

/**
 * Cuts the inputs of a request into what one call can take each, and asks for one after the other, so that an upstream has
 * one of them to do at a time. The usage is the sum; of counts among which one is missing there is none.
 */
export async function embedInBatches(
  { input }: EmbeddingRequest,
  limits: BatchLimits,
  embed: (batch: EmbeddingInput) => Promise<Embeddings>,
): Promise<Embeddings> {
  const parts: Embeddings[] = [];
  let bytes = 0;
  for (const batch of batchesOf(input, limits)) {
    const part = await embed(batch);
    for (const { length } of part.vectors) bytes += length;
    if (bytes > VECTORS_BYTES_MAX) throw new UpstreamError('garbled', 'the vectors are too large');
    parts.push(part);
  }
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first;
  return { vectors: parts.flatMap(({ vectors }) => vectors), usage: sumOf(parts.map(({ usage }) => usage)) };
}

function batchesOf(input: EmbeddingInput, limits: BatchLimits): EmbeddingInput[] {
  return input.kind === 'texts'
    ? cut(input.texts, limits, estimateTokens).map((texts) => ({ kind: 'texts', texts }))
    : cut(input.lists, limits, ({ length }) => length).map((lists) => ({ kind: 'tokens', lists }));
}

/** An input that is too long by itself goes alone, for the upstream to judge. */
function cut<Item>(items: readonly Item[], limits: BatchLimits, tokensOf: (item: Item) => number): Item[][] {
  const tokensMax = limits.tokens ?? Number.POSITIVE_INFINITY;
  const batches: Item[][] = [];
  let batch: Item[] = [];
  let tokens = 0;
  for (const item of items) {
    const more = limits.tokens === undefined ? 0 : tokensOf(item);
    if (batch.length === limits.inputs || (batch.length > 0 && tokens + more > tokensMax)) {
      batches.push(batch);
      batch = [];
      tokens = 0;
    }
    batch.push(item);
    tokens += more;
  }
  batches.push(batch);
  return batches;
}

function sumOf(usages: readonly (TokenUsage | undefined)[]): TokenUsage | undefined {
  let inputTokens = 0;
  for (const usage of usages) {
    if (usage === undefined) return undefined;
    inputTokens += usage.inputTokens + usage.cachedTokens;
  }
  return inputUsage(inputTokens);
}

/** All that vectors are counted by. */
export function inputUsage(inputTokens: number): TokenUsage {
  return { inputTokens, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 };
}

/**
 * The vectors of an answer in the order of its items, each of which has under `key` the number of its own. An item that
 * tells an index is at that place, whatever its own.
 */
export function vectorsIn({ blobs }: JsonWithBlobs, items: readonly JsonObject[], key: string): Buffer[] {
  const vectors: (Buffer | undefined)[] = new Array(items.length).fill(undefined);
  for (const [place, item] of items.entries()) {
    const index = item.index === undefined ? place : countAt(item, 'index');
    const vector = blobs[countAt(item, key) ?? -1];
    if (index === undefined || index >= items.length || vectors[index] !== undefined || vector === undefined) {
      throw new UpstreamError('garbled', 'vectors that are not one for each input');
    }
    vectors[index] = vector;
  }
  return vectors.flatMap((vector) => vector ?? []);
}
