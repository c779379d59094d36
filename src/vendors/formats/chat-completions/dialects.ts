import type { JsonObject, JsonValue } from '../../../json.ts';
import type { ChatRequest } from '../../../schemas/index.ts';
import { unsupported } from '../../../unsupported.ts';
import { responseFormatIn, toolChoiceIn } from '../../kit/chat-fields.ts';
import { isList, isObject, objectAt, stringAt } from '../../kit/json.ts';
import type { DIALECTS } from './terms.ts';

/** What a server does not take as the format's author defines it. Whatever no row names is sent as it came. */
interface Quirks {
  /** Old names that it knows, by the new ones. */
  readonly oldNames?: Readonly<Record<string, string>>;
  /** Refused there, and without a bearing on the answer. */
  readonly leavesOut?: readonly string[];
  /** Refused or overlooked there, though the answer depends on them. */
  readonly lacks?: readonly Lacking[];
  /** One answer for each request. */
  readonly isSingle?: boolean;
  /** The types of `response_format` that it has. */
  readonly formats?: readonly string[];
  /** `words`: it knows no choice by name. `auto`: the model alone chooses. */
  readonly toolChoices?: 'words' | 'auto';
  /** Its own names of service tiers, by the author's; it has no others. */
  readonly tiers?: Readonly<Record<string, string>>;
  readonly stopsAreLists?: boolean;
  /** The members of a message that it knows, by role. */
  readonly members?: Readonly<Record<string, readonly string[]>>;
}

/** Values that ask for nothing, as JSON. */
const NEUTRAL = {
  logprobs: ['false'],
  top_logprobs: ['0'],
  logit_bias: ['{}'],
  functions: ['[]'],
  function_call: [],
  modalities: ['[]', '["text"]'],
  audio: [],
  web_search_options: [],
} as const;
type Lacking = keyof typeof NEUTRAL;

const OLD_LIMIT = { max_completion_tokens: 'max_tokens' };
const PROBABILITIES: readonly Lacking[] = ['logprobs', 'top_logprobs'];

/** None of them knows the role `developer`. */
const QUIRKS: Readonly<Record<Exclude<keyof typeof DIALECTS, 'openai'>, Quirks>> = {
  /** Refuses what it does not know. Tells the usage of a stream unasked. */
  mistral: {
    oldNames: { ...OLD_LIMIT, seed: 'random_seed' },
    leavesOut: ['stream_options', 'user', 'store', 'safety_identifier', 'verbosity', 'prompt_cache_options'],
    lacks: [...PROBABILITIES, 'logit_bias', 'functions', 'function_call', 'modalities', 'audio', 'web_search_options'],
    members: {
      system: ['content'],
      user: ['content'],
      assistant: ['content', 'tool_calls', 'prefix'],
      tool: ['content', 'tool_call_id', 'name'],
    },
  },
  deepseek: { oldNames: OLD_LIMIT, lacks: ['logit_bias'], isSingle: true, formats: ['text', 'json_object'] },
  /** Its `logprobs` is a number, and is answered in another shape. */
  together: { oldNames: OLD_LIMIT, lacks: PROBABILITIES, stopsAreLists: true },
  openrouter: {},
  groq: {
    lacks: [...PROBABILITIES, 'logit_bias'],
    isSingle: true,
    tiers: { auto: 'auto', default: 'on_demand', flex: 'flex' },
    members: {
      system: ['content'],
      user: ['content'],
      assistant: ['content', 'tool_calls', 'reasoning', 'function_call'],
      tool: ['content', 'tool_call_id'],
    },
  },
  xai: { lacks: ['logit_bias'] },
  fireworks: { oldNames: OLD_LIMIT },
  dashscope: { oldNames: OLD_LIMIT },
  vllm: { oldNames: OLD_LIMIT },
  /** Overlooks what it does not know: a limit under its new name would be none. */
  ollama: { oldNames: OLD_LIMIT, lacks: ['logit_bias'], isSingle: true, toolChoices: 'auto' },
  'llama.cpp': { oldNames: OLD_LIMIT, toolChoices: 'words' },
  'lm-studio': {
    oldNames: OLD_LIMIT,
    lacks: PROBABILITIES,
    isSingle: true,
    formats: ['text', 'json_schema'],
    toolChoices: 'words',
  },
  voyage: {},
  jina: {},
  tei: {},
};

/** Rewrites a body for a server that is not the author's. Throws ApiError for what it cannot be told. */
export function applyQuirks(wire: Record<string, JsonValue>, request: ChatRequest, dialect: keyof typeof QUIRKS): void {
  const quirks = QUIRKS[dialect];
  refuseLacking(request, quirks);
  for (const [name, oldName] of Object.entries(quirks.oldNames ?? {})) {
    const value = wire[name];
    if (value !== undefined && value !== null) wire[oldName] = value;
    delete wire[name];
  }
  for (const name of [...(quirks.leavesOut ?? []), ...(quirks.lacks ?? [])]) delete wire[name];
  if (quirks.stopsAreLists === true && typeof wire.stop === 'string') wire.stop = [wire.stop];
  setTier(wire, quirks.tiers);
  setToolChoice(wire, quirks.toolChoices);
  if (isList(wire.messages)) wire.messages = messagesFor(wire.messages, quirks.members);
}

function refuseLacking({ body, n }: ChatRequest, { lacks = [], isSingle, formats }: Quirks): void {
  if (isSingle === true && n > 1) throw unsupported('n', { atMost: 1 });
  for (const name of lacks) {
    const value = body[name];
    const values: readonly string[] = NEUTRAL[name];
    if (value === undefined || value === null || values.includes(JSON.stringify(value))) continue;
    throw unsupported(name, values.length === 0 ? 'none' : 'another value');
  }
  if (formats !== undefined && !formats.includes(responseFormatIn(body).type)) {
    throw unsupported('response_format', { oneOf: formats });
  }
}

function setTier(wire: Record<string, JsonValue>, tiers: Quirks['tiers']): void {
  const { service_tier: tier } = wire;
  if (tiers === undefined || tier === undefined || tier === null) return;
  const own = typeof tier === 'string' && Object.hasOwn(tiers, tier) ? tiers[tier] : undefined;
  if (own === undefined) throw unsupported('service_tier', { oneOf: Object.keys(tiers) });
  wire.service_tier = own;
}

/** One tool by name is any tool out of that one alone; none is not to be told of any. */
function setToolChoice(wire: Record<string, JsonValue>, toolChoices: Quirks['toolChoices']): void {
  if (toolChoices === undefined) return;
  const choice = toolChoiceIn(wire);
  if (toolChoices === 'auto') {
    if (choice === 'required' || typeof choice === 'object')
      throw unsupported('tool_choice', { oneOf: ['none', 'auto'] });
    delete wire.tool_choice;
    if (choice === 'none') delete wire.tools;
    return;
  }
  if (typeof choice !== 'object' || !isList(wire.tools)) return;
  wire.tool_choice = 'required';
  wire.tools = wire.tools.filter((tool) => isObject(tool) && objectAt(tool, 'function')?.name === choice.name);
}

function messagesFor(messages: readonly JsonValue[], members: Quirks['members']): readonly JsonValue[] {
  return messages.map((message) => {
    if (!isObject(message)) return message;
    const system = message.role === 'developer' ? { ...message, role: 'system' } : message;
    const known = members?.[stringAt(system, 'role') ?? ''];
    return known === undefined ? system : pick(system, ['role', ...known]);
  });
}

function pick(message: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(message).filter(([name]) => names.includes(name)));
}
