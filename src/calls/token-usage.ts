import { creditsToNumber, type MicroCredits } from '../credits.ts';
import type { JsonObject } from '../json.ts';
import type { Units } from '../pricing/index.ts';
import type { TokenUsage } from '../vendors/index.ts';

/** Tokens of one call, and whether they were counted here because the upstream told none. */
export interface CountedTokens extends TokenUsage {
  readonly estimated: boolean;
}

export function told(usage: TokenUsage): CountedTokens {
  return { ...usage, estimated: false };
}

export function estimated(inputTokens: number, outputTokens: number): CountedTokens {
  return { inputTokens, cachedTokens: 0, outputTokens, reasoningTokens: 0, estimated: true };
}

/** The units to be charged; where they were counted here, the record of the charge says so. */
export function unitsOf(tokens: CountedTokens): Units {
  const { inputTokens, cachedTokens, outputTokens, reasoningTokens } = tokens;
  const units = { inputTokens, cachedTokens, outputTokens, reasoningTokens, requests: 1 };
  return tokens.estimated ? { ...units, ...ESTIMATED } : units;
}

const ESTIMATED = { estimated: true };

/** In the shape that chat clients know, with what was charged. */
export function usageView(tokens: CountedTokens, charged: MicroCredits): JsonObject {
  const prompt = tokens.inputTokens + tokens.cachedTokens;
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
