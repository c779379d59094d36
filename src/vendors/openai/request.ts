import type { JsonObject, JsonValue } from '../../json.ts';
import type { ChatRequest } from '../../requests/index.ts';
import type { Upstream } from '../kit/http.ts';
import { isObject, listAt, objectAt } from '../kit/json.ts';
import type { Call } from '../kit/wire.ts';

/** The caller's body as it was sent, under the upstream's name of the model. */
export function toCall(request: ChatRequest, upstream: Upstream): Call {
  return { path: '/chat/completions', body: { json: toWire(request, upstream) } };
}

function toWire(request: ChatRequest, upstream: Upstream): JsonObject {
  const wire: Record<string, JsonValue> = { ...request.body, model: upstream.model };
  if (request.stream) {
    wire.stream = true;
    // A stream tells its usage only when asked.
    wire.stream_options = { ...objectAt(request.body, 'stream_options'), include_usage: true };
  }
  const dialect = dialectOf(upstream.address);
  if (dialect !== undefined) speak(wire, dialect);
  return wire;
}

/** What a server cannot take as the format's author defines it. */
interface Dialect {
  /** Old names that it knows, by the new ones. */
  readonly oldNames?: Readonly<Record<string, string>>;
  /** Tells its usage unasked and refuses to be asked. */
  readonly refusesStreamOptions?: boolean;
}

const OLD_LIMIT: Dialect = { oldNames: { max_completion_tokens: 'max_tokens' } };

/** By the host's registered name. None of them knows the role `developer`. All other hosts are taken at their word. */
const DIALECTS: ReadonlyMap<string, Dialect> = new Map<string, Dialect>([
  ['mistral.ai', { oldNames: { ...OLD_LIMIT.oldNames, seed: 'random_seed' }, refusesStreamOptions: true }],
  ['deepseek.com', OLD_LIMIT],
  ['together.ai', OLD_LIMIT],
  ['together.xyz', OLD_LIMIT],
  ['openrouter.ai', {}],
  ['groq.com', {}],
  ['x.ai', {}],
  ['fireworks.ai', {}],
]);

/** The last two labels of the host of an address. */
const REGISTERED_NAME = /^https?:\/\/(?:[^/?#]*[@.])?([^/?#:@.]+\.[^/?#:@.]+)(?:[/?#:]|$)/i;

function dialectOf(address: string): Dialect | undefined {
  return DIALECTS.get(REGISTERED_NAME.exec(address)?.[1]?.toLowerCase() ?? '');
}

function speak(wire: Record<string, JsonValue>, dialect: Dialect): void {
  for (const [name, oldName] of Object.entries(dialect.oldNames ?? {})) {
    const value = wire[name];
    if (value !== undefined && value !== null) wire[oldName] = value;
    delete wire[name];
  }
  if (dialect.refusesStreamOptions === true) delete wire.stream_options;
  const messages = listAt(wire, 'messages');
  if (messages?.some(isFromDeveloper)) wire.messages = messages.map(toSystem);
}

function isFromDeveloper(message: JsonValue): boolean {
  return isObject(message) && message.role === 'developer';
}

function toSystem(message: JsonValue): JsonValue {
  return isObject(message) && message.role === 'developer' ? { ...message, role: 'system' } : message;
}
