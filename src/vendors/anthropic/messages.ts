import type { JsonObject, JsonValue } from '../../json.ts';
import { parseJson } from '../../json.ts';
import { unsupported } from '../../unsupported.ts';
import { isList, isObject } from '../kit/json.ts';
import { toBlocks } from './content.ts';
import { invalid, isGiven, listOf, textOf, type WireValue } from './fields.ts';

interface Conversation {
  readonly system: readonly WireValue[];
  readonly messages: readonly WireValue[];
}

/** `results` go in front of `blocks`: the format takes the answers to tool calls first. */
interface Turn {
  readonly role: 'user' | 'assistant';
  readonly results: WireValue[];
  readonly blocks: WireValue[];
}

/** Messages that follow one another in the same role become one turn; those that say nothing are left out. */
export function toConversation(messages: readonly JsonValue[]): Conversation {
  const system: WireValue[] = [];
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const where = `messages[${index}]`;
    if (!isObject(message)) throw invalid(where, 'is not an object');
    switch (textOf(message.role) ?? '') {
      case 'system':
      case 'developer':
        addSystem(system, turns, toBlocks(message.content, `${where}.content`, 'text'));
        break;
      case 'user':
        add(turns, 'user', toBlocks(message.content, `${where}.content`, 'media'));
        break;
      case 'assistant':
        add(turns, 'assistant', assistantBlocks(message, where));
        break;
      case 'tool':
        turnOf(turns, 'user').results.push(toolResult(message, where));
        break;
      default:
        throw unsupported(`${where}.role`, 'another value');
    }
  }
  return { system, messages: turns.map(({ role, results, blocks }) => ({ role, content: [...results, ...blocks] })) };
}

/** Only newer models know a system message inside the conversation; every model reads it as marked text of the user. */
function addSystem(system: WireValue[], turns: Turn[], blocks: readonly JsonObject[]): void {
  if (turns.length === 0) system.push(...blocks);
  else
    add(
      turns,
      'user',
      blocks.map(({ text }) => ({ type: 'text', text: `<system>\n${textOf(text)}\n</system>` })),
    );
}

function add(turns: Turn[], role: Turn['role'], blocks: readonly WireValue[]): void {
  if (blocks.length > 0) turnOf(turns, role).blocks.push(...blocks);
}

function turnOf(turns: Turn[], role: Turn['role']): Turn {
  const last = turns.at(-1);
  if (last?.role === role) return last;
  const turn: Turn = { role, results: [], blocks: [] };
  turns.push(turn);
  return turn;
}

function assistantBlocks(message: JsonObject, where: string): WireValue[] {
  for (const field of ['function_call', 'audio']) {
    if (isGiven(message[field])) throw unsupported(`${where}.${field}`);
  }
  const said = isGiven(message.content) ? message.content : message.refusal;
  const calls = listOf(message.tool_calls);
  return [
    ...toBlocks(said, `${where}.content`, 'text'),
    ...calls.map((call, index) => toolUse(call, `${where}.tool_calls[${index}]`)),
  ];
}

function toolUse(call: JsonValue, where: string): WireValue {
  const made = isObject(call) ? call.function : undefined;
  if (!isObject(call) || !isObject(made)) throw unsupported(where, { oneOf: ['functions'] });
  const id = textOf(call.id);
  const name = textOf(made.name);
  if (id === undefined || name === undefined) throw invalid(where, 'needs an "id" and the name of its function');
  return { type: 'tool_use', id, name, input: toInput(made.arguments, `${where}.function.arguments`) };
}

/** The arguments with every number as it was written. */
function toInput(text: JsonValue | undefined, where: string): JsonObject {
  if (!isGiven(text) || text === '') return {};
  let input: unknown;
  try {
    input = typeof text === 'string' ? parseJson(text).exact() : undefined;
  } catch {
    input = undefined;
  }
  if (!isObject(input)) throw invalid(where, 'is not a JSON object written as text');
  return input;
}

function toolResult(message: JsonObject, where: string): WireValue {
  const id = textOf(message.tool_call_id);
  if (id === undefined) throw invalid(`${where}.tool_call_id`, 'is missing');
  const { content } = message;
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: isList(content) ? toBlocks(content, `${where}.content`, 'media') : textOf(content),
  };
}
