import { creditsToNumber } from '../../credits.ts';
import type { JsonObject } from '../../json.ts';
import type { Settled } from '../format.ts';

/** In the shape that chat clients know, with what was charged. */
export function chatUsage({ tokens, charged }: Settled): JsonObject {
  const prompt = tokens.inputTokens + tokens.cachedTokens + (tokens.cacheWriteTokens ?? 0);
  const completion = tokens.outputTokens + tokens.reasoningTokens;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: tokens.cachedTokens },
    completion_tokens_details: { reasoning_tokens: tokens.reasoningTokens },
    ...(tokens.estimated ? { estimated: true } : {}),
    credits: creditsToNumber(charged),
  };
}
