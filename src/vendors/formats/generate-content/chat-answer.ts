import { UpstreamError } from '../../../errors.ts';
import { randomBase62 } from '../../../ids.ts';
import type { JsonObject } from '../../../json.ts';
import { countAt, isObject, itemsAt, objectAt, stringAt } from '../../kit/json.ts';
import type { ChatAnswer, ChatChunk } from '../../vendor.ts';
import type { Frame } from './frames.ts';
import { blockOf, usageOf } from './wire.ts';

/** Without id, date, model and usage, which it is given before it is sent on. */
export function toAnswer(answer: JsonObject): ChatAnswer {
  const choices = candidatesOf(answer).map(toChoice);
  if (choices.length === 0) {
    // A refusal for an unnamed reason leaves its reason out.
    const fault = isObject(answer.promptFeedback) ? 'policy' : 'garbled';
    throw new UpstreamError(fault, 'an answer without candidates');
  }
  return { body: { object: 'chat.completion', choices }, usage: usageOf(answer) };
}

/** Each frame becomes one chunk; one that tells only its usage becomes a chunk without a body. */
export async function* toChunks(frames: AsyncIterable<Frame>): AsyncIterable<ChatChunk> {
  const callsOf = new Map<number, number>();
  for await (const { body } of frames) {
    const choices: JsonObject[] = [];
    for (const candidate of candidatesOf(body)) {
      const choice = toDelta(candidate, callsOf);
      if (choice !== undefined) choices.push(choice);
    }
    const chunk = choices.length === 0 ? undefined : { object: 'chat.completion.chunk', choices };
    yield { body: chunk, usage: usageOf(body) };
  }
}

function candidatesOf(answer: JsonObject): readonly JsonObject[] {
  const block = blockOf(answer);
  if (block !== undefined) throw new UpstreamError('policy', `the prompt was blocked: ${block}`);
  return itemsAt(answer, 'candidates').map((candidate) => {
    if (!isObject(candidate)) throw new UpstreamError('garbled', 'a candidate is not an object');
    return candidate;
  });
}

function toChoice(candidate: JsonObject): JsonObject {
  const { text, calls } = readParts(candidate);
  const message = { role: 'assistant', content: text === '' && calls.length > 0 ? null : text, refusal: null };
  return {
    index: countAt(candidate, 'index') ?? 0,
    message: calls.length === 0 ? message : { ...message, tool_calls: calls },
    logprobs: null,
    finish_reason: toFinish(stringAt(candidate, 'finishReason') ?? 'STOP', calls.length > 0),
  };
}

/** `callsOf` holds how many calls each choice has made; a choice that is not in it has not begun. */
function toDelta(candidate: JsonObject, callsOf: Map<number, number>): JsonObject | undefined {
  const index = countAt(candidate, 'index') ?? 0;
  const { text, calls } = readParts(candidate);
  const finish = stringAt(candidate, 'finishReason');
  const before = callsOf.get(index);
  if (before !== undefined && text === '' && calls.length === 0 && finish === undefined) return undefined;
  const total = (before ?? 0) + calls.length;
  callsOf.set(index, total);
  return {
    index,
    delta: {
      ...(before === undefined ? { role: 'assistant', content: text } : text === '' ? {} : { content: text }),
      ...(calls.length === 0
        ? {}
        : { tool_calls: calls.map((call, at) => ({ index: total - calls.length + at, ...call })) }),
    },
    logprobs: null,
    finish_reason: finish === undefined ? null : toFinish(finish, total > 0),
  };
}

interface Content {
  readonly text: string;
  readonly calls: readonly JsonObject[];
}

/** Thoughts are not said, and media has no place in a chat answer. */
function readParts(candidate: JsonObject): Content {
  const content = objectAt(candidate, 'content');
  const calls: JsonObject[] = [];
  let text = '';
  if (content === undefined) return { text, calls };
  for (const part of itemsAt(content, 'parts')) {
    if (!isObject(part) || part.thought === true) continue;
    if (typeof part.text === 'string') text += part.text;
    else if (isObject(part.functionCall)) calls.push(toToolCall(part.functionCall, stringAt(part, 'thoughtSignature')));
  }
  return { text, calls };
}

/** The signature must come back with the call; callers that drop it lose what the model thought, no more. */
function toToolCall(call: JsonObject, signature: string | undefined): JsonObject {
  const name = stringAt(call, 'name');
  if (name === undefined) throw new UpstreamError('garbled', 'a call without a name');
  return {
    id: stringAt(call, 'id') ?? `call_${randomBase62(24)}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(objectAt(call, 'args') ?? {}) },
    ...(signature === undefined ? {} : { extra_content: { thought_signature: signature } }),
  };
}

function toFinish(reason: string, hasCalls: boolean): string {
  switch (reason) {
    case 'STOP':
      return hasCalls ? 'tool_calls' : 'stop';
    // An answer to be continued has been cut as well.
    case 'MAX_TOKENS':
    case 'CONTINUATION':
      return 'length';
    case 'SAFETY':
    case 'RECITATION':
    case 'BLOCKLIST':
    case 'PROHIBITED_CONTENT':
    case 'SPII':
      return 'content_filter';
    default:
      return reason.startsWith('IMAGE_') ? 'content_filter' : 'stop';
  }
}
