import type { IncomingHttpHeaders } from 'node:http';
import { isObject, objectIn } from '../../emulator/json.ts';

/** What the vendor answers to a request that it does not take. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** Whom the server knows, and how far it strays from the format's author. */
export interface Terms {
  readonly path: string;
  /** Undefined: it asks for no key. */
  readonly apiKey: string | undefined;
  /** Undefined: it has every model. */
  readonly models: readonly string[] | undefined;
  /** Overlooks fields that it does not know. */
  readonly isLenient: boolean;
  /** Fields of the format that it refuses. */
  readonly forbids: readonly string[];
  /** Fields of which it takes other values than the author. */
  readonly checks?: Readonly<Record<string, Check>> | undefined;
  /** Members of a message that it refuses, by role. */
  readonly forbidsMembers?: Readonly<Record<string, readonly string[]>> | undefined;
  /** It has the role `developer`. */
  readonly knowsDeveloper: boolean;
}

export interface IncomingCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

type Json = Record<string, unknown>;
export type Check = (value: unknown) => boolean;

export const isText: Check = (value) => typeof value === 'string';
export const isFlag: Check = (value) => typeof value === 'boolean';
const isList: Check = (value) => Array.isArray(value);
export const isWithin =
  (low: number, high: number): Check =>
  (value) =>
    typeof value === 'number' && value >= low && value <= high;
export const isWhole: Check = (value) => Number.isInteger(value);
const isCount: Check = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 1;
export const isOneOf =
  (...words: string[]): Check =>
  (value) =>
    typeof value === 'string' && words.includes(value);
const either =
  (...checks: Check[]): Check =>
  (value) =>
    checks.some((check) => check(value));

/** Every field of the request, by the vendor's description of it. */
const FIELDS: Readonly<Record<string, Check>> = {
  model: isText,
  messages: isList,
  stream: isFlag,
  stream_options: isObject,
  max_completion_tokens: isCount,
  max_tokens: isCount,
  temperature: isWithin(0, 2),
  top_p: isWithin(0, 1),
  n: (value) => isWithin(1, 128)(value) && isWhole(value),
  stop: either(isText, (value) => Array.isArray(value) && value.length <= 4 && value.every(isText)),
  presence_penalty: isWithin(-2, 2),
  frequency_penalty: isWithin(-2, 2),
  logit_bias: isObject,
  logprobs: isFlag,
  top_logprobs: isWithin(0, 20),
  seed: isWhole,
  response_format: (value) => isObject(value) && isOneOf('text', 'json_object', 'json_schema')(value.type),
  tools: (value) => Array.isArray(value) && value.every(isTool),
  tool_choice: either(isOneOf('none', 'auto', 'required'), isObject),
  parallel_tool_calls: isFlag,
  reasoning_effort: isOneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
  verbosity: isOneOf('low', 'medium', 'high'),
  modalities: isList,
  audio: isObject,
  prediction: isObject,
  service_tier: isOneOf('auto', 'default', 'flex', 'scale', 'priority', 'fast'),
  prompt_cache_key: isText,
  prompt_cache_options: isObject,
  safety_identifier: isText,
  user: isText,
  store: isFlag,
  metadata: isObject,
  moderation: isObject,
  web_search_options: isObject,
  functions: isList,
  function_call: either(isText, isObject),
};

function isTool(tool: unknown): boolean {
  if (!isObject(tool) || !isOneOf('function', 'custom')(tool.type)) return false;
  const described = tool[String(tool.type)];
  return isObject(described) && isText(described.name);
}

const STREAM_OPTIONS = ['include_usage', 'include_obfuscation'];
const ROLES = ['developer', 'system', 'user', 'assistant', 'tool', 'function'];

/** Undefined if the vendor would take the request. */
export function refusalOf(call: IncomingCall, terms: Terms): Refusal | undefined {
  return refusalOfEnvelope(call, terms) ?? refusalOfBody(call.bytes, terms);
}

export function wrong(message: string, param: string | null = null, code: string | null = null): Refusal {
  return { status: 400, message, type: 'invalid_request_error', param, code };
}

