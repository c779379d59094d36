import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import {
  CONTENT,
  chat,
  collect,
  FAULTS,
  HELLO,
  isFault,
  KEY,
  MARKER,
  parsed,
  requestOf,
  TOOL_CALLS,
  together,
  USAGE,
  withEmulator,
} from './emulator/calls.ts';
import type { ERRORS, Script } from './emulator.ts';

test('a whole answer comes back clean, with its usage', () =>
  withEmulator({ apiKey: KEY }, async (emulator, upstream) => {
    emulator.script({ kind: 'answer', text: 'Good day.', usage: USAGE });
    const { body, usage } = await chat.complete(requestOf({ temperature: 0.5 }), upstream);
    assert.deepEqual(body, {
      id: '',
      object: 'chat.completion',
      created: 1_763_000_000,
      model: 'public',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Good day.', refusal: null, annotations: [] },
          finish_reason: 'stop',
          logprobs: null,
        },
      ],
      service_tier: 'default',
    });
    assert.deepEqual(usage, { inputTokens: 40, cachedTokens: 60, outputTokens: 30, reasoningTokens: 20 });
    const [request] = emulator.requests;
    assert.equal(request?.headers.authorization, `Bearer ${KEY}`);
    assert.equal(request?.headers['user-agent'], undefined);
    assert.equal(request?.bytes.toString(), JSON.stringify({ model: 'gpt-x', messages: HELLO, temperature: 0.5 }));
  }));

test('a stream comes back frame by frame, and its usage without a body', () =>
  withEmulator({ apiKey: KEY }, async (emulator, upstream) => {
    emulator.script({ kind: 'answer', text: 'Good day to you.', usage: USAGE });
    const chunks = await collect(await chat.stream(requestOf({ stream: true }), upstream));
    assert.equal(together(chunks).text, 'Good day to you.');
    assert.equal(together(chunks).finishReason, 'stop');
    assert.deepEqual(chunks.at(-1), {
      body: undefined,
      usage: { inputTokens: 40, cachedTokens: 60, outputTokens: 30, reasoningTokens: 20 },
    });
    assert.deepEqual(chunks[1], {
      body: {
        id: '',
        object: 'chat.completion.chunk',
        created: 1_763_000_000,
        model: 'public',
        choices: [{ index: 0, delta: { content: 'Good' }, finish_reason: null, logprobs: null }],
        service_tier: 'default',
      },
      usage: undefined,
    });
    assert.doesNotMatch(JSON.stringify(chunks), new RegExp(MARKER));
  }));

test('each chunk is handed on before the next frame is sent', () =>
  withEmulator({}, async (emulator, upstream) => {
    const gates = [0, 1, 2].map(() => Promise.withResolvers<void>());
    async function* frames() {
      for (const [at, gate] of gates.entries()) {
        await gate.promise;
        yield { choices: [{ index: 0, delta: { content: String(at) }, finish_reason: at === 2 ? 'stop' : null }] };
      }
    }
    emulator.script({ kind: 'frames', frames: frames() });
    const chunks = (await chat.stream(requestOf({ stream: true }), upstream))[Symbol.asyncIterator]();
    for (const [at, gate] of gates.entries()) {
      gate.resolve();
      const { value } = await chunks.next();
      assert.deepEqual(parsed(value).body?.choices, [
        { index: 0, delta: { content: String(at) }, finish_reason: at === 2 ? 'stop' : null },
      ]);
    }
    assert.equal((await chunks.next()).done, true);
  }));

test('tools are sent, and their calls come back whole and in pieces', () =>
  withEmulator({}, async (emulator, upstream) => {
    const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];
    emulator.script({ kind: 'answer', toolCalls: TOOL_CALLS }, { kind: 'answer', toolCalls: TOOL_CALLS });
    const { body } = await chat.complete(requestOf({ tools }), upstream);
    const [choice] = body.choices as unknown as [{ message: { tool_calls: unknown }; finish_reason: string }];
    const calls = TOOL_CALLS.map(({ id, ...call }) => ({ id, type: 'function', function: call }));
    assert.deepEqual([choice.message.tool_calls, choice.finish_reason], [calls, 'tool_calls']);
    const said = together(await collect(await chat.stream(requestOf({ tools, stream: true }), upstream)));
    assert.deepEqual([said.toolCalls, said.finishReason], [TOOL_CALLS, 'tool_calls']);
  }));

test('a server without a key is sent no authorization', () =>
  withEmulator({}, async (emulator, upstream) => {
    await chat.complete(requestOf(), upstream);
    assert.equal(emulator.requests[0]?.headers.authorization, undefined);
  }));

test('a stream that ended with its marker leaves its connection to others', () =>
  withEmulator({}, async (_emulator, upstream) => {
    const pool = upstream.pools.at(upstream.address).pool;
    let connections = 0;
    pool.on('connect', () => connections++);
    for (let round = 0; round < 10; round++) await collect(await chat.stream(requestOf({ stream: true }), upstream));
    // The second may begin before the first is known to be over.
    assert.ok(connections <= 2, `${connections} connections for ten streams`);
  }));

