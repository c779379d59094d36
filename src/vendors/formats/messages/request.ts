import { ApiError } from '../../../errors.ts';
import type { JsonObject, JsonValue } from '../../../json.ts';
import type { ChatRequest } from '../../../schemas/index.ts';
import { unsupported } from '../../../unsupported.ts';
import {
  type ChatFunction,
  functionsIn,
  refuseUntranslated,
  responseFormatIn,
  stopSequencesIn,
  type ToolChoice,
  toolChoiceIn,
} from '../../kit/chat-fields.ts';
import { itemsAt, stringAt } from '../../kit/json.ts';
import { invalid } from '../../kit/refusals.ts';
import type { WireValue } from '../../kit/wire.ts';
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
export function toWire(request: ChatRequest, model: string, stream: boolean): Readonly<Record<string, WireValue>> {
  const { body } = request;
  if (request.n > 1) throw unsupported('n', { atMost: 1 });
  refuseUntranslated(body, TRANSLATED, NEUTRAL);
  const { system, messages } = toConversation(itemsAt(body, 'messages'));
  if (messages.length === 0) {
    throw new ApiError('missing_messages', { message: 'Give at least one message that says something to the model.' });
  }
  const tools = functionsIn(body).map(toTool);
  const user = stringAt(body, 'safety_identifier') ?? stringAt(body, 'user');
  return {
    model,
    max_tokens: outputTokensMax(request),
    system: system.length > 0 ? system : undefined,
    messages,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: toToolChoice(body, tools.length > 0),
    stop_sequences: stopSequencesIn(body),
    thinking: body.reasoning_effort === 'none' ? { type: 'disabled' } : undefined,
    output_config: toOutputConfig(body),
    metadata: user === undefined ? undefined : { user_id: user },
    stream: stream ? true : undefined,
  };
}

/** Translated, or left out because they change nothing, or nothing that any model of this format would let them. */
const TRANSLATED = new Set([
  ...['model', 'messages', 'n', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'stop'],
  ...['tools', 'tool_choice', 'parallel_tool_calls', 'response_format', 'reasoning_effort', 'user'],
  ...['safety_identifier', 'temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty', 'seed'],
  ...['metadata', 'store', 'service_tier', 'verbosity', 'prediction', 'prompt_cache_key', 'prompt_cache_retention'],
]);

/** Fields that change what the answer is, with the values that do not. */
const NEUTRAL: ReadonlyMap<string, readonly string[]> = new Map([
  ['logprobs', ['false']],
  ['top_logprobs', ['0']],
  ['logit_bias', ['{}']],
  ['functions', ['[]']],
  ['modalities', ['[]', '["text"]']],
]);

function toTool({ name, description, parameters, isStrict }: ChatFunction): WireValue {
  return { name, description, input_schema: { type: 'object', ...parameters }, strict: isStrict || undefined };
}

function toToolChoice(body: JsonObject, hasTools: boolean): WireValue {
  const choice = toWireChoice(toolChoiceIn(body));
  if (!hasTools) {
    if (choice?.type === 'any' || choice?.type === 'tool') throw invalid('tool_choice', 'needs "tools"');
    return undefined;
  }
  if (body.parallel_tool_calls !== false || choice?.type === 'none') return choice;
  return { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true };
}

function toWireChoice(choice: ToolChoice | undefined): JsonObject | undefined {
  if (choice === undefined) return undefined;
  if (typeof choice === 'object') return { type: 'tool', name: choice.name };
  return { type: choice === 'required' ? 'any' : choice };
}

function toOutputConfig(body: JsonObject): WireValue {
  const effort = toEffort(body.reasoning_effort);
  const format = toFormat(body);
  return effort === undefined && format === undefined ? undefined : { effort, format };
}

const EFFORTS: ReadonlySet<string> = new Set(['low', 'medium', 'high', 'xhigh', 'max']);

function toEffort(effort: JsonValue | undefined): string | undefined {
  if (effort === undefined || effort === null || effort === 'none') return undefined;
  if (effort === 'minimal') return 'low';
  if (typeof effort !== 'string' || !EFFORTS.has(effort)) {
    throw unsupported('reasoning_effort', 'another value');
  }
  return effort;
}

function toFormat(body: JsonObject): JsonObject | undefined {
  const { type, schema } = responseFormatIn(body);
  if (type === 'text') return undefined;
  if (type === 'json_object') throw unsupported('response_format', 'another value');
  if (schema === undefined) throw invalid('response_format.json_schema.schema', 'is missing');
  return { type, schema };
}
