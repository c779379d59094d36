import { UpstreamError } from '../errors.ts';
import { EMBEDDING_PARTS_AT_ONCE, VECTORS_BYTES_MAX } from '../limits.ts';
import type { EmbeddingInput, EmbeddingRequest } from '../schemas/index.ts';
import type { Embeddings, TokenUsage } from '../vendors/index.ts';

/** Makes the vectors of one part, until the signal is aborted. */
export type EmbedPart = (part: EmbeddingRequest, signal: AbortSignal) => Promise<Embeddings>;

/**
 * Splits a request into parts of as many inputs as its upstream takes, some of them with it at the same time, and joins the
 * vectors in the order of the inputs. The first failure aborts the parts that are out and is the failure of all of them.
 */
export async function embedInParts(
  request: EmbeddingRequest,
  inputsMax: number,
  signal: AbortSignal,
  embed: EmbedPart,
): Promise<Embeddings> {
  const parts = splitInput(request.input, inputsMax).map((input) => ({ ...request, input }));
  if (parts.length === 1) return embed(request, signal);
  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  const made: Embeddings[] = [];
  let bytes = 0;
  const waiting = parts.entries();
  const work = async () => {
    for (const [place, part] of waiting) {
      if (failure.signal.aborted) return;
      const embeddings = await embed(part, either);
      for (const { length } of embeddings.vectors) bytes += length;
      if (bytes > VECTORS_BYTES_MAX) throw new UpstreamError('garbled', 'the vectors are too large');
      made[place] = embeddings;
    }
  };
  const stopAll = (error: unknown) => {
    failure.abort(error);
    throw error;
  };
  const workers = Array.from({ length: Math.min(EMBEDDING_PARTS_AT_ONCE, parts.length) }, () => work().catch(stopAll));
  // A part that was aborted fails for that reason alone: the first failure is the reason of the abort.
  const ends = await Promise.allSettled(workers);
  if (ends.some(({ status }) => status === 'rejected')) throw failure.signal.reason;
  return { vectors: made.flatMap(({ vectors }) => vectors), usage: sumOf(made) };
}

function splitInput(input: EmbeddingInput, inputsMax: number): EmbeddingInput[] {
  return input.kind === 'texts'
    ? slicesOf(input.texts, inputsMax).map((texts) => ({ kind: 'texts', texts }))
    : slicesOf(input.lists, inputsMax).map((lists) => ({ kind: 'tokens', lists }));
}

function slicesOf<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.max(1, Math.ceil(items.length / size));
  return Array.from({ length: count }, (_, place) => items.slice(place * size, (place + 1) * size));
}

/** None where one of the parts has none: a sum of some of them would be too low. */
function sumOf(parts: readonly Embeddings[]): TokenUsage | undefined {
  let inputTokens = 0;
  for (const { usage } of parts) {
    if (usage === undefined) return undefined;
    inputTokens += usage.inputTokens + usage.cachedTokens;
  }
  return { inputTokens, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 };
}
