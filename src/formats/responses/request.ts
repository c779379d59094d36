import { z } from 'zod';
import { ApiError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { isObject, itemsAt, listAt, objectAt, stringAt } from '../../json-read.ts';
import { CHAT_MESSAGES_MAX } from '../../limits.ts';
import { fields } from '../../schemas/index.ts';
import { invalid } from '../../unsupported.ts';

/** A call of the responses format, checked; its items are checked where they are translated. */
export interface ResponsesRequest {
  /** The public name that the caller asked for. */
  readonly model: string;
  readonly stream: boolean;
  /** In place of a text, one message of the user. */
  readonly input: readonly JsonObject[];
  readonly maxOutputTokens: number | undefined;
  /** Whether output items are kept for a reference to them. */
  readonly store: boolean;
  readonly include: ReadonlySet<string>;
  /** The whole body as it was sent, numbers as written. */
  readonly body: JsonObject;
}

const MISSING_INPUT = { error: 'missing_input: Give "input": a text or a list of items.' };
const TOKENS_MAX = 10_000_000;
const number = z.number().nullish();
const flag = z.boolean().nullish();
const text = z.string().nullish();
const object = z.looseObject({}).nullish();
const objects = fields.checkedListOf({ type: 'object' }, fields.notAnObject);

export const responsesSchema = z.looseObject({
  model: fields.modelField,
  input: z.union(
    [
      z.string().min(1, MISSING_INPUT),
      z
        .array(z.unknown().meta({ type: 'object' }))
        .min(1, MISSING_INPUT)
        .max(CHAT_MESSAGES_MAX, { error: `expected at most ${CHAT_MESSAGES_MAX} items` }),
    ],
    MISSING_INPUT,
  ),
  instructions: text,
  stream: flag,
  store: flag,
  max_output_tokens: z.int().min(1).max(TOKENS_MAX).nullish(),
  temperature: number,
  top_p: number,
  top_logprobs: z.int().min(0).nullish(),
  tools: objects.nullish(),
  tool_choice: z.union([z.string(), z.looseObject({})], { error: 'expected a string or an object' }).nullish(),
  parallel_tool_calls: flag,
  text: z
    .looseObject({ format: z.looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) }).nullish() })
    .nullish(),
  reasoning: z.looseObject({ effort: text }).nullish(),
  include: z.array(z.string()).nullish(),
  metadata: object,
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  service_tier: text,
});

/** Throws ApiError for what has no meaning without a record of earlier responses, which is not kept. */
export function toResponsesRequest(parsed: z.output<typeof responsesSchema>, exact: JsonObject): ResponsesRequest {
  for (const field of ['previous_response_id', 'conversation', 'prompt'] as const) refuseState(exact, field);
  if (exact.background === true) refuseState(exact, 'background');
  return {
    model: parsed.model,
    stream: parsed.stream ?? false,
    input: inputOf(exact),
    maxOutputTokens: parsed.max_output_tokens ?? undefined,
    store: parsed.store ?? true,
    include: new Set(parsed.include ?? []),
    body: exact,
  };
}

function refuseState(body: JsonObject, field: string): void {
  if ((body[field] ?? null) === null) return;
  throw new ApiError('unsupported_parameter', {
    message: `"${field}": responses are not kept here. Send the whole input, and take the answer from this request.`,
    param: field,
  });
}

function inputOf(body: JsonObject): readonly JsonObject[] {
  const written = stringAt(body, 'input');
  if (written !== undefined) return [{ role: 'user', content: written }];
  return itemsAt(body, 'input').map((item, at) => {
    if (!isObject(item)) throw invalid(`input[${at}]`, 'is not an object');
    return item;
  });
}

/** The ids of earlier output items that stand for themselves in the input. */
export function referencedIds({ input }: ResponsesRequest): string[] {
  return input.filter(isReference).map((item, at) => {
    const id = stringAt(item, 'id');
    if (id === undefined) throw invalid(`input[${at}].id`, 'is not a text');
    return id;
  });
}

/** With the items in place of references to them. Throws `item_not_found` for one that is not kept. */
export function withItems(request: ResponsesRequest, items: ReadonlyMap<string, JsonObject>): ResponsesRequest {
  if (!request.input.some(isReference)) return request;
  const input = request.input.map((item, at) => {
    if (!isReference(item)) return item;
    const found = items.get(stringAt(item, 'id') ?? '');
    if (found === undefined) throw new ApiError('item_not_found', { param: `input[${at}].id` });
    return found;
  });
  return { ...request, input };
}

/** Some clients leave the type of a reference out: all that it has is an id. */
function isReference(item: JsonObject): boolean {
  if (item.type === undefined || item.type === null) return item.role === undefined && typeof item.id === 'string';
  return item.type === 'item_reference';
}

/** The format of the text that is asked for, as chat has it; undefined for plain text. */
export function responseFormatOf(body: JsonObject): JsonObject | undefined {
  const format = objectAt(objectAt(body, 'text'), 'format');
  if (format === undefined || format.type === 'text') return undefined;
  if (format.type !== 'json_schema') return { type: 'json_object' };
  const { type: _, ...schema } = format;
  return { type: 'json_schema', json_schema: schema };
}

/** A value that was given: null counts as left out. */
export function given(body: JsonObject, field: string): JsonValue | undefined {
  return body[field] ?? undefined;
}

/** The objects of a list that the schema has checked. */
export function toolsIn(body: JsonObject): readonly JsonObject[] {
  return (listAt(body, 'tools') ?? []).filter(isObject);
}
