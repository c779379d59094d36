import { ApiError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import type { ChatRequest } from '../../requests/index.ts';
import { unsupported } from '../../unsupported.ts';
import { isObject, itemsAt, objectAt, stringAt } from '../kit/json.ts';
import { toConversation, type WireContent, type WirePart } from './messages.ts';

/** The body of generateContent, as far as chat needs it. What is undefined is not written. */
export interface WireRequest {
  readonly systemInstruction: { readonly parts: readonly WirePart[] } | undefined;
  readonly contents: readonly WireContent[];
  readonly tools: JsonObject[] | undefined;
  readonly toolConfig: JsonObject | undefined;
  readonly generationConfig: Readonly<Record<string, JsonValue | undefined>>;
}

/** Pure. Throws ApiError for what the format cannot express. */
export function toWire(request: ChatRequest, upstreamModel: string): WireRequest {
  const { body } = request;
  for (const key of Object.keys(body)) refuseUnsupported(key, body[key]);
  return {
    ...toConversation(request.messages, upstreamModel),
    tools: toTools(itemsAt(body, 'tools')),
    toolConfig: toToolConfig(given(body, 'tool_choice')),
    generationConfig: {
      // Numbers are passed on as they were written; the upstream knows its own limits.
      temperature: given(body, 'temperature'),
      topP: given(body, 'top_p'),
      topK: given(body, 'top_k'),
      presencePenalty: given(body, 'presence_penalty'),
      frequencyPenalty: given(body, 'frequency_penalty'),
      seed: given(body, 'seed'),
      candidateCount: request.n === 1 ? undefined : request.n,
      maxOutputTokens: request.maxOutputTokens,
      stopSequences: toStopSequences(given(body, 'stop')),
      thinkingConfig: toThinkingConfig(given(body, 'reasoning_effort')),
      ...toResponseFormat(given(body, 'response_format')),
    },
  };
}

function given(body: JsonObject, key: string): JsonValue | undefined {
  return body[key] ?? undefined;
}

/** Translated above, or of no meaning to the answer. */
const TAKEN = new Set([
  ...['model', 'messages', 'stream', 'stream_options', 'n', 'max_tokens', 'max_completion_tokens', 'tools'],
  ...['tool_choice', 'temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty', 'seed', 'stop'],
  ...['response_format', 'reasoning_effort', 'user', 'metadata', 'store', 'safety_identifier'],
  ...['prompt_cache_key', 'prompt_cache_retention'],
]);

/** Fields that cannot be translated, with the values, as JSON, that ask for nothing. */
const NEUTRAL: ReadonlyMap<string, readonly string[]> = new Map([
  ['logprobs', ['false']],
  ['logit_bias', ['{}']],
  ['modalities', ['["text"]']],
  ['parallel_tool_calls', ['true']],
  ['service_tier', ['"auto"', '"default"']],
  ['verbosity', ['"medium"']],
]);

function refuseUnsupported(key: string, value: JsonValue | undefined): void {
  if (TAKEN.has(key) || value === null || value === undefined) return;
  const neutral = NEUTRAL.get(key);
  if (neutral === undefined) throw unsupported(key.slice(0, 100));
  if (!neutral.includes(JSON.stringify(value))) throw unsupported(key, 'another value');
}

function toTools(tools: readonly JsonValue[]): JsonObject[] | undefined {
  if (tools.length === 0) return undefined;
  return [{ functionDeclarations: tools.map(toDeclaration) }];
}

function toDeclaration(tool: JsonValue, index: number): JsonObject {
  const declared = isObject(tool) && tool.type === 'function' ? objectAt(tool, 'function') : undefined;
  if (declared === undefined) throw unsupported(`tools[${index}]`, { oneOf: ['functions'] });
  const name = stringAt(declared, 'name');
  if (name === undefined) throw invalid(`"tools[${index}].function.name" is not a text.`);
  const { description, parameters } = declared;
  return {
    name,
    ...(typeof description === 'string' ? { description } : {}),
    ...(isObject(parameters) ? { parametersJsonSchema: parameters } : {}),
  };
}

const MODES: ReadonlyMap<unknown, string> = new Map([
  ['none', 'NONE'],
  ['auto', 'AUTO'],
  ['required', 'ANY'],
]);

function toToolConfig(choice: JsonValue | undefined): JsonObject | undefined {
  if (choice === undefined) return undefined;
  const mode = MODES.get(choice);
  if (mode !== undefined) return { functionCallingConfig: { mode } };
  const named = isObject(choice) && choice.type === 'function' ? objectAt(choice, 'function') : undefined;
  const name = named === undefined ? undefined : stringAt(named, 'name');
  if (name === undefined) throw unsupported('tool_choice', 'another value');
  return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [name] } };
}

function toStopSequences(stop: JsonValue | undefined): JsonValue | undefined {
  return typeof stop === 'string' ? [stop] : stop;
}

const LEVELS: ReadonlyMap<unknown, JsonObject> = new Map<unknown, JsonObject>([
  // There is no level for not thinking at all.
  ['none', { thinkingBudget: 0 }],
  ['minimal', { thinkingLevel: 'MINIMAL' }],
  ['low', { thinkingLevel: 'LOW' }],
  ['medium', { thinkingLevel: 'MEDIUM' }],
  ['high', { thinkingLevel: 'HIGH' }],
]);

function toThinkingConfig(effort: JsonValue | undefined): JsonObject | undefined {
  if (effort === undefined) return undefined;
  const level = LEVELS.get(effort);
  if (level === undefined) throw unsupported('reasoning_effort', 'another value');
  return level;
}

function toResponseFormat(format: JsonValue | undefined): JsonObject {
  switch (format === undefined ? 'text' : isObject(format) ? (stringAt(format, 'type') ?? '') : '') {
    case 'text':
      return {};
    case 'json_object':
      return { responseMimeType: 'application/json' };
    case 'json_schema':
      return { responseMimeType: 'application/json', ...toSchema(format) };
    default:
      throw unsupported('response_format', 'another value');
  }
}

function toSchema(format: JsonValue | undefined): JsonObject {
  const named = isObject(format) ? objectAt(format, 'json_schema') : undefined;
  if (named === undefined) throw invalid('"response_format.json_schema" is not an object.');
  return isObject(named.schema) ? { responseJsonSchema: named.schema } : {};
}

function invalid(message: string): ApiError {
  return new ApiError('invalid_parameter', { message });
}
