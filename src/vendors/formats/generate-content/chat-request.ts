import type { JsonObject, JsonValue } from '../../../json.ts';
import type { ChatRequest } from '../../../schemas/index.ts';
import { unsupported } from '../../../unsupported.ts';
import {
  functionsIn,
  refuseUntranslated,
  responseFormatIn,
  stopSequencesIn,
  toolChoiceIn,
} from '../../kit/chat-fields.ts';
import { defined } from '../../kit/json.ts';
import { toConversation, type WireContent, type WirePart } from './messages.ts';

/** The body of generateContent, as far as chat needs it. What is undefined is not written. */
export type WireRequest = {
  readonly systemInstruction: { readonly parts: readonly WirePart[] } | undefined;
  readonly contents: readonly WireContent[];
  readonly tools: JsonObject[] | undefined;
  readonly toolConfig: JsonObject | undefined;
  readonly generationConfig: Readonly<Record<string, JsonValue | undefined>>;
};

/** Pure. Throws ApiError for what the format cannot express. */
export function toWire(request: ChatRequest, upstreamModel: string): WireRequest {
  const { body } = request;
  refuseUntranslated(body, TRANSLATED, NEUTRAL);
  return {
    ...toConversation(request.messages, upstreamModel),
    tools: toTools(body),
    toolConfig: toToolConfig(body),
    generationConfig: {
      // Numbers are passed on as they were written; the upstream knows its own limits.
      temperature: body.temperature ?? undefined,
      topP: body.top_p ?? undefined,
      topK: body.top_k ?? undefined,
      presencePenalty: body.presence_penalty ?? undefined,
      frequencyPenalty: body.frequency_penalty ?? undefined,
      seed: body.seed ?? undefined,
      candidateCount: request.n === 1 ? undefined : request.n,
      maxOutputTokens: request.maxOutputTokens,
      stopSequences: stopSequencesIn(body),
      thinkingConfig: toThinkingConfig(body.reasoning_effort ?? undefined),
      ...toResponseFormat(body),
    },
  };
}

/** Translated above, or of no meaning to the answer. */
const TRANSLATED = new Set([
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

function toTools(body: JsonObject): JsonObject[] | undefined {
  const functionDeclarations = functionsIn(body).map(({ name, description, parameters }) =>
    defined({ name, description, parametersJsonSchema: parameters }),
  );
  return functionDeclarations.length === 0 ? undefined : [{ functionDeclarations }];
}

const MODES = { none: 'NONE', auto: 'AUTO', required: 'ANY' } as const;

function toToolConfig(body: JsonObject): JsonObject | undefined {
  const choice = toolChoiceIn(body);
  if (choice === undefined) return undefined;
  if (typeof choice === 'string') return { functionCallingConfig: { mode: MODES[choice] } };
  return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [choice.name] } };
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

function toResponseFormat(body: JsonObject): JsonObject {
  const { type, schema } = responseFormatIn(body);
  if (type === 'text') return {};
  return { responseMimeType: 'application/json', ...defined({ responseJsonSchema: schema }) };
}
