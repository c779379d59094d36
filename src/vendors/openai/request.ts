import type { JsonObject, JsonValue } from '../../json.ts';
import type { ChatRequest } from '../../schemas/index.ts';
import { dialectOf } from '../kit/dialects.ts';
import type { Upstream } from '../kit/http.ts';
import { isObject, listAt, objectAt } from '../kit/json.ts';
import type { Call } from '../kit/wire.ts';
import { DIALECTS } from './terms.ts';

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
  const dialect = dialectOf(upstream, DIALECTS);
  if (dialect !== undefined && dialect !== 'openai') applyQuirks(wire, QUIRKS[dialect]);
  return wire;
}

/** What a server cannot take as the format's author defines it. */
interface Quirks {
  /** Old names that it knows, by the new ones. */
  readonly oldNames?: Readonly<Record<string, string>>;
  /** Tells its usage unasked and refuses to be asked. */
  readonly refusesStreamOptions?: boolean;
}

const OLD_LIMIT: Quirks = { oldNames: { max_completion_tokens: 'max_tokens' } };

/** None of them knows the role `developer`. */
const QUIRKS: Readonly<Record<Exclude<keyof typeof DIALECTS, 'openai'>, Quirks>> = {
  mistral: { oldNames: { ...OLD_LIMIT.oldNames, seed: 'random_seed' }, refusesStreamOptions: true },
  deepseek: OLD_LIMIT,
  together: OLD_LIMIT,
  openrouter: {},
  groq: {},
  xai: {},
  fireworks: {},
  voyage: {},
  jina: {},
};

function applyQuirks(wire: Record<string, JsonValue>, quirks: Quirks): void {
  for (const [name, oldName] of Object.entries(quirks.oldNames ?? {})) {
    const value = wire[name];
    if (value !== undefined && value !== null) wire[oldName] = value;
    delete wire[name];
  }
  if (quirks.refusesStreamOptions === true) delete wire.stream_options;
  const messages = listAt(wire, 'messages');
  if (messages?.some(isFromDeveloper)) wire.messages = messages.map(toSystem);
}

function isFromDeveloper(message: JsonValue): boolean {
  return isObject(message) && message.role === 'developer';
}

function toSystem(message: JsonValue): JsonValue {
  return isObject(message) && message.role === 'developer' ? { ...message, role: 'system' } : message;
}
