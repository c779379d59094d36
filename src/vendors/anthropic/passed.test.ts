import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, test } from 'node:test';
import { ApiError, UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { FormatFrame } from '../format-work.ts';
import { type Upstream, UpstreamPools } from '../kit/http.ts';
import { signatureOf } from './emulator/rules.ts';
import { AnthropicEmulator, COUNTED_TOKENS, type Scripted, textBlock, toolBlock } from './emulator.ts';
import { allowedBetas } from './features.ts';
import { messages } from './passed.ts';

const pools = new UpstreamPools();
let emulator: AnthropicEmulator;
beforeEach(async () => {
  emulator = new AnthropicEmulator({ marker: 'mark' });
  await emulator.start();
});
afterEach(() => emulator.stop());
after(() => pools.close());

function upstream(changes: Partial<Upstream> = {}): Upstream {
  const { url: address, apiKey } = emulator;
  const signal = new AbortController().signal;
  return { model: 'claude-x', address, apiKey, timeoutMs: 10_000, signal, pools, ...changes };
}

function asking(more: JsonObject = {}, headers: Record<string, string> = {}) {
  const body = { model: 'public', max_tokens: 500, messages: [{ role: 'user', content: 'Hi' }], ...more };
  return { body, bytes: Buffer.from(JSON.stringify(body)), headers };
}

async function framesOf(more: JsonObject = {}): Promise<FormatFrame[]> {
  return Array.fromAsync(await messages.stream(asking({ stream: true, ...more }), upstream()));
}

const THOUGHTS = 'Let me think.';
const CONTENT = [
  { type: 'thinking', thinking: THOUGHTS, signature: signatureOf(THOUGHTS) } as const,
  textBlock('Good day.'),
  toolBlock('toolu_1', 'weather', { city: 'Oslo', days: 3 }),
  toolBlock('toolu_2', 'weather', {}),
];
const USAGE = {
  input_tokens: 10,
  cache_creation_input_tokens: 20,
  cache_read_input_tokens: 300,
  output_tokens: 50,
  output_tokens_details: { thinking_tokens: 30 },
};
const COUNTED = { inputTokens: 10, cachedTokens: 300, cacheWriteTokens: 20, outputTokens: 20, reasoningTokens: 30 };
const SCRIPT: Scripted = { kind: 'message', content: CONTENT, stopReason: 'tool_use', usage: USAGE };

test('a stream that is joined is the message that is told whole', async () => {
  emulator.script(SCRIPT, SCRIPT);
  const whole = await messages.complete(asking(), upstream());
  const joined = await messages.complete(asking({ max_tokens: 50_000 }), upstream());
  assert.equal(JSON.parse(String(emulator.requests[1]?.bytes)).stream, true);
  const { marker, ...body } = whole.body;
  assert.deepEqual([joined.body, marker], [body, 'mark']);
  assert.deepEqual(joined.usage, COUNTED);
  assert.deepEqual(whole.usage, COUNTED);
});

test('frames are as they came; usage is told at the end alone, and text where it is added', async () => {
  emulator.script(SCRIPT);
  const frames = await framesOf();
  assert.deepEqual(frames[0]?.event, 'message_start');
  assert.equal(frames.map(({ added }) => added).join(''), `${THOUGHTS}Good day.{"city":"Oslo","days":3}`);
  const told = frames.filter(({ usage }) => usage !== undefined);
  assert.deepEqual(
    told.map(({ event, usage }) => [event, usage]),
    [['message_delta', COUNTED]],
  );
  assert.ok(frames.every(({ data, body }) => JSON.stringify(body) === data));
});

test('thoughts that the vendor signed go back to it, to the byte', async () => {
  const turns = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: CONTENT.slice(0, 2).map(({ ...block }) => ({ ...block, citations: undefined })) },
    { role: 'user', content: 'Go on.' },
  ];
  const asked = asking({ messages: JSON.parse(JSON.stringify(turns)) });
  await messages.complete(asked, upstream());
  assert.equal(String(emulator.requests[0]?.bytes), String(asked.bytes).replace('"public"', '"claude-x"'));
});

