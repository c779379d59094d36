import { ApiError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import type { ChatRequest } from '../../requests/index.ts';
import { unsupported } from '../../unsupported.ts';
import { isList, isObject } from '../kit/json.ts';
import { invalid, isGiven, listOf, textOf, type WireValue } from './fields.ts';
import { toConversation } from './messages.ts';

const MAX_TOKENS_DEFAULT = 4096;

/** The format requires a limit; callers of chat completions seldom give one. */
export function outputTokensMax({ maxOutputTokens, heldOutputTokens }: ChatRequest): number {
  return maxOutputTokens ?? heldOutputTokens ?? MAX_TOKENS_DEFAULT;
}

/**
 * The body to send. Read from the exact body, so that numbers in schemas stay as written. `temperature`, `top_p`,
 * penalties and `seed` are left out: newer models refuse any value of them, and no caller means to be refused. So are
 * fields that change nothing in the answer, such as `store`, `metadata`, `service_tier` and `prompt_cache_key`.
 */
export function toWire(request: ChatRequest, model: string, stream: boolean): WireValue {
  const { body } = request;
  refuseUnsupported(request);
  const { system, messages } = toConversation(listOf(body.messages));
  if (messages.length === 0) {
    throw new ApiError('missing_messages', { message: 'Give at least one message that says something to the model.' });
  }
  const tools = toTools(listOf(body.tools));
  const user = textOf(body.safety_identifier) ?? textOf(body.user);
  return {
    model,
    max_tokens: outputTokensMax(request),
    system: system.length > 0 ? system : undefined,
    messages,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: toToolChoice(body, tools.length > 0),
    stop_sequences: toStopSequences(body.stop),
    thinking: body.reasoning_effort === 'none' ? { type: 'disabled' } : undefined,
    output_config: toOutputConfig(body),
    metadata: user === undefined ? undefined : { user_id: user },
    stream: stream ? true : undefined,
  };
}

const FIELD_CHARS_MAX = 100;

/** Fields that change what the answer is, and when they do. */
const REFUSED: readonly (readonly [field: string, isAsked: (value: JsonValue) => boolean])[] = [
  ['logprobs', (value) => value !== false],
  ['top_logprobs', (value) => value !== 0],
  ['logit_bias', (value) => !isObject(value) || Object.keys(value).length > 0],
  ['functions', (value) => !isList(value) || value.length > 0],
  ['function_call', () => true],
  ['web_search_options', () => true],
  ['audio', () => true],
  ['modalities', (value) => listOf(value).some((modality) => modality !== 'text')],
];

/** Translated, or left out because they change nothing, or nothing that any model of this format would let them. */
const TAKEN = new Set([
  ...['model', 'messages', 'n', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'stop'],
  ...['tools', 'tool_choice', 'parallel_tool_calls', 'response_format', 'reasoning_effort', 'user'],
  ...['safety_identifier', 'temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty', 'seed'],
  ...['metadata', 'store', 'service_tier', 'verbosity', 'prediction', 'prompt_cache_key', 'prompt_cache_retention'],
]);

function refuseUnsupported({ n, body }: ChatRequest): void {
  if (n > 1) throw unsupported('n', { atMost: 1 });
  const known = (field: string) => TAKEN.has(field) || REFUSED.some(([name]) => name === field);
  const unknown = Object.keys(body).find((field) => isGiven(body[field]) && !known(field));
  if (unknown !== undefined) throw unsupported(unknown.slice(0, FIELD_CHARS_MAX));
  for (const [field, isAsked] of REFUSED) {
    const value = body[field];
    if (isGiven(value) && isAsked(value)) throw unsupported(field);
  }
}

function toTools(tools: readonly JsonValue[]): WireValue[] {
  return tools.map((tool, index) => {
    const made = isObject(tool) ? tool.function : undefined;
    if (!isObject(tool) || tool.type !== 'function' || !isObject(made)) {
      throw unsupported(`tools[${index}]`, { oneOf: ['functions'] });
    }
    const name = textOf(made.name);
    if (name === undefined) throw invalid(`tools[${index}].function.name`, 'is missing');
    const parameters = isObject(made.parameters) ? made.parameters : {};
    return {
      name,
      description: textOf(made.description),
      input_schema: { type: 'object', ...parameters },
      strict: made.strict === true ? true : undefined,
    };
  });
}

function toToolChoice(body: JsonObject, hasTools: boolean): WireValue {
  const kind = choiceKind(body.tool_choice);
  const isSerial = body.parallel_tool_calls === false;
  if (!hasTools) {
    if (isGiven(kind) && kind.type !== 'auto' && kind.type !== 'none') throw invalid('tool_choice', 'needs "tools"');
    return undefined;
  }
  if (!isSerial || kind?.type === 'none') return kind;
  return { ...(kind ?? { type: 'auto' }), disable_parallel_tool_use: true };
}

function choiceKind(choice: JsonValue | undefined): JsonObject | undefined {
  if (!isGiven(choice)) return undefined;
  if (choice === 'none' || choice === 'auto') return { type: choice };
  if (choice === 'required') return { type: 'any' };
  const named = isObject(choice) && choice.type === 'function' ? choice.function : undefined;
  const name = isObject(named) ? textOf(named.name) : undefined;
  if (name === undefined) throw unsupported('tool_choice', 'another value');
  return { type: 'tool', name };
}

function toStopSequences(stop: JsonValue | undefined): readonly JsonValue[] | undefined {
  if (!isGiven(stop)) return undefined;
  const sequences = isList(stop) ? stop : [stop];
  if (!sequences.every((sequence) => typeof sequence === 'string'))
    throw invalid('stop', 'is not a text or a list of texts');
  return sequences.length > 0 ? sequences : undefined;
}

function toOutputConfig(body: JsonObject): WireValue {
  const effort = toEffort(body.reasoning_effort);
  const format = toFormat(body.response_format);
  return effort === undefined && format === undefined ? undefined : { effort, format };
}

const EFFORTS: ReadonlySet<string> = new Set(['low', 'medium', 'high', 'xhigh', 'max']);

function toEffort(effort: JsonValue | undefined): string | undefined {
  if (!isGiven(effort) || effort === 'none') return undefined;
  if (effort === 'minimal') return 'low';
  if (typeof effort !== 'string' || !EFFORTS.has(effort)) {
    throw unsupported('reasoning_effort', 'another value');
  }
  return effort;
}

function toFormat(format: JsonValue | undefined): JsonObject | undefined {
  if (!isGiven(format)) return undefined;
  const type = isObject(format) ? format.type : undefined;
  if (type === 'text') return undefined;
  if (!isObject(format) || type !== 'json_schema') {
    throw unsupported('response_format', 'another value');
  }
  const schema = isObject(format.json_schema) ? format.json_schema.schema : undefined;
  if (!isObject(schema)) throw invalid('response_format.json_schema.schema', 'is missing');
  return { type: 'json_schema', schema };
}
