import assert from 'node:assert/strict';
import type { Pricing, TokenRung } from './pricing.ts';

/**
 * The rates in force on a rung, or at the headline. On a rung, absent and 0 both mean the headline's rate; cached, written
 * and reasoning tokens without a rate of their own cost what input and output cost there.
 */
export function tokenRates(pricing: Pricing, rung: TokenRung | undefined): Record<TokenRate, number> {
  const { credits } = pricing;
  const input = rung?.input_per_k || needed(credits.input_per_k);
  const output = rung?.output_per_k || needed(credits.output_per_k);
  return {
    input_per_k: input,
    cached_per_k: rung?.cached_per_k || (credits.cached_per_k ?? input),
    cache_write_per_k: rung?.cache_write_per_k || (credits.cache_write_per_k ?? input),
    output_per_k: output,
    reasoning_per_k: rung?.reasoning_per_k || (credits.reasoning_per_k ?? output),
  };
}

export type TokenRate = 'input_per_k' | 'cached_per_k' | 'cache_write_per_k' | 'output_per_k' | 'reasoning_per_k';

export function hasCacheWriteRate({ credits, token_tiers = [] }: Pricing): boolean {
  const isSet = (rates: { cache_write_per_k?: number | undefined }) => rates.cache_write_per_k !== undefined;
  return isSet(credits) || token_tiers.some(isSet);
}

/** Whether such a prompt costs more where it is written to a cache: what is held for one that may be must cover that. */
export function isWriteDearer(pricing: Pricing, promptTokens: number): boolean {
  if (pricing.mode !== 'per_token' || !hasCacheWriteRate(pricing)) return false;
  const { cache_write_per_k, input_per_k } = tokenRates(pricing, rungFor(pricing, promptTokens));
  return cache_write_per_k > input_per_k;
}

export function rungFor({ token_tiers }: Pricing, promptTokens: number): TokenRung | undefined {
  return token_tiers?.findLast(({ min_prompt_tokens }) => promptTokens > min_prompt_tokens);
}

export function needed(rate: number | undefined): number {
  assert(rate !== undefined, 'the schema lets no price through without the rates of its mode');
  return rate;
}