const LATE_ERROR = { type: 'error', error: { type: 'overloaded_error' } };
const EMPTY_START = { type: 'message_start', message: {} };

for (const [what, script, fault] of [
  ['an error before the message', { kind: 'frames', frames: [LATE_ERROR] }, 'server'],
  ['a stream that ends in the middle', { kind: 'frames', frames: [EMPTY_START] }, 'server'],
  [
    'a document in place of events',
    { kind: 'raw', contentType: 'application/json', body: '{"type":"message"}' },
    'garbled',
  ],
  ['a refusal', { kind: 'error', status: 429, type: 'rate_limit_error' }, 'rate'],
] as const) {
  test(`${what} is a fault of a stream, and of a whole answer that is streamed`, async () => {
    emulator.script(script, script);
    const isFault = (error: unknown) => error instanceof UpstreamError && error.fault === fault;
    await assert.rejects(framesOf(), isFault);
    await assert.rejects(messages.complete(asking({ max_tokens: 50_000 }), upstream()), isFault);
  });
}

test('an input of a tool that was cut off is told as far as it came', async () => {
  const block = { type: 'tool_use', id: 'a', name: 'b', input: {} };
  const frames = [
    { type: 'message_start', message: { type: 'message', content: [], usage: {} } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a":' } },
    { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
  emulator.script({ kind: 'frames', frames });
  const { body } = await messages.complete(asking({ max_tokens: 50_000 }), upstream());
  assert.deepEqual(body.content, [{ ...block, input: { arguments: '{"a":' } }]);
  assert.equal(body.stop_reason, 'max_tokens');
});

test('counts without what a prompt does not have', async () => {
  const { max_tokens: _, ...body } = asking().body;
  assert.equal(await messages.count?.({ body }, upstream()), COUNTED_TOKENS);
});

for (const [what, betas, header, left] of [
  ['those that cost nothing by default', undefined, 'effort-2025-11-24,context-1m-2025-08-07', 'effort-2025-11-24'],
  ['none where none is known', undefined, 'unheard-of-2030-01-01, ,', undefined],
  [
    'those that are named, with or without a date',
    ['a', 'b-2025-01-01'],
    'b-2025-01-01,a-20240101,b-2026-01-01',
    'b-2025-01-01,a-20240101',
  ],
  ['any', ['*'], ' x , y-2030-01-01', 'x,y-2030-01-01'],
  ['none at all', [], 'effort-2025-11-24', undefined],
] as const) {
  test(`betas that callers may turn on: ${what}`, () => assert.equal(allowedBetas(header, { betas }), left));
}

for (const [what, more, name] of [
  ['a tool that the vendor runs', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }, /web_fetch_20250910/],
  [
    'servers that the vendor calls',
    { mcp_servers: [{ type: 'url', url: 'https://x.test', name: 'x' }] },
    /mcp_servers/,
  ],
  ['a container', { container: 'c' }, /container/],
  [
    'a file of the account, inside a result',
    {
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't',
              content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }],
            },
          ],
        },
      ],
    },
    /messages\[0\]\.content\[0\]\.content\[0\]\.source\.file_id/,
  ],
] as const satisfies readonly (readonly [string, JsonObject, RegExp])[]) {
  test(`${what} is refused by name unless the upstream's setting allows it`, async () => {
    const isNamed = (error: unknown) =>
      error instanceof ApiError && error.code === 'unsupported_parameter' && name.test(error.message);
    await assert.rejects(messages.complete(asking(more), upstream()), isNamed);
    await assert.rejects(messages.stream(asking(more), upstream()), isNamed);
    assert.equal(emulator.requests.length, 0);
    // Allowed, it is the vendor's to judge.
    await messages.complete(asking(more), upstream({ serverTools: true })).catch(() => undefined);
    assert.equal(emulator.requests.length, 1);
  });
}

test('a tool that the caller runs is passed on', async () => {
  await messages.complete(asking({ tools: [{ type: 'bash_20250124', name: 'bash' }] }), upstream());
  assert.equal(emulator.requests.length, 1);
});
