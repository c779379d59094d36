import type { z } from 'zod';
import { ApiError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { isObject, itemsAt, objectAt, stringAt } from '../../json-read.ts';
import type { ChatRequest } from '../../schemas/index.ts';
import { invalid, unsupported, unsupportedType } from '../../unsupported.ts';
import { textAt } from './content.ts';
import { toChatMessages } from './conversation.ts';
import type { countSchema, messagesSchema } from './schema.ts';

/** A request to answer, or one to count, which has no limit. */
export type ParsedMessages = z.output<typeof countSchema> &
  Partial<Pick<z.output<typeof messagesSchema>, 'max_tokens' | 'stream'>>;

/** A request of this format as the common chat shape. */
export interface TranslatedRequest {
  readonly chat: ChatRequest;
  /** Why no upstream can be asked over chat: then `chat` serves to price the call alone. */
  readonly refusal?: ApiError;
}

/** `exact` is the same body with every number as it was written. */
export function toChat(parsed: ParsedMessages, exact: JsonObject): TranslatedRequest {
  const { model, max_tokens: maxOutputTokens } = parsed;
  const stream = parsed.stream ?? false;
  const shape = { model, stream, includeUsage: false, maxOutputTokens, n: 1 };
  try {
    const body = toChatBody(exact);
    return { chat: { ...shape, messages: itemsAt(body, 'messages'), tools: itemsAt(body, 'tools'), body } };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const messages = [exact.system ?? '', ...itemsAt(exact, 'messages')];
    return { chat: { ...shape, messages, tools: itemsAt(exact, 'tools'), body: exact }, refusal: error };
  }
}

/** Fields that are not here say nothing to other vendors and are dropped: cache marks, betas, tiers, `top_k`. */
function toChatBody(exact: JsonObject): JsonObject {
  if (itemsAt(exact, 'mcp_servers').length > 0) throw unsupported('mcp_servers');
  const tools = itemsAt(exact, 'tools').map((tool, index) => toFunction(tool, `tools[${index}]`));
  const stop = itemsAt(exact, 'stop_sequences');
  const effort = effortOf(exact);
  const format = objectAt(objectAt(exact, 'output_config'), 'format') ?? objectAt(exact, 'output_format');
  return {
    model: stringAt(exact, 'model') ?? '',
    messages: toChatMessages(exact),
    ...(exact.max_tokens != null && { max_completion_tokens: exact.max_tokens }),
    ...(exact.stream === true && { stream: true }),
    ...(exact.temperature != null && { temperature: exact.temperature }),
    ...(exact.top_p != null && { top_p: exact.top_p }),
    ...(stop.length > 0 && { stop }),
    ...(tools.length > 0 && { tools }),
    ...toToolChoice(objectAt(exact, 'tool_choice'), tools.length > 0),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(format !== undefined && { response_format: toResponseFormat(format) }),
  };
}

function toFunction(tool: JsonValue, where: string): JsonObject {
  if (!isObject(tool)) throw invalid(where, 'is not an object');
  const type = stringAt(tool, 'type') ?? 'custom';
  // Tools that their vendor defines, and those that it runs itself.
  if (type !== 'custom') throw unsupportedType(where, 'tool', type);
  const { $schema: _, ...parameters } = objectAt(tool, 'input_schema') ?? {};
  const description = stringAt(tool, 'description');
  return {
    type: 'function',
    function: {
      name: textAt(tool, 'name', where),
      ...(description !== undefined && { description }),
      parameters,
      ...(tool.strict === true && { strict: true }),
    },
  };
}

const CHOICES: ReadonlyMap<string, string> = new Map([
  ['auto', 'auto'],
  ['any', 'required'],
  ['none', 'none'],
]);

function toToolChoice(choice: JsonObject | undefined, hasTools: boolean): JsonObject {
  if (choice === undefined) return {};
  const type = stringAt(choice, 'type') ?? '';
  if (!hasTools) {
    if (type === 'any' || type === 'tool') throw invalid('tool_choice', 'needs "tools"');
    return {};
  }
  const parallel = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {};
  if (type === 'tool') {
    const name = textAt(choice, 'name', 'tool_choice');
    return { tool_choice: { type: 'function', function: { name } }, ...parallel };
  }
  const word = CHOICES.get(type);
  if (word === undefined) throw unsupported('tool_choice.type', { oneOf: [...CHOICES.keys(), 'tool'] });
  return { tool_choice: word, ...parallel };
}

/** What every chat server knows of them. */
const EFFORTS: ReadonlyMap<unknown, string> = new Map([
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'high'],
  ['max', 'high'],
]);
/** From how many tokens of thought on. */
const EFFORT_OF_BUDGET: readonly (readonly [number, string])[] = [
  [16_384, 'high'],
  [4_096, 'medium'],
  [0, 'low'],
];

/** Undefined leaves it to the model. */
function effortOf(exact: JsonObject): string | undefined {
  const thinking = objectAt(exact, 'thinking');
  if (thinking?.type === 'disabled') return undefined;
  const effort = objectAt(exact, 'output_config')?.effort ?? undefined;
  if (effort !== undefined) {
    const word = EFFORTS.get(effort);
    if (word === undefined) throw unsupported('output_config.effort', 'another value');
    return word;
  }
  const budget = thinking?.type === 'enabled' ? Number(thinking.budget_tokens) : Number.NaN;
  return EFFORT_OF_BUDGET.find(([from]) => budget >= from)?.[1];
}

function toResponseFormat(format: JsonObject): JsonObject {
  const schema = objectAt(format, 'schema');
  if (format.type !== 'json_schema' || schema === undefined) {
    throw invalid('output_config.format', 'is not of type "json_schema" with a "schema"');
  }
  return { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } };
}
