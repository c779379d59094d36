import { json } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import { type Answer, ScriptedServer } from '../emulator/scripted-server.ts';
import { numbersOf } from '../emulator/vectors.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
type Json = any;

type Check = (value: Json) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isList: Check = (value) => Array.isArray(value) && value.length > 0;
const isWithin =
  (low: number, high: number): Check =>
  (value) =>
    typeof value === 'number' && value >= low && value <= high;
const isOneOf =
  (...words: string[]): Check =>
  (value) =>
    words.includes(value);

const CHAT_FIELDS: Readonly<Record<string, Check>> = {
  model: isText,
  messages: isList,
  stream: (value) => typeof value === 'boolean',
  tools: (value) => isList(value) && value.every(isTool),
  strict_tools: (value) => typeof value === 'boolean',
  tool_choice: isOneOf('REQUIRED', 'NONE'),
  response_format: (value) => isOneOf('text', 'json_object')(value?.type),
  max_tokens: (value) => Number.isInteger(value) && value > 0,
  stop_sequences: (value) => isList(value) && value.length <= 5 && value.every(isText),
  temperature: isWithin(0, 2),
  seed: Number.isInteger,
  frequency_penalty: isWithin(0, 1),
  presence_penalty: isWithin(0, 1),
  k: isWithin(0, 500),
  p: isWithin(0.01, 0.99),
  thinking: (value) => isOneOf('enabled', 'disabled')(value?.type),
};

const EMBED_FIELDS: Readonly<Record<string, Check>> = {
  model: isText,
  texts: (value) => isList(value) && value.length <= 96 && value.every(isText),
  input_type: isOneOf('search_document', 'search_query', 'classification', 'clustering'),
  embedding_types: (value) => isList(value) && value.every(isOneOf('float', 'base64', 'int8')),
  output_dimension: (value) => [256, 512, 1024, 1536].includes(value),
  truncate: isOneOf('NONE', 'START', 'END'),
};

/** The members of a message that the vendor knows, by role. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  system: ['content'],
  user: ['content'],
  assistant: ['content', 'tool_calls', 'tool_plan', 'citations'],
  tool: ['content', 'tool_call_id'],
};

function isTool({ type, function: declared }: Json): boolean {
  return type === 'function' && isText(declared?.name) && typeof declared.parameters === 'object';
}

/** The vendor's second interface: chat, vectors and the list of models of the first. */
export class CohereEmulator extends ScriptedServer {
  readonly #apiKey: string;

  constructor(apiKey: string) {
    super((asked) => this.#answer(asked));
    this.#apiKey = apiKey;
  }

  async #answer({ method, path, headers, bytes }: Recorded): Promise<Answer> {
    if (headers.authorization !== `Bearer ${this.#apiKey}`) return refusal(401, 'invalid api token');
    if (method === 'GET' && path.startsWith('/v1/models?')) return listed(new URLSearchParams(path.split('?')[1]));
    if (method !== 'POST' || !['/v2/chat', '/v2/embed'].includes(path)) return refusal(404, 'page not found');
    if (!String(headers['content-type']).startsWith('application/json')) return refusal(400, 'not JSON');
    const body: Json = JSON.parse(bytes.toString());
    if (path === '/v2/embed') return embedded(body);
    const fault = faultIn(body, CHAT_FIELDS, ['model', 'messages']) ?? messageFault(body);
    if (fault !== undefined) return refusal(400, `invalid request: ${fault}`);
    const calls = body.tool_choice === 'REQUIRED';
    return body.stream === true ? eventsOf(calls ? CALL_EVENTS : TEXT_EVENTS) : json(200, calls ? CALL : TEXT);
  }
}

/** Two pages of models. */
function listed(query: URLSearchParams): Answer {
  if (query.get('page_token') === 'p 2') return json(200, { models: [{ name: 'embed-v4.0' }] });
  return json(200, { models: [{ name: 'command-a' }], next_page_token: 'p 2' });
}

