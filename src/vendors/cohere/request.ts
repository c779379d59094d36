import { ApiError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import type { ChatRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import {
  functionsIn,
  refuseUntranslated,
  requiredObject,
  requiredText,
  responseFormatIn,
  stopSequencesIn,
  toolCallsIn,
  toolChoiceIn,
} from '../kit/chat-fields.ts';
import { isList, isObject, itemsAt, objectAt, stringAt } from '../kit/json.ts';
import { invalid, refuseOutside } from '../kit/refusals.ts';
import type { WireValue } from '../kit/wire.ts';

const STOPS_MAX = 5;
const P_MIN = 0.01;
const P_MAX = 0.99;

/** A chat request as the vendor has it, but for the model. Throws ApiError. */
export function toWire(request: ChatRequest): { readonly [field: string]: WireValue } {
  const { body } = request;
  if (request.n > 1) throw unsupported('n', { atMost: 1 });
  refuseUntranslated(body, TRANSLATED, NEUTRAL);
  for (const penalty of ['frequency_penalty', 'presence_penalty'])
    refuseOutside(penalty, numberAt(body, penalty), 0, 1);
  const stops = stopSequencesIn(body);
  if (stops !== undefined && stops.length > STOPS_MAX) throw unsupported('stop', { atMost: STOPS_MAX, unit: 'texts' });
  return {
    messages: itemsAt(body, 'messages').map(toMessage),
    max_tokens: request.maxOutputTokens ?? request.heldOutputTokens,
    temperature: body.temperature ?? undefined,
    p: probabilityOf(numberAt(body, 'top_p')),
    seed: body.seed ?? undefined,
    frequency_penalty: body.frequency_penalty ?? undefined,
    presence_penalty: body.presence_penalty ?? undefined,
    stop_sequences: stops,
    response_format: formatOf(body),
    thinking: thinkingOf(body),
    ...toolsOf(body),
  };
}

/** Translated, or left out because they change nothing in the answer. */
const TRANSLATED = new Set([
  ...['model', 'messages', 'n', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'stop', 'seed'],
  ...['tools', 'tool_choice', 'response_format', 'temperature', 'top_p', 'frequency_penalty', 'presence_penalty'],
  ...['reasoning_effort', 'user', 'safety_identifier', 'metadata', 'store', 'service_tier', 'prompt_cache_key'],
  ...['prompt_cache_retention', 'verbosity', 'prediction'],
]);

/** Fields that change what the answer is, with the values that do not. Its probabilities are of another shape. */
const NEUTRAL: ReadonlyMap<string, readonly string[]> = new Map([
  ['logprobs', ['false']],
  ['top_logprobs', ['0']],
  ['logit_bias', ['{}']],
  ['functions', ['[]']],
  ['modalities', ['[]', '["text"]']],
  ['parallel_tool_calls', ['true']],
]);

/** Numbers are as they were written, and may have to be read first. */
function numberAt(body: JsonObject, field: string): number | undefined {
  const value = body[field];
  return value === undefined || value === null ? undefined : Number(JSON.stringify(value));
}

/** All of the probability, or none, is out of its range; what is nearest to it makes no difference. */
function probabilityOf(p: number | undefined): number | undefined {
  return p === undefined ? undefined : Math.min(Math.max(p, P_MIN), P_MAX);
}

function formatOf(body: JsonObject): WireValue {
  const { type, schema } = responseFormatIn(body);
  return type === 'text' ? undefined : { type: 'json_object', json_schema: schema };
}

function thinkingOf({ reasoning_effort: effort }: JsonObject): WireValue {
  if (effort === undefined || effort === null) return undefined;
  return { type: effort === 'none' ? 'disabled' : 'enabled' };
}

/** One tool by name is any tool out of that one alone. */
function toolsOf(body: JsonObject): Readonly<Record<string, WireValue>> {
  const functions = functionsIn(body);
  const choice = toolChoiceIn(body);
  if (functions.length === 0) {
    if (choice === 'required' || typeof choice === 'object') throw invalid('tool_choice', 'needs "tools"');
    return {};
  }
  const chosen = typeof choice === 'object' ? functions.filter(({ name }) => name === choice.name) : functions;
  if (chosen.length === 0) throw invalid('tool_choice', 'names no tool of "tools"');
  return {
    tools: chosen.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters: { type: 'object', ...parameters } },
    })),
    strict_tools: chosen.every(({ isStrict }) => isStrict) || undefined,
    tool_choice:
      typeof choice === 'object' || choice === 'required' ? 'REQUIRED' : choice === 'none' ? 'NONE' : undefined,
  };
}

function toMessage(item: JsonValue, index: number): WireValue {
  const where = `messages[${index}]`;
  const message = requiredObject(item, where);
  const role = stringAt(message, 'role') ?? '';
  switch (role) {
    case 'developer':
    case 'system':
      return { role: 'system', content: textOnly(message, where) };
    case 'user':
      return { role, content: contentOf(message, where) };
    case 'assistant':
      return { role, ...spokenIn(message, where) };
    case 'tool':
      return { role, tool_call_id: requiredText(message, 'tool_call_id', where), content: textOnly(message, where) };
    default:
      throw new ApiError('invalid_parameter', { message: `"${where}.role" is not known.`, param: 'messages' });
  }
}

/** Arguments go back as they were written. */
function spokenIn(message: JsonObject, where: string): Readonly<Record<string, WireValue>> {
  const calls = toolCallsIn(message, where).map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  const text = message.content === null || message.content === undefined ? '' : textOnly(message, where);
  return { content: text === '' ? undefined : text, tool_calls: calls.length > 0 ? calls : undefined };
}

function textOnly(message: JsonObject, where: string): string {
  const parts = contentOf(message, where);
  if (typeof parts === 'string') return parts;
  return parts.map((part) => stringAt(part, 'text') ?? refusePart(`${where}.content`, ['text'])).join('');
}

function contentOf(message: JsonObject, where: string): string | JsonObject[] {
  const { content } = message;
  if (typeof content === 'string') return content;
  if (!isList(content)) throw invalid(`${where}.content`, 'is not a text or a list of parts');
  return content.map((part) => {
    const url = isObject(part) ? objectAt(part, 'image_url') : undefined;
    if (isObject(part) && part.type === 'text') return { type: 'text', text: requiredText(part, 'text', where) };
    if (url !== undefined) return { type: 'image_url', image_url: { ...url, url: requiredText(url, 'url', where) } };
    return refusePart(`${where}.content`, ['text', 'image_url']);
  });
}

function refusePart(where: string, types: readonly string[]): never {
  throw unsupported(where, { oneOf: types });
}
