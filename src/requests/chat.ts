import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { CHAT_MESSAGES_MAX } from '../limits.ts';
import { modelField } from './fields.ts';

/** A chat call, checked. */
export interface ChatRequest {
  /** The public name that the caller asked for. */
  readonly model: string;
  readonly stream: boolean;
  /** Whether the caller wants the usage of a stream. */
  readonly includeUsage: boolean;
  readonly messages: readonly unknown[];
  readonly tools: readonly unknown[];
  /** The most that the caller lets one answer have. */
  readonly maxOutputTokens: number | undefined;
  /** What is held for one answer; where the caller set no limit, no upstream may be asked for more. */
  readonly heldOutputTokens?: number;
  /** How many answers. */
  readonly n: number;
  /** The whole body as it was sent, numbers as written, for vendors that take it as it is. */
  readonly body: JsonObject;
}

const N_MAX = 128;
const TOKENS_MAX = 10_000_000;

const tokens = z.int().min(1).max(TOKENS_MAX).nullish();

export const chatSchema = z.looseObject({
  model: modelField,
  messages: z
    .array(z.looseObject({ role: z.string() }), { error: 'missing_messages' })
    .min(1, { error: 'missing_messages' })
    .max(CHAT_MESSAGES_MAX, { error: `expected at most ${CHAT_MESSAGES_MAX} messages` }),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  n: z.int({ error: 'invalid_n' }).min(1, { error: 'invalid_n' }).max(N_MAX, { error: 'invalid_n' }).nullish(),
  tools: z.array(z.unknown()).nullish(),
});

/** `exact` is the same body with every number as it was written. */
export function toChatRequest(asked: z.output<typeof chatSchema>, exact: JsonObject): ChatRequest {
  return {
    model: asked.model,
    stream: asked.stream ?? false,
    includeUsage: asked.stream_options?.include_usage ?? false,
    messages: asked.messages,
    tools: asked.tools ?? [],
    maxOutputTokens: asked.max_completion_tokens ?? asked.max_tokens ?? undefined,
    n: asked.n ?? 1,
    body: exact,
  };
}
