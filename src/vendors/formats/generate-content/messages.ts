import type { JsonObject, JsonValue } from '../../../json.ts';
import { unsupported } from '../../../unsupported.ts';
import { type ChatToolCall, requiredObject, requiredText, toolCallsIn } from '../../kit/chat-fields.ts';
import { parseDataUrl } from '../../kit/data-url.ts';
import { isObject, objectAt, stringAt } from '../../kit/json.ts';
import { invalid } from '../../kit/refusals.ts';

export type WirePart = {
  readonly text?: string;
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
  readonly functionCall?: { readonly id: string; readonly name: string; readonly args: JsonObject };
  readonly functionResponse?: { readonly id: string; readonly name: string; readonly response: JsonObject };
  readonly thoughtSignature?: string;
};

export type WireContent = {
  readonly role: 'user' | 'model';
  readonly parts: readonly WirePart[];
};

export interface Conversation {
  readonly systemInstruction: { readonly parts: readonly WirePart[] } | undefined;
  readonly contents: readonly WireContent[];
}

/** Chat messages in the vendor's two roles, with what the system said apart. */
export function toConversation(messages: readonly unknown[], upstreamModel: string): Conversation {
  const system: WirePart[] = [];
  const contents: WireContent[] = [];
  const names = new Map<string, string>();
  // Answers to calls made together belong into one turn.
  let responses: WirePart[] | undefined;
  messages.forEach((value, index) => {
    const at = `messages[${index}]`;
    const message = requiredObject(value, at);
    if (message.role === 'tool') {
      if (responses === undefined) {
        responses = [];
        contents.push({ role: 'user', parts: responses });
      }
      responses.push(toResponse(message, names, at));
      return;
    }
    responses = undefined;
    if (message.role === 'system' || message.role === 'developer') addTexts(system, message, at);
    else if (message.role === 'user') contents.push({ role: 'user', parts: userParts(message, at) });
    else if (message.role === 'assistant') addTurn(contents, assistantParts(message, names, upstreamModel, at));
    else throw unsupported(`${at}.role`, 'another value');
  });
  if (contents.length === 0) throw invalid('messages', 'holds nothing to answer');
  return { systemInstruction: system.length === 0 ? undefined : { parts: system }, contents };
}

/** The vendor refuses an instruction without text. */
function addTexts(system: WirePart[], message: JsonObject, at: string): void {
  for (const part of textParts(message, at)) if (part.text !== '') system.push(part);
}

/** The vendor refuses a turn without parts. */
function addTurn(contents: WireContent[], parts: readonly WirePart[]): void {
  if (parts.length > 0) contents.push({ role: 'model', parts });
}

function textParts({ content }: JsonObject, at: string): WirePart[] {
  if (typeof content === 'string') return [{ text: content }];
  if (!Array.isArray(content)) throw invalid(`${at}.content`, 'is neither a text nor a list');
  return content.map((value: JsonValue, index) => {
    const part = requiredObject(value, `${at}.content[${index}]`);
    // What the model once refused in, it said.
    const text = stringAt(part, part.type === 'refusal' ? 'refusal' : 'text');
    if (text === undefined) throw unsupported(`${at}.content[${index}]`, { oneOf: ['text'] });
    return { text };
  });
}

function userParts(message: JsonObject, at: string): WirePart[] {
  const { content } = message;
  if (!Array.isArray(content)) return textParts(message, at);
  return content.map((value: JsonValue, index) => toUserPart(value, `${at}.content[${index}]`));
}

function toUserPart(value: JsonValue, at: string): WirePart {
  const part = requiredObject(value, at);
  switch (stringAt(part, 'type') ?? '') {
    case 'text':
      return { text: requiredText(part, 'text', at) };
    case 'image_url':
      return fromDataUrl(requiredText(requiredObject(part.image_url, `${at}.image_url`), 'url', `${at}.image_url`), at);
    case 'input_audio': {
      const audio = requiredObject(part.input_audio, `${at}.input_audio`);
      const mimeType = `audio/${requiredText(audio, 'format', `${at}.input_audio`)}`;
      return { inlineData: { mimeType, data: requiredText(audio, 'data', `${at}.input_audio`) } };
    }
    case 'file': {
      const data = stringAt(requiredObject(part.file, `${at}.file`), 'file_data');
      if (data === undefined) throw unsupported(`${at}.file`, { oneOf: ['file_data'] });
      return fromDataUrl(data, at);
    }
    default:
      throw unsupported(`${at}.type`, 'another value');
  }
}

/** The vendor fetches nothing, and nothing here may. */
function fromDataUrl(url: string, at: string): WirePart {
  const inlineData = parseDataUrl(url);
  if (inlineData === undefined || inlineData.mimeType === '') {
    throw unsupported(at, { oneOf: ['data URLs with base64'] });
  }
  return { inlineData };
}

function assistantParts(message: JsonObject, names: Map<string, string>, model: string, at: string): WirePart[] {
  if (isObject(message.function_call) || isObject(message.audio)) {
    throw unsupported(message.audio ? `${at}.audio` : `${at}.function_call`);
  }
  const content = message.content ?? message.refusal ?? '';
  const parts = content === '' ? [] : textParts({ content }, at);
  const calls = toolCallsIn(message, at);
  for (const { id, name } of calls) names.set(id, name);
  return [...parts, ...signed(calls.map(toCallPart), model)];
}

function toCallPart({ id, name, input, call }: ChatToolCall): WirePart {
  const thoughtSignature = stringAt(objectAt(call, 'extra_content'), 'thought_signature');
  const functionCall = { id, name, args: input };
  return thoughtSignature === undefined ? { functionCall } : { functionCall, thoughtSignature };
}

/** The vendor's own word for a call whose signature was lost, or that another model made. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

/** From its third generation on the vendor refuses a turn of calls whose first carries no signature. */
function signed(calls: WirePart[], model: string): WirePart[] {
  const [first, ...others] = calls;
  if (first === undefined || !/(^|\/)gemini-([3-9]|\d\d)/.test(model)) return calls;
  if (calls.some((call) => call.thoughtSignature !== undefined)) return calls;
  return [{ ...first, thoughtSignature: NO_SIGNATURE }, ...others];
}

function toResponse(message: JsonObject, names: ReadonlyMap<string, string>, at: string): WirePart {
  const id = requiredText(message, 'tool_call_id', at);
  const name = names.get(id);
  if (name === undefined) throw invalid(`${at}.tool_call_id`, 'names no call made before it');
  const output = textParts(message, at)
    .map(({ text }) => text)
    .join('');
  return { functionResponse: { id, name, response: { output } } };
}
