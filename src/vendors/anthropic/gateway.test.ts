import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { ApiError, UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { type ChatRequest, chatSchema, toChatRequest } from '../../schemas/index.ts';
import { chatOver } from '../formats/messages/chat.ts';
import { wire } from '../formats/messages/wire.ts';
import { type Upstream, UpstreamPools } from '../kit/http.ts';
import type { ChatChunk } from '../vendor.ts';
import { AnthropicEmulator, type Frame, type Scripted, textBlock, toolBlock } from './emulator.ts';

const MARKER = 'marker-7f3a';
const chat = chatOver(wire);
const pools = new UpstreamPools();
let emulator: AnthropicEmulator;

beforeEach(async () => {
  emulator = new AnthropicEmulator({ marker: MARKER });
  await emulator.start();
});
afterEach(() => emulator.stop());
after(() => pools.close());

function upstream(changes: Partial<Upstream> = {}): Upstream {
  return {
    model: 'claude-x',
    address: emulator.url,
    apiKey: emulator.apiKey,
    timeoutMs: 10_000,
    signal: new AbortController().signal,
    pools,
    ...changes,
  };
}

function asking(fields: JsonObject = {}): ChatRequest {
  const body = { model: 'public/name', messages: [{ role: 'user', content: 'Hello' }], ...fields };
  return toChatRequest(chatSchema.parse(body), body);
}

async function taken(request = asking(), at = upstream()): Promise<{ chunks: ChatChunk[]; error: unknown }> {
  const chunks: ChatChunk[] = [];
  try {
    for await (const chunk of await chat.stream(request, at)) chunks.push(chunk);
  } catch (error) {
    return { chunks, error };
  }
  return { chunks, error: undefined };
}

function wordsIn(chunks: readonly ChatChunk[]): string {
  return chunks.map(({ body }) => (JSON.stringify(body) ?? '').match(/"content":"([^"]*)"/)?.[1] ?? '').join('');
}

function assertFault(error: unknown, fault: string): asserts error is UpstreamError {
  assert.ok(error instanceof UpstreamError, String(error));
  assert.equal(error.fault, fault);
}

const TOOLS = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];
const CACHED = {
  input_tokens: 10,
  cache_creation_input_tokens: 20,
  cache_read_input_tokens: 300,
  output_tokens: 50,
  output_tokens_details: { thinking_tokens: 30 },
};
const COUNTED = { inputTokens: 10, cachedTokens: 300, cacheWriteTokens: 20, outputTokens: 20, reasoningTokens: 30 };

test('sends the key, the version and the body to the one path', async () => {
  await chat.complete(asking(), upstream());
  const [request] = emulator.requests;
  assert.equal(request?.method, 'POST');
  assert.equal(request.path, '/v1/messages');
  assert.equal(request.headers['x-api-key'], emulator.apiKey);
  assert.equal(request.headers['anthropic-version'], '2023-06-01');
  assert.equal(request.headers['content-type'], 'application/json');
  assert.equal(request.headers.authorization, undefined);
  const content = [{ type: 'text', text: 'Hello' }];
  const expected = { model: 'claude-x', max_tokens: 4096, messages: [{ role: 'user', content }] };
  assert.deepEqual(JSON.parse(String(request.bytes)), expected);
});

