import { creditsToNumber } from '../../credits.ts';
import type { JsonObject } from '../../json.ts';
import type { Settled } from '../format.ts';

/** In the shape of this format, in which what was read from a cache is no part of the input. All of them are numbers. */
export function usageView({ tokens, charged }: Settled): JsonObject {
  return {
    input_tokens: tokens.inputTokens,
    cache_creation_input_tokens: tokens.cacheWriteTokens ?? 0,
    cache_read_input_tokens: tokens.cachedTokens,
    output_tokens: tokens.outputTokens + tokens.reasoningTokens,
    output_tokens_details: { thinking_tokens: tokens.reasoningTokens },
    ...(tokens.estimated ? { estimated: true } : {}),
    credits: creditsToNumber(charged),
  };
}
