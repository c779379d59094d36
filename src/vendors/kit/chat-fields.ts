import { JsonError, type JsonObject, type JsonValue, parseJson } from '../../json.ts';
import { unsupported } from '../../unsupported.ts';
import { isList, isObject, itemsAt, objectAt, stringAt } from './json.ts';
import { invalid } from './refusals.ts';

/** Readers of a chat-completions request, for formats that it is translated into. All of them throw ApiError. */

const FIELD_CHARS_MAX = 100;

/**
 * Refuses every field that is not in `translated`, unless its value asks for nothing. `neutral` holds such values, as
 * JSON, by the name of the field.
 */
export function refuseUntranslated(
  body: JsonObject,
  translated: ReadonlySet<string>,
  neutral: ReadonlyMap<string, readonly string[]>,
): void {
  for (const [field, value] of Object.entries(body)) {
    if (translated.has(field) || value === null || value === undefined) continue;
    const values = neutral.get(field);
    if (values === undefined) throw unsupported(field.slice(0, FIELD_CHARS_MAX));
    if (!values.includes(JSON.stringify(value))) throw unsupported(field, 'another value');
  }
}

export interface ChatFunction {
  readonly name: string;
  readonly description: string | undefined;
  readonly parameters: JsonObject | undefined;
  readonly isStrict: boolean;
}

export function functionsIn(body: JsonObject): ChatFunction[] {
  return itemsAt(body, 'tools').map((tool, index) => {
    const where = `tools[${index}]`;
    const declared = isObject(tool) && tool.type === 'function' ? objectAt(tool, 'function') : undefined;
    if (declared === undefined) throw unsupported(where, { oneOf: ['functions'] });
    return {
      name: requiredText(declared, 'name', `${where}.function`),
      description: stringAt(declared, 'description'),
      parameters: objectAt(declared, 'parameters'),
      isStrict: declared.strict === true,
    };
  });
}

/** `name` is of the one function that must be called. */
export type ToolChoice = 'none' | 'auto' | 'required' | { readonly name: string };

export function toolChoiceIn(body: JsonObject): ToolChoice | undefined {
  const choice = body.tool_choice ?? undefined;
  if (choice === undefined || choice === 'none' || choice === 'auto' || choice === 'required') return choice;
  const name =
    isObject(choice) && choice.type === 'function' ? stringAt(objectAt(choice, 'function'), 'name') : undefined;
  if (name === undefined) throw unsupported('tool_choice', 'another value');
  return { name };
}

export interface ChatToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments, with every number as it was written. */
  readonly input: JsonObject;
  /** The whole call. */
  readonly call: JsonObject;
}

export function toolCallsIn(message: JsonObject, where: string): ChatToolCall[] {
  return itemsAt(message, 'tool_calls').map((call, index) => {
    const at = `${where}.tool_calls[${index}]`;
    const called = isObject(call) ? objectAt(call, 'function') : undefined;
    if (!isObject(call) || called === undefined) throw unsupported(at, { oneOf: ['functions'] });
    const name = requiredText(called, 'name', `${at}.function`);
    return { id: requiredText(call, 'id', at), name, input: parseArguments(called.arguments, `${at}.function`), call };
  });
}

function parseArguments(text: JsonValue | undefined, where: string): JsonObject {
  if (text === undefined || text === null || (typeof text === 'string' && text.trim() === '')) return {};
  try {
    const value = typeof text === 'string' ? parseJson(text).exact() : undefined;
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  throw invalid(`${where}.arguments`, 'is not a JSON object written as text');
}

export function stopSequencesIn({ stop }: JsonObject): readonly JsonValue[] | undefined {
  if (stop === undefined || stop === null) return undefined;
  const sequences = isList(stop) ? stop : [stop];
  if (!sequences.every((sequence) => typeof sequence === 'string')) {
    throw invalid('stop', 'is not a text or a list of texts');
  }
  return sequences.length > 0 ? sequences : undefined;
}

export interface ResponseFormat {
  readonly type: 'text' | 'json_object' | 'json_schema';
  readonly schema?: JsonObject | undefined;
}

export function responseFormatIn({ response_format: format }: JsonObject): ResponseFormat {
  const type = isObject(format) ? stringAt(format, 'type') : format === undefined || format === null ? 'text' : '';
  if (type === 'text' || type === 'json_object') return { type };
  if (type !== 'json_schema' || !isObject(format)) throw unsupported('response_format', 'another value');
  const named = requiredObject(format.json_schema, 'response_format.json_schema');
  return { type, schema: objectAt(named, 'schema') };
}

export function requiredObject(value: unknown, where: string): JsonObject {
  if (!isObject(value)) throw invalid(where, 'is not an object');
  return value;
}

export function requiredText(from: JsonObject, key: string, where: string): string {
  const text = stringAt(from, key);
  if (text === undefined) throw invalid(`${where}.${key}`, 'is not a text');
  return text;
}