function faultIn(body: Json, fields: Readonly<Record<string, Check>>, required: readonly string[]): string | undefined {
  const missing = required.find((name) => body[name] === undefined);
  if (missing !== undefined) return `${missing} is required`;
  const wrong = Object.entries(body).find(([name, value]) => !Object.hasOwn(fields, name) || !fields[name]?.(value));
  return wrong && `field ${wrong[0]} is not valid`;
}

function messageFault({ messages, tools, tool_choice: choice }: Json): string | undefined {
  if (choice !== undefined && tools === undefined) return 'tool_choice needs tools';
  for (const { role, ...members } of messages) {
    const unknown = Object.keys(members).find((name) => !MEMBERS[role]?.includes(name));
    if (MEMBERS[role] === undefined || unknown !== undefined) return `message ${role} has no ${unknown}`;
    if (role !== 'assistant' && members.content === undefined) return 'content is missing';
    if (role === 'tool' && members.tool_call_id === undefined) return 'tool_call_id is missing';
    if (role === 'assistant' && members.content === undefined && members.tool_calls === undefined)
      return 'nothing said';
  }
  return undefined;
}

function embedded(body: Json): Answer {
  const fault = faultIn(body, EMBED_FIELDS, ['model', 'texts', 'input_type', 'embedding_types']);
  if (fault !== undefined) return refusal(400, `invalid request: ${fault}`);
  const float = body.texts.map((text: string) => numbersOf(text, body.output_dimension ?? 1536));
  const meta = { api_version: { version: '2' }, billed_units: { input_tokens: 3 * body.texts.length } };
  return json(200, { id: 'e-1', response_type: 'embeddings_by_type', embeddings: { float }, texts: body.texts, meta });
}

const usage = {
  billed_units: { input_tokens: 5, output_tokens: 2 },
  tokens: { input_tokens: 70, output_tokens: 4 },
  cached_tokens: 1,
};
const TOOL_CALL = { id: 'look_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } };
const TEXT = {
  id: 'c-1',
  finish_reason: 'COMPLETE',
  message: {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'A greeting.' },
      { type: 'text', text: 'Good day.' },
    ],
  },
  usage,
};
const CALL = {
  id: 'c-1',
  finish_reason: 'TOOL_CALL',
  message: { role: 'assistant', tool_plan: 'I will look.', tool_calls: [TOOL_CALL] },
  usage,
};

const START = {
  type: 'message-start',
  id: 'c-1',
  delta: { message: { role: 'assistant', content: [], tool_calls: [] } },
};
const part = (type: string, content: Json) => ({ type, index: 0, delta: { message: { content } } });
const end = (finish_reason: string) => ({ type: 'message-end', delta: { finish_reason, usage } });

export const TEXT_EVENTS: readonly Json[] = [
  START,
  part('content-start', { type: 'thinking', thinking: '' }),
  part('content-delta', { thinking: 'A greeting.' }),
  { type: 'content-end', index: 0 },
  part('content-start', { type: 'text', text: '' }),
  part('content-delta', { text: 'Good ' }),
  { type: 'citation-start', index: 0, delta: { message: { citations: { start: 0, end: 4 } } } },
  part('content-delta', { text: 'day.' }),
  { type: 'content-end', index: 1 },
  end('COMPLETE'),
];

const called = (type: string, tool_calls: Json) => ({ type, index: 0, delta: { message: { tool_calls } } });
const CALL_EVENTS: readonly Json[] = [
  START,
  { type: 'tool-plan-delta', delta: { message: { tool_plan: 'I will look.' } } },
  called('tool-call-start', { ...TOOL_CALL, function: { name: 'look', arguments: '' } }),
  called('tool-call-delta', { function: { arguments: '{"at"' } }),
  called('tool-call-delta', { function: { arguments: ':1}' } }),
  { type: 'tool-call-end', index: 0 },
  called('tool-call-start', { ...TOOL_CALL, id: 'look_2', function: { name: 'look', arguments: '' } }),
  { type: 'tool-call-end', index: 1 },
  end('TOOL_CALL'),
];

export function eventsOf(events: readonly Json[]): Answer {
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body };
}

export function refusal(status: number, message: string): Answer {
  return json(status, { id: 'r-1', message });
}
