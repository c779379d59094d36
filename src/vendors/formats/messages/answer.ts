import { UpstreamError } from '../../../errors.ts';
import { randomBase62 } from '../../../ids.ts';
import { JsonError, type JsonObject, type JsonValue, parseJson } from '../../../json.ts';
import { countOr, isObject, listAt, objectAt, objectsAt, requiredString, stringAt } from '../../kit/json.ts';
import type { ChatAnswer, TokenUsage } from '../../vendor.ts';
import { wire } from './wire.ts';

/** One answer, however it came. */
export interface Message {
  text: string;
  reasoning: string;
  readonly calls: ToolCall[];
  finish: string;
}

interface ToolCall {
  readonly id: string;
  readonly name: string;
  arguments: string;
}

/** Throws UpstreamError for anything that is not a whole message. */
export function toAnswer(text: string, model: string): ChatAnswer {
  const { value, exact } = parseMessage(text);
  const finish = stringAt(value, 'stop_reason') ?? '';
  const message: Message = { text: '', reasoning: '', calls: [], finish: finishReason(finish) };
  for (const block of objectsAt(exact, 'content')) addBlock(message, block);
  const usage = objectAt(value, 'usage');
  return { body: toCompletion(message, model), usage: usage && toUsage(countTokens(usage, NO_TOKENS)) };
}

/** Throws UpstreamError for anything that is not a whole message. */
export function parseMessage(text: string): { value: JsonObject; exact: JsonObject } {
  const parsed = parse(text);
  const { value } = parsed;
  wire.faults.throwIfError(value);
  const isWhole = listAt(value, 'content') !== undefined && stringAt(value, 'stop_reason') !== undefined;
  if (value.type !== 'message' || !isWhole) throw new UpstreamError('garbled', 'the answer is not a whole message');
  return parsed;
}

/** `exact` keeps numbers as written: a tool's input goes on as text. */
function parse(text: string): { value: JsonObject; exact: JsonObject } {
  try {
    const parsed = parseJson(text);
    const exact = parsed.exact();
    if (isObject(parsed.value) && isObject(exact)) return { value: parsed.value, exact };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  throw new UpstreamError('garbled', 'the answer is not a JSON object');
}

/** Blocks of other types belong to the vendor's own tools. */
function addBlock(message: Message, block: JsonObject): void {
  if (block.type === 'text') message.text += stringAt(block, 'text') ?? '';
  else if (block.type === 'thinking') message.reasoning += stringAt(block, 'thinking') ?? '';
  else if (block.type === 'tool_use') {
    message.calls.push({ ...readCall(block), arguments: JSON.stringify(block.input ?? {}) });
  }
}

export function readCall(block: JsonObject): { id: string; name: string } {
  return { id: requiredString(block, 'id'), name: requiredString(block, 'name') };
}

/** A whole `chat.completion`, but for its usage. The upstream tells no time: `created` is 0. */
export function toCompletion({ text, reasoning, calls, finish }: Message, model: string): JsonObject {
  const message: Record<string, JsonValue> = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
  };
  if (reasoning !== '') message.reasoning_content = reasoning;
  if (calls.length > 0) {
    message.tool_calls = calls.map(({ id, name, arguments: input }) => ({
      id,
      type: 'function',
      function: { name, arguments: input },
    }));
  }
  return {
    id: completionId(),
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
  };
}

export function completionId(): string {
  return `chatcmpl-${randomBase62(24)}`;
}

const FINISH_REASONS: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

/** Every other reason is an end of its own accord: end_turn, stop_sequence, pause_turn, and what may be added. */
export function finishReason(stopReason: string): string {
  return FINISH_REASONS.get(stopReason) ?? 'stop';
}

/** The vendor's own counts: `input` leaves out both sides of the cache, `output` includes `thinking`. */
export interface Tokens {
  readonly input: number;
  readonly cacheWritten: number;
  readonly cacheRead: number;
  readonly output: number;
  readonly thinking: number;
}

export const NO_TOKENS: Tokens = { input: 0, cacheWritten: 0, cacheRead: 0, output: 0, thinking: 0 };

/** A count that is not told keeps its value. */
export function countTokens(usage: JsonObject, before: Tokens): Tokens {
  return {
    input: countOr(usage, 'input_tokens', before.input),
    cacheWritten: countOr(usage, 'cache_creation_input_tokens', before.cacheWritten),
    cacheRead: countOr(usage, 'cache_read_input_tokens', before.cacheRead),
    output: countOr(usage, 'output_tokens', before.output),
    thinking: countOr(objectAt(usage, 'output_tokens_details'), 'thinking_tokens', before.thinking),
  };
}

/** Undefined where one of the counts is none: then none can be trusted. */
export function toUsage({ input, cacheWritten, cacheRead, output, thinking }: Tokens): TokenUsage | undefined {
  const reasoningTokens = Math.min(thinking, output);
  const counted = {
    inputTokens: input,
    cachedTokens: cacheRead,
    ...(cacheWritten !== 0 && { cacheWriteTokens: cacheWritten }),
    outputTokens: output - reasoningTokens,
    reasoningTokens,
  };
  return Object.values(counted).some(Number.isNaN) ? undefined : counted;
}
