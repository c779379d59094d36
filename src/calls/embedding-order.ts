import { EMBEDDING_TOKENS_SLACK, INPUT_TOKENS_SLACK } from '../limits.ts';
import type { EmbeddingInput } from '../schemas/index.ts';
import { estimateTokens } from '../text/index.ts';
import type { TokenOrder } from './token-order.ts';

/** About how many tokens the inputs are; a list of tokens is as long as it is. */
export function estimateInputTokens(input: EmbeddingInput): number {
  return input.kind === 'texts'
    ? input.texts.reduce((sum, text) => sum + estimateTokens(text), 0)
    : input.lists.reduce((sum, { length }) => sum + length, 0);
}

/** What is held for vectors: their inputs alone. A model's context bounds each input, and so says nothing of the sum. */
export function embeddingOrder(input: EmbeddingInput): TokenOrder {
  const inputTokens = estimateInputTokens(input);
  return {
    inputTokens,
    outputTokens: 0,
    units: { inputTokens: heldTokens(input, inputTokens), outputTokens: 0, requests: 1 },
    outputTokensMax: 0,
    inputTokensMax: () => mostTokens(input, inputTokens) + INPUT_TOKENS_SLACK,
  };
}

/** Tokenizers differ by about this much. */
const HELD_PER_ESTIMATED = 1.5;
/** Most tokenizers mark where an input begins and ends. */
const MARKS = 2;

/**
 * More than the estimate: there is no output whose hold would cover a tokenizer that counts more, and what exceeds a hold is
 * charged under the account's lock, in two transactions more.
 */
function heldTokens(input: EmbeddingInput, estimated: number): number {
  const inputs = input.kind === 'texts' ? input.texts.length : input.lists.length;
  const counted = input.kind === 'texts' ? Math.ceil(estimated * HELD_PER_ESTIMATED) : estimated;
  return Math.min(counted + inputs * MARKS, mostTokens(input, estimated));
}

/** No tokenizer makes more than one token of a byte; what an upstream adds to each input comes on top. */
function mostTokens(input: EmbeddingInput, estimated: number): number {
  const [inputs, most] =
    input.kind === 'texts'
      ? [input.texts.length, input.texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)]
      : [input.lists.length, estimated];
  return most + inputs * EMBEDDING_TOKENS_SLACK;
}