test('what the upstream would not take is not sent twice', () =>
  withEmulator({ apiKey: KEY, models: ['gpt-x'] }, async (emulator, upstream) => {
    await assert.rejects(chat.complete(requestOf({ no_such_field: 1 }), upstream), isFault('client'));
    await assert.rejects(chat.complete(requestOf(), { ...upstream, model: 'gpt-y' }), isFault('config'));
    await assert.rejects(chat.complete(requestOf(), { ...upstream, apiKey: 'sk-other' }), isFault('account'));
    await assert.rejects(chat.complete(requestOf(), { ...upstream, apiKey: '' }), isFault('account'));
    await assert.rejects(chat.complete(requestOf(), { ...upstream, address: emulator.origin }), isFault('config'));
    assert.equal(emulator.requests.length, 5);
  }));

describe('every refusal of the vendor is a fault', () => {
  for (const error of Object.keys(FAULTS) as (keyof typeof ERRORS)[]) {
    test(`${error} is ${FAULTS[error]}, whole and streamed`, () =>
      withEmulator({}, async (emulator, upstream) => {
        emulator.script({ kind: 'error', error }, { kind: 'error', error });
        await assert.rejects(chat.complete(requestOf(), upstream), isFault(FAULTS[error]));
        await assert.rejects(chat.stream(requestOf({ stream: true }), upstream), isFault(FAULTS[error]));
      }));
  }

  test('a throttle tells how long it asks to be left alone', () =>
    withEmulator({}, async (emulator, upstream) => {
      emulator.script({ kind: 'error', error: 'throttled', headers: { 'retry-after': '7' } });
      await assert.rejects(chat.complete(requestOf(), upstream), { fault: 'rate', retryAfterMs: 7000 });
    }));
});

const DOCUMENTS: readonly { name: string; script: Script; fault: Fault }[] = [
  { name: 'is reset before its headers', script: { kind: 'fault', fault: 'reset' }, fault: 'connection' },
  { name: 'is reset in its body', script: { kind: 'fault', fault: 'reset in the body' }, fault: 'connection' },
  { name: 'is not HTTP', script: { kind: 'fault', fault: 'garbage' }, fault: 'connection' },
  { name: 'is a web page', script: { kind: 'fault', fault: 'wrong content type' }, fault: 'garbled' },
  { name: 'is a list', script: { kind: 'raw', body: '[]' }, fault: 'garbled' },
  { name: 'has no choices', script: { kind: 'raw', body: '{"choices":[]}' }, fault: 'garbled' },
  { name: 'has no message', script: { kind: 'raw', body: '{"choices":[{"text":"Hi"}]}' }, fault: 'garbled' },
  { name: 'is an error', script: { kind: 'raw', body: '{"error":{"code":402,"message":"x"}}' }, fault: 'account' },
];

for (const { name, script, fault } of DOCUMENTS) {
  test(`an answer that ${name} fails as ${fault}`, () =>
    withEmulator({}, async (emulator, upstream) => {
      emulator.script(script);
      await assert.rejects(chat.complete(requestOf(), upstream), isFault(fault));
    }));
}

test('an upstream that says nothing fails as timeout, before its headers and between two frames', () =>
  withEmulator({}, async (emulator, upstream) => {
    emulator.script({ kind: 'fault', fault: 'silence' }, { kind: 'frames', frames: [CONTENT], end: 'silence' });
    const hasty = { ...upstream, timeoutMs: 50 };
    await assert.rejects(chat.complete(requestOf(), hasty), isFault('timeout'));
    const chunks = (await chat.stream(requestOf({ stream: true }), hasty))[Symbol.asyncIterator]();
    await chunks.next();
    await assert.rejects(async () => chunks.next(), isFault('timeout'));
  }));

test('a caller who stops listening stops the upstream', () =>
  withEmulator({}, async (emulator, upstream) => {
    emulator.script({ kind: 'frames', frames: [CONTENT], end: 'silence' });
    for await (const _chunk of await chat.stream(requestOf({ stream: true }), upstream)) break;
    assert.equal(await emulator.requests[0]?.isAbandoned, true);
  }));

test('an attempt that is given up stays an abort', () =>
  withEmulator({}, async (emulator, upstream) => {
    emulator.script({ kind: 'frames', frames: [CONTENT], end: 'silence' });
    const leaving = new AbortController();
    const request = requestOf({ stream: true });
    const chunks = (await chat.stream(request, { ...upstream, signal: leaving.signal }))[Symbol.asyncIterator]();
    await chunks.next();
    leaving.abort();
    await assert.rejects(async () => chunks.next(), { name: 'AbortError' });
  }));

test('a wait told in milliseconds comes before one told in seconds', () =>
  withEmulator({}, async (emulator, upstream) => {
    const headers = { 'retry-after-ms': '1250', 'retry-after': '2' };
    emulator.script({ kind: 'error', error: 'throttled', headers });
    await assert.rejects(chat.complete(requestOf(), upstream), { retryAfterMs: 1250 });
  }));

test('a field with an odd name is sent on like any other', () =>
  withEmulator({ isLenient: true }, async (emulator, upstream) => {
    const odd: JsonObject = JSON.parse('{"__proto__":{"a":1},"constructor":2}');
    await chat.complete(requestOf(odd), upstream);
    assert.match(emulator.requests[0]?.bytes.toString() ?? '', /"__proto__":\{"a":1\},"constructor":2/);
  }));
