import type { JsonObject, JsonValue } from '../../json.ts';
import { objectAt, stringAt } from '../../json-read.ts';
import type { ChatRequest } from '../../schemas/index.ts';
import { toMessages } from './input.ts';
import { given, type ResponsesRequest, responseFormatOf } from './request.ts';
import type { Tools } from './tools.ts';

/** The same call as chat has it. What changes nothing in the answer and some upstreams refuse (`metadata`) stays here. */
export function toChat(request: ResponsesRequest, tools: Tools): ChatRequest {
  const { model, stream, body, maxOutputTokens } = request;
  const messages = toMessages(stringAt(body, 'instructions'), request.input);
  return {
    model,
    stream,
    includeUsage: false,
    messages,
    tools: tools.functions,
    maxOutputTokens,
    n: 1,
    body: withoutAbsent({
      model,
      messages,
      stream: stream ? true : undefined,
      max_completion_tokens: maxOutputTokens,
      ...copied(body),
      ...toolFields(body, tools),
      ...logprobFields(request),
      response_format: responseFormatOf(body),
      reasoning_effort: given(objectAt(body, 'reasoning') ?? {}, 'effort'),
      verbosity: given(objectAt(body, 'text') ?? {}, 'verbosity'),
      service_tier: body.service_tier === 'auto' ? undefined : given(body, 'service_tier'),
    }),
  };
}

/** Under one name in both formats. */
const COPIED = ['temperature', 'top_p', 'user', 'safety_identifier', 'prompt_cache_key'] as const;

type Wanted = Record<string, JsonValue | undefined>;

function copied(body: JsonObject): Wanted {
  return Object.fromEntries(COPIED.map((name) => [name, given(body, name)]));
}

function toolFields(body: JsonObject, { functions, choice }: Tools): Wanted {
  if (functions.length === 0) return {};
  return { tools: functions, tool_choice: choice, parallel_tool_calls: given(body, 'parallel_tool_calls') };
}

function logprobFields({ include, body }: ResponsesRequest): Wanted {
  if (!include.has('message.output_text.logprobs')) return {};
  return { logprobs: true, top_logprobs: given(body, 'top_logprobs') };
}

function withoutAbsent(wanted: Wanted): JsonObject {
  const body: Record<string, JsonValue> = {};
  for (const name in wanted) {
    const value = wanted[name];
    if (value !== undefined) body[name] = value;
  }
  return body;
}
