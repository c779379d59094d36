import { ApiError } from '../../errors.ts';
import { JsonError, type JsonObject, type JsonValue, parseJson } from '../../json.ts';
import { unsupported } from '../../unsupported.ts';
import { isObject, itemsAt, objectAt, stringAt } from '../kit/json.ts';

export interface WirePart {
  readonly text?: string;
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
  readonly functionCall?: { readonly id: string; readonly name: string; readonly args: JsonObject };
  readonly functionResponse?: { readonly id: string; readonly name: string; readonly response: JsonObject };
  readonly thoughtSignature?: string;
}

export interface WireContent {
  readonly role: 'user' | 'model';
  readonly parts: readonly WirePart[];
}

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
    const message = objectOf(value, at);
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
  if (contents.length === 0) throw invalid('"messages" holds nothing to answer.');
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
  if (!Array.isArray(content)) throw invalid(`"${at}.content" is neither a text nor a list.`);
  return content.map((value: JsonValue, index) => {
    const part = objectOf(value, `${at}.content[${index}]`);
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
  const part = objectOf(value, at);
  switch (stringAt(part, 'type') ?? '') {
    case 'text':
      return { text: textOf(part, 'text', at) };
    case 'image_url':
      return fromDataUrl(textOf(objectOf(part.image_url, `${at}.image_url`), 'url', `${at}.image_url`), at);
    case 'input_audio': {
      const audio = objectOf(part.input_audio, `${at}.input_audio`);
      const mimeType = `audio/${textOf(audio, 'format', `${at}.input_audio`)}`;
      return { inlineData: { mimeType, data: textOf(audio, 'data', `${at}.input_audio`) } };
    }
    case 'file': {
      const data = stringAt(objectOf(part.file, `${at}.file`), 'file_data');
      if (data === undefined) throw unsupported(`${at}.file`, { oneOf: ['file_data'] });
      return fromDataUrl(data, at);
    }
    default:
      throw unsupported(`${at}.type`, 'another value');
  }
}

/** `data:<type>;base64,<data>`. The vendor fetches nothing, and nothing here may. */
function fromDataUrl(url: string, at: string): WirePart {
  const comma = url.startsWith('data:') ? url.indexOf(',') : -1;
  const [mimeType = '', ...parameters] = comma === -1 ? [] : url.slice('data:'.length, comma).split(';');
  if (mimeType === '' || parameters.at(-1) !== 'base64') {
    throw unsupported(at, { oneOf: ['data URLs with base64'] });
  }
  return { inlineData: { mimeType, data: url.slice(comma + 1) } };
}

function assistantParts(message: JsonObject, names: Map<string, string>, model: string, at: string): WirePart[] {
  if (isObject(message.function_call) || isObject(message.audio)) {
    throw unsupported(message.audio ? `${at}.audio` : `${at}.function_call`);
  }
  const said = message.content ?? message.refusal ?? '';
  const parts = said === '' ? [] : textParts({ content: said }, at);
  const calls = itemsAt(message, 'tool_calls').map((call, index) => toCall(call, names, `${at}.tool_calls[${index}]`));
  return [...parts, ...signed(calls, model)];
}

function toCall(value: JsonValue, names: Map<string, string>, at: string): WirePart {
  const call = objectOf(value, at);
  const called = objectAt(call, 'function');
  if (called === undefined) throw unsupported(at, { oneOf: ['functions'] });
  const id = textOf(call, 'id', at);
  const name = textOf(called, 'name', `${at}.function`);
  names.set(id, name);
  const functionCall = { id, name, args: toArguments(stringAt(called, 'arguments') ?? '', at) };
  const extra = objectAt(call, 'extra_content');
  const thoughtSignature = extra === undefined ? undefined : stringAt(extra, 'thought_signature');
  return thoughtSignature === undefined ? { functionCall } : { functionCall, thoughtSignature };
}

function toArguments(text: string, at: string): JsonObject {
  if (text.trim() === '') return {};
  try {
    const value = parseJson(text).exact();
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  throw invalid(`"${at}.function.arguments" is not a JSON object.`);
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
  const id = textOf(message, 'tool_call_id', at);
  const name = names.get(id);
  if (name === undefined) throw invalid(`"${at}.tool_call_id" names no call made before it.`);
  const output = textParts(message, at)
    .map(({ text }) => text)
    .join('');
  return { functionResponse: { id, name, response: { output } } };
}

function objectOf(value: unknown, at: string): JsonObject {
  if (!isObject(value)) throw invalid(`"${at}" is not an object.`);
  return value;
}

function textOf(value: JsonObject, key: string, at: string): string {
  const text = stringAt(value, key);
  if (text === undefined) throw invalid(`"${at}.${key}" is not a text.`);
  return text;
}

function invalid(message: string): ApiError {
  return new ApiError('invalid_parameter', { message });
}
