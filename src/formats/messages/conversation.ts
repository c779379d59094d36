import type { JsonObject, JsonValue } from '../../json.ts';
import { isList, isObject, objectAt, stringAt } from '../../json-read.ts';
import { invalid, unsupported, unsupportedType } from '../../unsupported.ts';
import { blocksOf, type ChatPart, textAt, toUserTurn } from './content.ts';

/**
 * A line that a client puts before its instructions and that changes with every turn. It says nothing to a model, and in
 * front of a prompt it defeats every cache of prompts.
 */
const ATTRIBUTION = /^x-[a-z]+-billing-header\b/;

/** The whole conversation as chat messages. Throws ApiError for what chat cannot say. */
export function toChatMessages(body: JsonObject): readonly JsonObject[] {
  const turns = isList(body.messages) ? body.messages : [];
  const messages: JsonObject[] = [];
  const system = systemText(body.system ?? undefined, 'system');
  if (system !== '') messages.push({ role: 'system', content: system });
  for (const [index, value] of turns.entries()) addTurn(messages, value, `messages[${index}]`);
  const last = turns.at(-1);
  if (isObject(last) && last.role === 'assistant') {
    // The beginning of an answer that the model is to continue; chat has no such thing.
    throw unsupported(`messages[${turns.length - 1}].role`, { oneOf: ['user'] });
  }
  return messages;
}

function systemText(content: JsonValue | undefined, where: string): string {
  if (content === undefined) return '';
  return blocksOf(content, where)
    .map((block, index) => textAt(block, 'text', `${where}[${index}]`))
    .filter((text) => text.trim() !== '' && !ATTRIBUTION.test(text))
    .join('\n\n');
}

function addTurn(messages: JsonObject[], value: JsonValue, where: string): void {
  if (!isObject(value)) throw invalid(where, 'is not an object');
  const at = `${where}.content`;
  switch (stringAt(value, 'role') ?? '') {
    case 'user': {
      const { results, parts } = toUserTurn(value.content, at);
      messages.push(...results);
      if (parts.length > 0) messages.push({ role: 'user', content: contentOf(parts) });
      return;
    }
    case 'assistant': {
      const message = toAssistant(blocksOf(value.content, at), at);
      if (message !== undefined) messages.push(message);
      return;
    }
    case 'system': {
      const content = systemText(value.content, at);
      if (content !== '') messages.push({ role: 'system', content });
      return;
    }
    default:
      throw unsupported(`${where}.role`, 'another value');
  }
}

/** One text is written as a text, which every server reads. */
function contentOf(parts: readonly ChatPart[]): JsonValue {
  const [first, ...others] = parts;
  const text = first !== undefined && others.length === 0 && first.type === 'text' ? first.text : undefined;
  return text ?? parts;
}

/** Undefined for a turn of nothing but thoughts, which no other model can use: their signature is one vendor's. */
function toAssistant(blocks: readonly JsonObject[], where: string): JsonObject | undefined {
  let text = '';
  const calls: JsonObject[] = [];
  for (const [index, block] of blocks.entries()) {
    const at = `${where}[${index}]`;
    switch (stringAt(block, 'type') ?? '') {
      case 'text':
        text += textAt(block, 'text', at);
        break;
      case 'tool_use':
        calls.push(toToolCall(block, at));
        break;
      case 'thinking':
      case 'redacted_thinking':
        break;
      default:
        throw unsupportedType(at, 'block', stringAt(block, 'type') ?? '');
    }
  }
  if (text === '' && calls.length === 0) return undefined;
  if (calls.length === 0) return { role: 'assistant', content: text };
  return { role: 'assistant', content: text === '' ? null : text, tool_calls: calls };
}

function toToolCall(block: JsonObject, where: string): JsonObject {
  const written = JSON.stringify(objectAt(block, 'input') ?? {});
  const called = { name: textAt(block, 'name', where), arguments: written };
  return { id: textAt(block, 'id', where), type: 'function', function: called };
}
