import type { CountedTokens } from '../formats/index.ts';
import type { Units } from '../pricing/index.ts';
import type { TokenUsage } from '../vendors/index.ts';
import { boundUsage, type TokenOrder } from './token-order.ts';

/** What the upstream told, as far as it can be believed; `onExcess` hears of what cannot. */
export function reportedTokens(claimed: TokenUsage, order: TokenOrder, onExcess: OnExcess): CountedTokens {
  const { usage, excess } = boundUsage(claimed, order);
  if (excess !== undefined) onExcess(excess);
  return { ...usage, estimated: false };
}

/** Counted here. An estimate is no better than a claim, and is bounded as one. */
export function estimatedTokens(order: TokenOrder, outputTokens: number): CountedTokens {
  const counted = { inputTokens: order.inputTokens, cachedTokens: 0, outputTokens, reasoningTokens: 0 };
  return { ...boundUsage(counted, order).usage, estimated: true };
}

export type OnExcess = (detail: string) => void;

/** The units to be charged; where they were counted here, the record of the charge says so. */
export function tokenUnits(tokens: CountedTokens): Units {
  const { inputTokens, cachedTokens, cacheWriteTokens = 0, outputTokens, reasoningTokens } = tokens;
  const written = cacheWriteTokens > 0 ? { cacheWriteTokens } : {};
  const units = { inputTokens, cachedTokens, ...written, outputTokens, reasoningTokens, requests: 1 };
  return tokens.estimated ? { ...units, ...ESTIMATED } : units;
}

const ESTIMATED = { estimated: true };