/** Looks at all but the body. */
export function refusalOfEnvelope(
  { method, path, headers }: IncomingCall,
  { apiKey, path: knownPath }: Pick<Terms, 'apiKey' | 'path'>,
  contentType = 'application/json',
): Refusal | undefined {
  if (path !== knownPath) return { ...wrong(`Invalid URL (${method} ${path})`), status: 404 };
  if (method !== 'POST') return { ...wrong(`Not allowed to ${method} on ${path}.`), status: 405 };
  const unknown = authorizationRefusal(headers.authorization, apiKey);
  if (unknown !== undefined) return unknown;
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  if (type.trim() === contentType) return undefined;
  return { ...wrong(`Unsupported content type: '${type}'.`, null, 'unsupported_content_type'), status: 415 };
}

export function authorizationRefusal(
  authorization: string | undefined,
  apiKey: string | undefined,
): Refusal | undefined {
  if (apiKey === undefined || authorization === `Bearer ${apiKey}`) return undefined;
  if (authorization === undefined) return { ...wrong("You didn't provide an API key."), status: 401 };
  return { ...wrong('Incorrect API key provided.', null, 'invalid_api_key'), status: 401 };
}

function refusalOfBody(bytes: Buffer, terms: Terms): Refusal | undefined {
  const body = objectIn(bytes);
  if (body === undefined) return wrong('We could not parse the JSON body of your request.');
  if (!isText(body.model)) return wrong('you must provide a model parameter');
  return (
    refusalOfModel(String(body.model), terms) ??
    refusalOfFields(body, terms, { ...FIELDS, ...terms.checks }) ??
    refusalOfMessages(body.messages, terms) ??
    refusalOfOptions(body, terms)
  );
}

export function refusalOfModel(model: string, { models }: Pick<Terms, 'models'>): Refusal | undefined {
  if (models === undefined || models.includes(model)) return undefined;
  const text = `The model \`${model}\` does not exist or you do not have access to it.`;
  return { ...wrong(text, null, 'model_not_found'), status: 404 };
}

/** Every field must be known, and of its kind. */
export function refusalOfFields(
  body: Json,
  { isLenient, forbids }: Pick<Terms, 'isLenient' | 'forbids'>,
  fields: Readonly<Record<string, Check>> = FIELDS,
): Refusal | undefined {
  for (const [name, value] of Object.entries(body)) {
    const check = forbids.includes(name) || !Object.hasOwn(fields, name) ? undefined : fields[name];
    if (check === undefined && (forbids.includes(name) || !isLenient)) {
      return wrong(`Unknown parameter: '${name}'.`, name, 'unknown_parameter');
    }
    if (check !== undefined && value !== null && !check(value)) {
      return wrong(`Invalid value for '${name}'.`, name, 'invalid_value');
    }
  }
  return undefined;
}

function refusalOfMessages(messages: unknown, { knowsDeveloper, forbidsMembers }: Terms): Refusal | undefined {
  if (!Array.isArray(messages) || messages.length === 0) return wrong("Missing required parameter: 'messages'.");
  const roles = knowsDeveloper ? ROLES : ROLES.filter((role) => role !== 'developer');
  const at = messages.findIndex((message) => !isMessage(message, roles));
  if (at !== -1) return wrong(`Invalid value for 'messages[${at}]'.`, `messages[${at}]`, 'invalid_value');
  for (const message of messages) {
    const forbidden = forbidsMembers?.[message.role]?.find((name) => message[name] !== undefined);
    if (forbidden !== undefined) return wrong(`Extra inputs are not permitted: '${forbidden}'.`, 'messages');
  }
  return undefined;
}

function isMessage(message: unknown, roles: readonly string[]): boolean {
  if (!isObject(message) || !isOneOf(...roles)(message.role)) return false;
  if (message.role === 'tool' && !isText(message.tool_call_id)) return false;
  if (message.role === 'assistant') return message.content != null || message.tool_calls != null;
  return isText(message.content) || isList(message.content);
}

function refusalOfOptions({ stream, stream_options: options }: Json, { isLenient }: Terms): Refusal | undefined {
  if (!isObject(options)) return undefined;
  if (stream !== true) return wrong("The 'stream_options' parameter is only allowed when 'stream' is enabled.");
  const unknown = Object.keys(options).find((name) => !STREAM_OPTIONS.includes(name));
  if (unknown === undefined || isLenient) return undefined;
  return wrong(`Unknown parameter: 'stream_options.${unknown}'.`, `stream_options.${unknown}`, 'unknown_parameter');
}

/** The first field that is unknown or fails its check; null stands for an absent one. */
export function wrongField(fields: Readonly<Json>, checks: Readonly<Record<string, Check>>): string | undefined {
  return Object.entries(fields).find(([name, value]) => {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    return check === undefined || (value !== null && !check(value));
  })?.[0];
}
