import { ApiError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { isList, isObject, stringAt } from '../../json-read.ts';
import { quoted } from '../../quoted.ts';
import { invalid } from '../../unsupported.ts';
import { wireName } from './tools.ts';

type Message = Record<string, JsonValue>;

/** Input items as messages of chat. Throws ApiError, naming the place, for what chat has no word for. */
export function toMessages(instructions: string | undefined, input: readonly JsonObject[]): JsonObject[] {
  const conversation = new Conversation();
  if (instructions !== undefined) conversation.add({ role: 'system', content: instructions });
  for (const [at, item] of input.entries()) addItem(conversation, item, `input[${at}]`);
  return conversation.end();
}

interface CallOutput {
  readonly callId: string;
  readonly text: string;
  /** Pictures and files, as parts of chat. */
  readonly media: readonly JsonValue[];
}

/**
 * Messages in the order in which chat wants them: calls in the message of the assistant before them, their outputs right
 * behind it, and only then the pictures and files of those outputs, which no message of a tool may hold.
 */
class Conversation {
  readonly #messages: Message[] = [];
  #mediaOfOutputs: JsonValue[] = [];

  add(message: Message): void {
    this.#flush();
    this.#messages.push(message);
  }

  addCall(call: JsonObject): void {
    this.#flush();
    const last = this.#messages.at(-1);
    if (last?.role === 'assistant') {
      const calls = isList(last.tool_calls) ? last.tool_calls : [];
      last.tool_calls = [...calls, call];
    } else {
      this.#messages.push({ role: 'assistant', content: null, tool_calls: [call] });
    }
  }

  addOutput({ callId, text, media }: CallOutput): void {
    this.#messages.push({ role: 'tool', tool_call_id: callId, content: text });
    if (media.length === 0) return;
    this.#mediaOfOutputs.push({ type: 'text', text: `From the output of the call ${callId}:` }, ...media);
  }

  end(): JsonObject[] {
    this.#flush();
    return this.#messages;
  }

  #flush(): void {
    if (this.#mediaOfOutputs.length === 0) return;
    this.#messages.push({ role: 'user', content: this.#mediaOfOutputs });
    this.#mediaOfOutputs = [];
  }
}

function addItem(conversation: Conversation, item: JsonObject, where: string): void {
  const type = typeof item.type === 'string' ? item.type : 'message';
  switch (type) {
    case 'message':
      conversation.add(toMessage(item, where));
      return;
    case 'function_call':
      conversation.addCall(toCall(item, requiredText(item, 'arguments', where), where));
      return;
    case 'custom_tool_call':
      conversation.addCall(toCall(item, JSON.stringify({ input: requiredText(item, 'input', where) }), where));
      return;
    case 'function_call_output':
    case 'custom_tool_call_output':
      conversation.addOutput(toOutput(item, where));
      return;
    case 'reasoning':
      // Only the upstream that made it can read it, and that is not asked in chat.
      return;
    default:
      throw new ApiError('unsupported_parameter', {
        message: `"${where}.type": items of type ${quoted(type)} cannot be used here. Leave them out.`,
        param: `${where}.type`,
      });
  }
}

/** `developer` becomes `system`, which every upstream knows, and those that know both take for the same. */
const ROLES: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['system', 'system'],
  ['developer', 'system'],
]);

function toMessage(item: JsonObject, where: string): Message {
  const role = ROLES.get(item.role);
  if (role === undefined) throw invalid(`${where}.role`, 'is not one of user, assistant, system, developer');
  const { content } = item;
  if (typeof content === 'string') return { role, content };
  if (!isList(content)) throw invalid(`${where}.content`, 'is neither a text nor a list');
  const parts = content.map((part, at) => toPart(part, `${where}.content[${at}]`));
  if (role === 'user') return { role, content: textAlone(parts) ?? parts };
  const texts = parts.filter(({ type }) => type === 'text');
  const refusals = parts.filter(({ type }) => type === 'refusal');
  const media = parts.findIndex(({ type }) => type !== 'text' && type !== 'refusal');
  if (media >= 0) throw invalid(`${where}.content[${media}].type`, `cannot stand in a message of the ${role}`);
  const said = texts.length > 0 ? texts.map(textOfPart).join('') : null;
  return refusals.length === 0
    ? { role, content: said ?? '' }
    : { role, content: said, refusal: refusals.map((part) => stringAt(part, 'refusal') ?? '').join('') };
}

function textAlone(parts: readonly JsonObject[]): string | undefined {
  const [only] = parts;
  return parts.length === 1 && only?.type === 'text' ? textOfPart(only) : undefined;
}

function textOfPart(part: JsonObject): string {
  return stringAt(part, 'text') ?? '';
}

function toPart(part: JsonValue, where: string): JsonObject {
  if (!isObject(part)) throw invalid(where, 'is not an object');
  switch (stringAt(part, 'type') ?? '') {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: requiredText(part, 'text', where) };
    case 'refusal':
      return { type: 'refusal', refusal: requiredText(part, 'refusal', where) };
    case 'input_image':
      return toImage(part, where);
    case 'input_file':
      return toFile(part, where);
    default:
      throw invalid(`${where}.type`, 'is not one of input_text, input_image, input_file, output_text, refusal');
  }
}

function toImage(part: JsonObject, where: string): JsonObject {
  refuseFileId(part, where);
  const url = requiredText(part, 'image_url', where);
  const detail = stringAt(part, 'detail');
  return { type: 'image_url', image_url: detail === undefined ? { url } : { url, detail } };
}

function toFile(part: JsonObject, where: string): JsonObject {
  refuseFileId(part, where);
  const file_data = stringAt(part, 'file_data') ?? requiredText(part, 'file_url', where);
  const filename = stringAt(part, 'filename');
  return { type: 'file', file: filename === undefined ? { file_data } : { filename, file_data } };
}

function refuseFileId(part: JsonObject, where: string): void {
  if ((part.file_id ?? null) === null) return;
  throw new ApiError('unsupported_parameter', {
    message: `"${where}.file_id": give the file as a URL or as a data URL.`,
    param: `${where}.file_id`,
  });
}

function toCall(item: JsonObject, input: string, where: string): JsonObject {
  const name = requiredText(item, 'name', where);
  return {
    id: requiredText(item, 'call_id', where),
    type: 'function',
    function: { name: wireName({ name, namespace: stringAt(item, 'namespace') }), arguments: input },
  };
}

const MEDIA_NOTE = 'Its pictures and files follow.';

function toOutput(item: JsonObject, where: string): CallOutput {
  const callId = requiredText(item, 'call_id', where);
  const { output } = item;
  if (typeof output === 'string') return { callId, text: output, media: [] };
  if (!isList(output)) throw invalid(`${where}.output`, 'is neither a text nor a list');
  const parts = output.map((part, at) => toPart(part, `${where}.output[${at}]`));
  const media = parts.filter(({ type }) => type !== 'text');
  const texts = parts.filter(({ type }) => type === 'text').map(textOfPart);
  return { callId, text: [...texts, ...(media.length > 0 ? [MEDIA_NOTE] : [])].join('\n'), media };
}

function requiredText(from: JsonObject, key: string, where: string): string {
  const text = stringAt(from, key);
  if (text === undefined) throw invalid(`${where}.${key}`, 'is not a text');
  return text;
}