test('completes with text, calls and disjoint usage, and nothing that names the upstream', async () => {
  const content = [textBlock('Let me see.'), toolBlock('toolu_1', 'weather', { city: 'Oslo' })];
  emulator.script({ kind: 'message', content, stopReason: 'tool_use', usage: CACHED });
  const { body, usage } = await chat.complete(asking({ tools: TOOLS }), upstream());
  assert.deepEqual(body.choices, [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'Let me see.',
        refusal: null,
        tool_calls: [{ id: 'toolu_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ]);
  assert.deepEqual(usage, COUNTED);
  assert.ok(!JSON.stringify(body).includes(MARKER));
});

test('streams the same as it completes', async () => {
  const content = [textBlock('Let me see.'), toolBlock('toolu_1', 'weather', { city: 'Oslo' })];
  emulator.script({ kind: 'message', content, stopReason: 'tool_use', usage: CACHED });
  const { chunks, error } = await taken(asking({ tools: TOOLS, stream: true }));
  assert.equal(error, undefined);
  assert.equal(wordsIn(chunks), 'Let me see.');
  assert.ok(JSON.stringify(chunks).includes('"id":"toolu_1","type":"function","function":{"name":"weather"'));
  assert.ok(JSON.stringify(chunks.at(-1)?.body).includes('"finish_reason":"tool_calls"'));
  assert.deepEqual(chunks.at(-1)?.usage, COUNTED);
  assert.ok(chunks.slice(0, -1).every(({ usage }) => usage === undefined));
  assert.ok(!JSON.stringify(chunks).includes(MARKER));
});

test('streams from the upstream when a caller who does not stream lets the answer be long', async () => {
  const content = [textBlock('A long story.'), toolBlock('toolu_1', 'weather', {})];
  emulator.script({ kind: 'message', content, usage: CACHED });
  const { body, usage } = await chat.complete(asking({ max_tokens: 64_000 }), upstream());
  assert.equal(JSON.parse(String(emulator.requests[0]?.bytes)).stream, true);
  assert.ok(JSON.stringify(body).includes('"content":"A long story."'));
  assert.ok(JSON.stringify(body).includes('"arguments":"{}"'));
  assert.deepEqual(usage, COUNTED);
});

test('leaves its connections to later streams', async () => {
  const ports = new Set<number | undefined>();
  for (let count = 0; count < 8; count++) {
    await taken();
    ports.add(emulator.requests.at(-1)?.port);
  }
  // A stream may begin before the one ahead of it has given its connection back; two then take turns.
  assert.ok(ports.size <= 2, `${ports.size} connections`);
});

const FULL = asking({
  messages: [
    { role: 'system', content: 'Be brief' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,QUJD' } },
      ],
    },
    {
      role: 'assistant',
      content: '',
      tool_calls: [
        { id: 'toolu_1', type: 'function', function: { name: 'weather', arguments: '{}' } },
        { id: 'toolu_2', type: 'function', function: { name: 'weather', arguments: '{"a":1}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'toolu_1', content: 'Rain' },
    { role: 'system', content: 'Hurry' },
    { role: 'tool', tool_call_id: 'toolu_2', content: '' },
  ],
  tools: TOOLS,
  tool_choice: 'auto',
  parallel_tool_calls: false,
  stop: ['END'],
  temperature: 0.2,
  top_p: 0.5,
  seed: 1,
  reasoning_effort: 'minimal',
  response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
  user: 'u-1',
});

for (const version of ['2023-06-01', '2026-10-21']) {
  test(`sends what version ${version} of the format takes, with every field in use`, async () => {
    await chat.complete(FULL, upstream());
    const [request] = emulator.requests;
    const headers = { 'x-api-key': emulator.apiKey, 'content-type': 'application/json', 'anthropic-version': version };
    const body = String(request?.bytes);
    const answer = await fetch(`${emulator.url}/v1/messages`, { method: 'POST', headers, body });
    assert.equal(answer.status, 200, await answer.text());
  });
}

test('sends nothing when the format cannot express the request', async () => {
  await assert.rejects(chat.complete(asking({ n: 2 }), upstream()), ApiError);
  await assert.rejects(chat.stream(asking({ logprobs: true }), upstream()), ApiError);
  assert.equal(emulator.requests.length, 0);
});

type Refusal = Extract<Scripted, { kind: 'error' }>;
const refusal = (status: number, type: string, rest: Partial<Refusal> = {}): Refusal => ({
  kind: 'error',
  status,
  type,
  ...rest,
});

const REFUSALS: readonly (readonly [fault: string, answer: Refusal, retryAfterMs?: number])[] = [
  ['client', refusal(400, 'invalid_request_error')],
  ['account', refusal(400, 'invalid_request_error', { message: 'Your credit balance is too low to access the API.' })],
  ['policy', refusal(400, 'invalid_request_error', { message: 'Output blocked by content filtering policy' })],
  ['account', refusal(401, 'authentication_error')],
  ['account', refusal(402, 'billing_error')],
  ['account', refusal(403, 'permission_error')],
  ['config', refusal(404, 'not_found_error', { message: 'model: claude-x' })],
  ['server', refusal(409, 'conflict_error')],
  ['unfit', refusal(413, 'request_too_large')],
  ['rate', refusal(429, 'rate_limit_error', { headers: { 'retry-after': '12' } }), 12_000],
  ['rate', refusal(429, 'rate_limit_error', { details: { error_code: 'ramp_limit_exceeded' } })],
  ['account', refusal(429, 'rate_limit_error', { details: { error_code: 'enforced_spend_limit_reached' } })],
  ['server', refusal(500, 'api_error')],
  ['server', refusal(503, 'unavailable')],
  ['timeout', refusal(504, 'timeout_error')],
  ['server', refusal(529, 'overloaded_error')],
];

for (const [fault, answer, retryAfterMs] of REFUSALS) {
  test(`reads ${answer.status} ${answer.message ?? JSON.stringify(answer.details ?? answer.type)} as ${fault}`, async () => {
    emulator.script(answer, answer);
    const error = await chat.complete(asking(), upstream()).catch((thrown: unknown) => thrown);
    assertFault(error, fault);
    assert.equal(error.retryAfterMs, retryAfterMs);
    assertFault((await taken()).error, fault);
  });
}

test('reads a wrong key as a fault of the account', async () => {
  assertFault((await taken(asking(), upstream({ apiKey: 'wrong' }))).error, 'account');
});

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';
const raw = (contentType: string, body: string, end?: 'reset' | 'silence'): Scripted =>
  end === undefined ? { kind: 'raw', contentType, body } : { kind: 'raw', contentType, body, end };

const DOCUMENT_FAULTS: readonly (readonly [name: string, fault: string, answer: Scripted])[] = [
  ['is reset before its headers', 'connection', { kind: 'socket', fault: 'reset' }],
  ['is never made', 'timeout', { kind: 'socket', fault: 'silence' }],
  ['is cut in the middle', 'connection', raw(JSON_TYPE, '{"type":"mess', 'reset')],
  ['falls silent in the middle', 'timeout', raw(JSON_TYPE, '{"type":"mess', 'silence')],
  ['is nonsense', 'garbled', raw(JSON_TYPE, 'nonsense')],
  ['is empty', 'garbled', raw(JSON_TYPE, '')],
  ['is a page', 'garbled', raw('text/html', '<html></html>')],
];

for (const [name, fault, answer] of DOCUMENT_FAULTS) {
  test(`throws ${fault} when the answer ${name}`, async () => {
    emulator.script(answer);
    assertFault(await chat.complete(asking(), upstream({ timeoutMs: 100 })).catch((thrown: unknown) => thrown), fault);
  });
}

const BEFORE_THE_FIRST_CHUNK: readonly (readonly [name: string, fault: string, answer: Scripted])[] = [
  ['is reset before its headers', 'connection', { kind: 'socket', fault: 'reset' }],
  ['is never begun', 'timeout', { kind: 'socket', fault: 'silence' }],
  ['is a document', 'garbled', raw(JSON_TYPE, '{"type":"message"}')],
  ['is a page', 'garbled', raw('text/html', '<html></html>')],
  ['is an empty page', 'garbled', raw('text/html', '')],
  ['is nonsense', 'garbled', raw(STREAM_TYPE, 'data: nonsense\n\n')],
  ['falls silent at once', 'timeout', raw(STREAM_TYPE, ': hello\n\n', 'silence')],
];

for (const [name, fault, answer] of BEFORE_THE_FIRST_CHUNK) {
  test(`throws ${fault} and yields nothing when the stream ${name}`, async () => {
    emulator.script(answer);
    const { chunks, error } = await taken(asking(), upstream({ timeoutMs: 100 }));
    assertFault(error, fault);
    assert.equal(chunks.length, 0);
  });
}

test('ends quietly when the stream is empty', async () => {
  emulator.script(raw(STREAM_TYPE, ''));
  assert.deepEqual(await taken(), { chunks: [], error: undefined });
});

const START = { type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } };
const word = (text: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });

/** Frames go out, and the stream ends only when the words have been read. */
async function takenUntil(end: 'close' | 'reset' | 'silence', ...last: readonly Frame[]) {
  const read = Promise.withResolvers<void>();
  emulator.script({ kind: 'frames', frames: [START, word('Hel'), word('lo'), read.promise, ...last], end });
  const chunks: ChatChunk[] = [];
  try {
    for await (const chunk of await chat.stream(asking(), upstream({ timeoutMs: 100 }))) {
      if (chunks.push(chunk) === 3) read.resolve();
    }
  } catch (error) {
    return { chunks, error };
  }
  return { chunks, error: undefined };
}

const errorEvent = (type: string) => ({ type: 'error', error: { type, message: 'sorry' } });

const CUTS: readonly (readonly [
  name: string,
  fault: string,
  end: 'close' | 'reset' | 'silence',
  last: readonly Frame[],
])[] = [
  ['is reset', 'connection', 'reset', []],
  ['ends without its end', 'server', 'close', []],
  ['ends inside an event', 'server', 'close', ['event: content_block_delta\ndata: {"ty']],
  ['falls silent', 'timeout', 'silence', []],
  ['turns into nonsense', 'garbled', 'close', ['data: nonsense\n\n']],
  ['tells that the vendor is overloaded', 'server', 'close', [errorEvent('overloaded_error')]],
  ['tells a rate limit', 'rate', 'close', [errorEvent('rate_limit_error')]],
  ['tells a bad account', 'account', 'close', [errorEvent('permission_error')]],
];

for (const [name, fault, end, last] of CUTS) {
  test(`yields what there was and throws ${fault} when the stream ${name}`, async () => {
    const { chunks, error } = await takenUntil(end, ...last);
    assertFault(error, fault);
    assert.equal(wordsIn(chunks), 'Hello');
    assert.ok(chunks.every(({ usage }) => usage === undefined));
  });
}

test('hangs up when the attempt is given up', async () => {
  const leaving = new AbortController();
  emulator.script({ kind: 'frames', frames: [START, word('Hello')], end: 'silence' });
  const stream = await chat.stream(asking(), upstream({ signal: leaving.signal }));
  await assert.rejects(
    async () => {
      for await (const _ of stream) leaving.abort();
    },
    { name: 'AbortError' },
  );
  await emulator.requests[0]?.closed;
});

test('hangs up when the reader stops reading', async () => {
  emulator.script({ kind: 'frames', frames: [START, word('Hello')], end: 'silence' });
  for await (const _ of await chat.stream(asking(), upstream())) break;
  await emulator.requests[0]?.closed;
});

function sdk(apiKey = emulator.apiKey): Anthropic {
  return new Anthropic({ apiKey, baseURL: emulator.url, maxRetries: 0, logLevel: 'off' });
}

const ASKED = { model: 'claude-x', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hello' }] };

test('the vendor’s own library reads a message of the emulator', async () => {
  const content = [textBlock('Hi.'), toolBlock('toolu_1', 'weather', { city: 'Oslo' })];
  emulator.script({ kind: 'message', content, stopReason: 'tool_use', usage: CACHED });
  const message = await sdk().messages.create({
    ...ASKED,
    system: 'Be brief',
    tools: [{ name: 'weather', input_schema: { type: 'object' } }],
    tool_choice: { type: 'auto' },
    output_config: { effort: 'low' },
    thinking: { type: 'adaptive' },
  });
  assert.deepEqual(message.content, content);
  assert.equal(message.stop_reason, 'tool_use');
  assert.equal(message.usage.cache_read_input_tokens, 300);
  assert.equal(emulator.requests[0]?.headers['anthropic-version'], '2026-10-21');
});

test('the vendor’s own library puts a stream of the emulator together again', async () => {
  const content = [
    { type: 'thinking' as const, thinking: 'Hm, hm.', signature: 'signed' },
    textBlock('Hi there.'),
    toolBlock('toolu_1', 'weather', { city: 'Oslo' }),
    toolBlock('toolu_2', 'now', {}),
  ];
  emulator.script({ kind: 'message', content, stopReason: 'tool_use', usage: CACHED });
  const message = await sdk().messages.stream(ASKED).finalMessage();
  assert.deepEqual(message.content, content);
  assert.equal(message.usage.output_tokens, 50);
  assert.equal(message.usage.input_tokens, 10);
});

test('the vendor’s own library knows the emulator’s refusals', async () => {
  emulator.script(refusal(429, 'rate_limit_error'), refusal(529, 'overloaded_error'));
  await assert.rejects(sdk('wrong').messages.create(ASKED), Anthropic.AuthenticationError);
  await assert.rejects(sdk().messages.create(ASKED), Anthropic.RateLimitError);
  await assert.rejects(sdk().messages.create(ASKED), { status: 529, type: 'overloaded_error' });
  emulator.script({ kind: 'frames', frames: [errorEvent('overloaded_error')] });
  await assert.rejects(sdk().messages.stream(ASKED).finalMessage(), Anthropic.APIError);
});

const BOTH = ['2023-06-01', '2026-10-21'];
const said = (role: string, content: unknown) => ({
  messages: [
    { role: 'user', content: 'Hi' },
    { role, content },
  ],
});
const USE = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };
const DOCUMENT = { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } };

const STRICT: readonly (readonly [name: string, fields: object, refusedBy: readonly string[]])[] = [
  ['a plain request', {}, []],
  ['no limit', { max_tokens: undefined }, BOTH],
  ['no messages', { messages: [] }, BOTH],
  ['a field of another format', { max_completion_tokens: 5 }, BOTH],
  ['a temperature', { temperature: 0.2 }, BOTH],
  ['a temperature of one', { temperature: 1 }, ['2026-10-21']],
  ['top_p', { top_p: 0.9 }, BOTH],
  ['a choice without tools', { tool_choice: { type: 'auto' } }, BOTH],
  ['an empty text', { messages: [{ role: 'user', content: [{ type: 'text', text: ' ' }] }] }, BOTH],
  ['a call without its result', said('assistant', [USE]), BOTH],
  ['a result without its call', said('user', [{ type: 'tool_result', tool_use_id: 'toolu_9' }]), BOTH],
  ['a prefill', said('assistant', 'Well'), BOTH],
  [
    'a document of the assistant',
    { messages: [...said('assistant', [DOCUMENT]).messages, { role: 'user', content: 'x' }] },
    ['2026-10-21'],
  ],
  ['citations of the user', said('user', [{ type: 'text', text: 'x', citations: [] }]), ['2026-10-21']],
  ['thinking above the limit', { thinking: { type: 'enabled', budget_tokens: 2048 } }, BOTH],
  [
    'a bitmap',
    said('user', [{ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'QQ==' } }]),
    BOTH,
  ],
];

for (const [name, fields, refusedBy] of STRICT) {
  test(`the emulator refuses ${name} in ${refusedBy.join(' and ') || 'no version'}`, async () => {
    const refused: string[] = [];
    for (const version of BOTH) {
      const headers = { 'x-api-key': emulator.apiKey, 'content-type': JSON_TYPE, 'anthropic-version': version };
      const body = JSON.stringify({ ...ASKED, ...fields });
      const answer = await fetch(`${emulator.url}/v1/messages`, { method: 'POST', headers, body });
      const text = await answer.text();
      assert.ok(text.includes(MARKER));
      if (answer.status !== 200) refused.push(version);
      if (answer.status !== 200) assert.equal(JSON.parse(text).error.type, 'invalid_request_error');
    }
    assert.deepEqual(refused, refusedBy);
  });
}

test('the emulator refuses a wrong method, path, content type, version and key', async () => {
  const good = { 'x-api-key': emulator.apiKey, 'content-type': JSON_TYPE, 'anthropic-version': '2023-06-01' };
  const status = async (path: string, init: RequestInit) => (await fetch(emulator.url + path, init)).status;
  const body = JSON.stringify(ASKED);
  const post = (headers: Record<string, string>) => status('/v1/messages', { method: 'POST', headers, body });
  assert.equal(await post(good), 200);
  assert.equal(await status('/v1/messages', { headers: good }), 405);
  assert.equal(await status('/v2/messages', { method: 'POST', headers: good, body }), 404);
  assert.equal(await post({ ...good, 'content-type': 'text/plain' }), 400);
  assert.equal(await post({ ...good, 'anthropic-version': '2020-01-01' }), 400);
  assert.equal(await post({ 'x-api-key': emulator.apiKey, 'content-type': JSON_TYPE }), 400);
  assert.equal(await post({ ...good, 'x-api-key': 'wrong' }), 401);
});
