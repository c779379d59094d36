import { measureTokens, type TokenRequest } from '../billing/index.ts';
import type { ListedModel } from '../catalogue/index.ts';
import type { JsonObject } from '../json.ts';
import {
  CLAIM_TOLERANCE,
  INPUT_TOKENS_SLACK,
  INPUT_TOKENS_UNSTATED_MAX,
  OUTPUT_TOKENS_UNSTATED_MAX,
} from '../limits.ts';
import type { Units } from '../pricing/index.ts';
import type { TokenUsage } from '../vendors/index.ts';

/** What was held for a call, and the most tokens that its answer can have cost: no upstream is believed beyond that. */
export interface TokenOrder {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** What is held, as it is priced. */
  readonly units: Units;
  readonly outputTokensMax: number;
  /** Computed only for a claim that is far from the estimate. */
  readonly inputTokensMax: () => number;
}

/** What a request asks for. */
export interface RequestedTokens extends TokenRequest {
  /** How many bytes its text has; undefined when it names something whose length is not known here, such as a picture. */
  readonly textBytes: () => number | undefined;
}

export function tokenOrder(requested: RequestedTokens, model: ListedModel): TokenOrder {
  const { inputTokens, maxOutputTokens, answers, textBytes } = requested;
  const { units } = measureTokens(requested, model);
  const { outputTokens = 0 } = units;
  const isStated = (maxOutputTokens ?? model.max_output_tokens) !== undefined;
  const context = withTolerance(model.context_tokens ?? INPUT_TOKENS_UNSTATED_MAX);
  return {
    inputTokens,
    outputTokens,
    units,
    outputTokensMax: isStated
      ? withTolerance(outputTokens)
      : Math.max(outputTokens, OUTPUT_TOKENS_UNSTATED_MAX * answers),
    // No tokenizer makes more than one token of a byte; an upstream's own preamble and template come on top.
    inputTokensMax: () => Math.min(context, (textBytes() ?? Infinity) + INPUT_TOKENS_SLACK),
  };
}

const WRITTEN_BYTES_MAX = 262_144;

/** How many bytes the text of a body has: as written where that is short, else of its strings, which takes no copy of them. */
export function textBytesIn(body: JsonObject): number {
  const bytes = stringBytes(body);
  return bytes > WRITTEN_BYTES_MAX ? bytes : Buffer.byteLength(JSON.stringify(body));
}

function stringBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return NUMBER_BYTES;
  return Object.entries(value).reduce((sum, [name, item]) => sum + name.length + stringBytes(item), 0);
}

const NUMBER_BYTES = 24;

function withTolerance(tokens: number): number {
  return tokens + Math.floor(tokens * CLAIM_TOLERANCE.share) + CLAIM_TOLERANCE.tokens;
}

/** What is charged for a claim: the claim, or what was held where the claim cannot be true; and then `excess` says so. */
export interface BoundedUsage {
  readonly usage: TokenUsage;
  readonly excess?: string;
}

export function boundUsage(claimed: TokenUsage, order: TokenOrder): BoundedUsage {
  const { cacheWriteTokens: written = 0 } = claimed;
  const prompt = claimed.inputTokens + claimed.cachedTokens + written;
  const completion = claimed.outputTokens + claimed.reasoningTokens;
  const isPromptLong = prompt > order.inputTokens + INPUT_TOKENS_SLACK && prompt > order.inputTokensMax();
  const isCompletionLong = completion > order.outputTokensMax;
  if (!isPromptLong && !isCompletionLong) return { usage: claimed };
  const inputTokens = isPromptLong ? Math.min(claimed.inputTokens, order.inputTokens) : claimed.inputTokens;
  const cacheWriteTokens = isPromptLong ? Math.min(written, order.inputTokens - inputTokens) : written;
  const outputTokens = isCompletionLong ? Math.min(claimed.outputTokens, order.outputTokens) : claimed.outputTokens;
  const usage = {
    inputTokens,
    cachedTokens: isPromptLong ? order.inputTokens - inputTokens - cacheWriteTokens : claimed.cachedTokens,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    outputTokens,
    reasoningTokens: isCompletionLong ? order.outputTokens - outputTokens : claimed.reasoningTokens,
  };
  const excess = isCompletionLong
    ? `claims ${completion} completion tokens on an order of ${order.outputTokens}`
    : `claims ${prompt} prompt tokens of a request that holds about ${order.inputTokens}`;
  return { usage, excess };
}
