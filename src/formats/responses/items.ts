import { newId } from '../../ids.ts';
import { JsonError, type JsonObject, type JsonValue, parseJson } from '../../json.ts';
import { isObject, objectAt, objectsAt, stringAt } from '../../json-read.ts';
import type { ToolName } from './tools.ts';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export function messageItem(id: string, status: ItemStatus, content: readonly JsonObject[]): JsonObject {
  return { id, type: 'message', role: 'assistant', status, content };
}

export function textPart(text: string, logprobs: readonly JsonValue[] = []): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs };
}

export function refusalPart(refusal: string): JsonObject {
  return { type: 'refusal', refusal };
}

export function reasoningItem(id: string, summary: readonly string[]): JsonObject {
  return { id, type: 'reasoning', summary: summary.map(summaryPart) };
}

export function summaryPart(text: string): JsonObject {
  return { type: 'summary_text', text };
}

/** A call of the model, by chat's name and arguments. */
export interface MadeCall {
  readonly id: string;
  readonly callId: string;
  readonly tool: ToolName;
  readonly arguments: string;
}

export function callItem({ id, callId, tool, arguments: input }: MadeCall, status: ItemStatus): JsonObject {
  const named = {
    call_id: callId,
    name: tool.name,
    ...(tool.namespace !== undefined && { namespace: tool.namespace }),
  };
  if (!tool.isCustom) return { id, type: 'function_call', status, ...named, arguments: input };
  return { id, type: 'custom_tool_call', status, ...named, input: customInput(input) };
}

/** The text inside the one argument that a custom tool has in chat; what is not of that shape is the text itself. */
export function customInput(written: string): string {
  try {
    const { value } = parseJson(written);
    return isObject(value) && typeof value.input === 'string' ? value.input : written;
  } catch (error) {
    if (error instanceof JsonError) return written;
    throw error;
  }
}

/** A function that the model calls under a name which was not offered is passed on under that name. */
export function toolOf(wire: string, named: ReadonlyMap<string, ToolName>): ToolName {
  return named.get(wire) ?? { name: wire, isCustom: false };
}

export function newCallId(given: string | undefined): string {
  return given === undefined || given === '' ? newId('call') : given;
}

/** The items of one whole message of chat. */
export function itemsOf(
  choice: JsonObject,
  named: ReadonlyMap<string, ToolName>,
  status: 'completed' | 'incomplete',
): JsonObject[] {
  const message = objectAt(choice, 'message') ?? {};
  const reasoning = stringAt(message, 'reasoning_content') ?? '';
  const calls = objectsAt(message, 'tool_calls').map((call) => toMadeCall(call, named));
  const parts = messageParts(message, objectAt(choice, 'logprobs'));
  const hasMessage = parts.length > 0 || calls.length === 0;
  return [
    ...(reasoning === '' ? [] : [reasoningItem(newId('rs'), [reasoning])]),
    ...(hasMessage ? [messageItem(newId('msg'), status, parts.length > 0 ? parts : [textPart('')])] : []),
    ...calls.map((call) => callItem(call, status)),
  ];
}

function messageParts(message: JsonObject, logprobs: JsonObject | undefined): JsonObject[] {
  const text = stringAt(message, 'content') ?? '';
  const refusal = stringAt(message, 'refusal') ?? '';
  return [
    ...(text === '' ? [] : [textPart(text, objectsAt(logprobs, 'content'))]),
    ...(refusal === '' ? [] : [refusalPart(refusal)]),
  ];
}

function toMadeCall(call: JsonObject, named: ReadonlyMap<string, ToolName>): MadeCall {
  const called = objectAt(call, 'function');
  const tool = toolOf(stringAt(called, 'name') ?? '', named);
  return {
    id: newId(tool.isCustom ? 'ctc' : 'fc'),
    callId: newCallId(stringAt(call, 'id')),
    tool,
    arguments: stringAt(called, 'arguments') ?? '',
  };
}
