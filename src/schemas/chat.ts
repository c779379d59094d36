import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { CHAT_MESSAGES_MAX } from '../limits.ts';
import { checkedListOf, modelField, notAnObject, type Problem } from './fields.ts';

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
const number = z.number().nullish();
const flag = z.boolean().nullish();
const text = z.string().nullish();
const object = z.looseObject({}).nullish();

function notAMessage(item: unknown): Problem | undefined {
  const problem = notAnObject(item);
  if (problem !== undefined) return problem;
  return typeof (item as { role?: unknown }).role === 'string' ? undefined : [['role'], 'a string'];
}

const MESSAGE = { type: 'object', properties: { role: { type: 'string' } }, required: ['role'] };
const texts = checkedListOf({ type: 'string' }, (item) => (typeof item === 'string' ? undefined : [[], 'a string']));
const objects = checkedListOf({ type: 'object' }, notAnObject).nullish();

export const chatSchema = z.looseObject({
  model: modelField,
  messages: checkedListOf(MESSAGE, notAMessage, 'missing_messages')
    .min(1, { error: 'missing_messages' })
    .max(CHAT_MESSAGES_MAX, { error: `expected at most ${CHAT_MESSAGES_MAX} messages` }),
  stream: flag,
  stream_options: z.looseObject({ include_usage: flag }).nullish(),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  n: z.int({ error: 'invalid_n' }).min(1, { error: 'invalid_n' }).max(N_MAX, { error: 'invalid_n' }).nullish(),
  temperature: number,
  top_p: number,
  presence_penalty: number,
  frequency_penalty: number,
  // Above 2^53 a double is not the number that was sent, which is forwarded all the same.
  seed: z.number().refine(Number.isInteger, { error: 'expected a whole number' }).nullish(),
  stop: z.union([z.string(), texts], { error: 'expected a string or a list of strings' }).nullish(),
  logprobs: flag,
  top_logprobs: z.int().min(0).nullish(),
  logit_bias: object,
  tools: objects,
  tool_choice: z.union([z.string(), z.looseObject({})], { error: 'expected a string or an object' }).nullish(),
  parallel_tool_calls: flag,
  response_format: object,
  user: text,
});

/** `exact` is the same body with every number as it was written. */
export function toChatRequest(parsed: z.output<typeof chatSchema>, exact: JsonObject): ChatRequest {
  return {
    model: parsed.model,
    stream: parsed.stream ?? false,
    includeUsage: parsed.stream_options?.include_usage ?? false,
    messages: parsed.messages,
    tools: parsed.tools ?? [],
    maxOutputTokens: parsed.max_completion_tokens ?? parsed.max_tokens ?? undefined,
    n: parsed.n ?? 1,
    body: exact,
  };
}
