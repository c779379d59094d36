import type { JsonObject, JsonValue } from '../../../json.ts';
import { unsupported } from '../../../unsupported.ts';
import { requiredObject, requiredText, toolCallsIn } from '../../kit/chat-fields.ts';
import { isList, stringAt } from '../../kit/json.ts';
import type { WireValue } from '../../kit/wire.ts';
import { toBlocks } from './content.ts';

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
  for (const [index, value] of messages.entries()) {
    const where = `messages[${index}]`;
    const message = requiredObject(value, where);
    switch (stringAt(message, 'role') ?? '') {
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
  const marked = blocks.map((block) => ({ type: 'text', text: `<system>\n${stringAt(block, 'text')}\n</system>` }));
  if (turns.length === 0) system.push(...blocks);
  else add(turns, 'user', marked);
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
    if ((message[field] ?? undefined) !== undefined) throw unsupported(`${where}.${field}`);
  }
  const calls = toolCallsIn(message, where).map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }));
  return [...toBlocks(message.content ?? message.refusal, `${where}.content`, 'text'), ...calls];
}

function toolResult(message: JsonObject, where: string): WireValue {
  const { content } = message;
  return {
    type: 'tool_result',
    tool_use_id: requiredText(message, 'tool_call_id', where),
    content: isList(content) ? toBlocks(content, `${where}.content`, 'media') : stringAt(message, 'content'),
  };
}
