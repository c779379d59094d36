import type { JsonObject } from '../../../json.ts';
import { countAt, objectAt } from '../../kit/json.ts';
import type { TokenUsage } from '../../vendor.ts';

/**
 * The usage of an answer or a frame, in disjoint counts; undefined if there is none that can be trusted. Servers put
 * it in different places and do not agree on what contains what.
 */
export function usageIn(body: JsonObject): TokenUsage | undefined {
  const usage = objectAt(body, 'usage') ?? objectAt(objectAt(body, 'x_groq'), 'usage');
  if (usage === undefined) return undefined;
  const prompt = countAt(usage, 'prompt_tokens');
  const completion = usage.completion_tokens == null ? 0 : countAt(usage, 'completion_tokens');
  if (prompt === undefined || completion === undefined) return undefined;
  const cached = cachedIn(usage);
  const reasoning = countAt(objectAt(usage, 'completion_tokens_details'), 'reasoning_tokens') ?? 0;
  // What is larger than the whole, or counted again in the total, stands beside the whole and not within it.
  const total = countAt(usage, 'total_tokens');
  const isReasoningBeside = reasoning > completion || (reasoning > 0 && total === prompt + completion + reasoning);
  return {
    inputTokens: cached > prompt ? prompt : prompt - cached,
    cachedTokens: cached,
    outputTokens: isReasoningBeside ? completion : completion - reasoning,
    reasoningTokens: reasoning,
  };
}

function cachedIn(usage: JsonObject): number {
  return (
    countAt(objectAt(usage, 'prompt_tokens_details'), 'cached_tokens') ??
    countAt(objectAt(usage, 'prompt_token_details'), 'cached_tokens') ??
    countAt(usage, 'num_cached_tokens') ??
    countAt(usage, 'prompt_cache_hit_tokens') ??
    0
  );
}
