import { randomBase62 } from '../../ids.ts';
import { JsonError, type JsonObject, parseJson } from '../../json.ts';
import { isObject, objectAt, objectsAt, stringAt } from '../../json-read.ts';
import type { Settled } from '../format.ts';
import { UNSIGNED_MARK } from './thoughts.ts';
import { usageView } from './usage.ts';

/** What stands in an answer in place of what would tell which upstream gave it. */
export interface MessageIds {
  readonly id: string;
  /** As the caller asked for it. */
  readonly model: string;
}

export function messageIds(model: string): MessageIds {
  return { id: `msg_${randomBase62(24)}`, model };
}

/** A `chat.completion` as one message. */
export function toMessage(completion: JsonObject, ids: MessageIds, settled: Settled): JsonObject {
  const [choice] = objectsAt(completion, 'choices');
  const content = toBlocks(objectAt(choice, 'message') ?? {});
  const hasCalls = content.some(({ type }) => type === 'tool_use');
  return {
    id: ids.id,
    type: 'message',
    role: 'assistant',
    model: ids.model,
    content,
    stop_reason: stopReason(stringAt(choice, 'finish_reason'), hasCalls),
    stop_sequence: null,
    usage: usageView(settled),
  };
}

function toBlocks(message: JsonObject): JsonObject[] {
  const blocks: JsonObject[] = [];
  const thinking = stringAt(message, 'reasoning_content') ?? '';
  const text = stringAt(message, 'content') ?? stringAt(message, 'refusal') ?? '';
  if (thinking !== '') blocks.push({ type: 'thinking', thinking, signature: UNSIGNED_MARK });
  if (text !== '') blocks.push({ type: 'text', text });
  for (const call of objectsAt(message, 'tool_calls')) {
    const called = objectAt(call, 'function');
    const input = toInput(stringAt(called, 'arguments') ?? '');
    blocks.push({ type: 'tool_use', id: callId(stringAt(call, 'id')), name: stringAt(called, 'name') ?? '', input });
  }
  return blocks;
}

/** Some servers name no calls, and answers to them could not be told apart. */
export function callId(id: string | undefined): string {
  return id === undefined || id === '' ? `toolu_${randomBase62(24)}` : id;
}

/** What a model wrote that is no object is told as it is, for the model to see when the tool refuses it. */
function toInput(text: string): JsonObject {
  if (text.trim() === '') return {};
  try {
    const value = parseJson(text).exact();
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  return { arguments: text };
}

const STOP_REASONS: ReadonlyMap<string | undefined, string> = new Map([
  ['length', 'max_tokens'],
  ['content_filter', 'refusal'],
]);

/** Not every server says that it stopped for its calls. One that was cut off has no whole call to run. */
export function stopReason(finish: string | undefined, hasCalls: boolean): string {
  return STOP_REASONS.get(finish) ?? (hasCalls ? 'tool_use' : 'end_turn');
}
