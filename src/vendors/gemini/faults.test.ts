import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, test } from 'node:test';
import type { Fault } from '../../errors.ts';
import { type Upstream, UpstreamPools } from '../index.ts';
import {
  chat,
  chatOf,
  drain,
  frame,
  isFault,
  KEY,
  MARKER,
  native,
  nativeOf,
  textOf,
  upstreamAt,
} from './emulator/calls.ts';
import { ERRORS, GeminiEmulator, type Script, type SocketFault } from './emulator.ts';

const pools = new UpstreamPools();
let emulator: GeminiEmulator;

beforeEach(async () => {
  emulator = new GeminiEmulator({ apiKey: KEY, marker: MARKER });
  await emulator.start();
});
afterEach(() => emulator.stop());
after(() => pools.close());

const upstreamOf = (changes: Partial<Upstream> = {}) => upstreamAt(emulator, pools, changes);

/** Every way to ask, up to the moment at which the upstream has accepted. */
const WAYS: readonly (readonly [name: string, ask: (upstream: Upstream) => Promise<unknown>])[] = [
  ['a native call', (upstream) => native.call(nativeOf('generateContent'), upstream)],
  ['a native stream', (upstream) => native.stream(nativeOf('streamGenerateContent'), upstream)],
  ['a chat', (upstream) => chat.complete(chatOf(), upstream)],
  ['a chat stream', (upstream) => chat.stream(chatOf(), upstream)],
];

const FAULTS: Record<keyof typeof ERRORS, Fault> = {
  invalid: 'client',
  'bad key': 'account',
  precondition: 'client',
  range: 'client',
  unauthenticated: 'account',
  'no credit': 'account',
  forbidden: 'account',
  'not found': 'config',
  aborted: 'server',
  exists: 'server',
  rate: 'rate',
  cancelled: 'server',
  internal: 'server',
  unavailable: 'server',
  deadline: 'server',
};

for (const error of Object.keys(ERRORS) as (keyof typeof ERRORS)[]) {
  test(`the upstream's error "${error}" is a fault of class ${FAULTS[error]}, however it was asked`, async () => {
    for (const [, ask] of WAYS) {
      emulator.script({ kind: 'error', error });
      await assert.rejects(ask(upstreamOf()), isFault(FAULTS[error]));
    }
  });

  test(`the same error inside a stream is a fault of class ${FAULTS[error]} after what had come`, async () => {
    const { status: code, name: status, message } = ERRORS[error];
    const details = error === 'bad key' ? [{ reason: 'API_KEY_INVALID' }] : [];
    const frames = [frame('one'), { error: { code, status, message, details } }];
    emulator.script({ kind: 'frames', frames }, { kind: 'frames', frames });
    const fromChat = await drain(await chat.stream(chatOf(), upstreamOf()));
    assert.equal(textOf(fromChat.items), 'one');
    assert.ok(isFault(FAULTS[error])(fromChat.error));
    const fromNative = await drain((await native.stream(nativeOf('streamGenerateContent'), upstreamOf())).frames);
    assert.equal(fromNative.items.length, 1);
    assert.ok(isFault(FAULTS[error])(fromNative.error));
  });
}

test('a key that the upstream does not know is a fault of our account', async () => {
  for (const [, ask] of WAYS) await assert.rejects(ask(upstreamOf({ apiKey: 'wrong' })), isFault('account'));
});

const BAD_BODIES = [
  'not JSON',
  '{"contents":[]}',
  '{"contents":[{"parts":[{"text":"Hi"}]}],"unknown":1}',
  '{"contents":[{"role":"assistant","parts":[{"text":"Hi"}]}]}',
  '{"contents":[{"parts":[{"text":"Hi","inline_data":{}}]}]}',
  '{"contents":[{"parts":[{"functionResponse":{"name":"f","response":{}}}]}]}',
  '{"contents":[{"parts":[{"text":"Hi"}]}],"generation_config":{"temperature":3}}',
];

for (const text of BAD_BODIES) {
  test(`a native body that the upstream does not take is a fault of the client: ${text}`, async () => {
    const body = Buffer.from(text);
    await assert.rejects(native.call(nativeOf('generateContent', { body }), upstreamOf()), isFault('client'));
    const streamed = native.stream(nativeOf('streamGenerateContent', { body }), upstreamOf());
    await assert.rejects(streamed, isFault('client'));
  });
}

test('the upstream’s wish to be left alone is kept', async () => {
  emulator.script({ kind: 'error', error: 'rate', headers: { 'retry-after': '17' } });
  await assert.rejects(chat.complete(chatOf(), upstreamOf()), { retryAfterMs: 17_000 });
});

const SOCKETS: readonly (readonly [fault: SocketFault, whole: Fault, streamed: Fault | undefined])[] = [
  ['reset', 'connection', 'connection'],
  ['reset in the body', 'connection', undefined],
  ['silence', 'timeout', 'timeout'],
  ['garbage', 'connection', 'connection'],
  ['wrong content type', 'garbled', 'garbled'],
];

for (const [fault, whole, streamed] of SOCKETS) {
  test(`a socket fault (${fault}) has its class, however it was asked`, async () => {
    const asks = WAYS.map(async ([name, ask]) => {
      const expected = name.endsWith('stream') ? streamed : whole;
      if (expected === undefined) return;
      emulator.script({ kind: 'fault', fault });
      await assert.rejects(ask(upstreamOf({ timeoutMs: fault === 'silence' ? 1 : 10_000 })), isFault(expected), name);
    });
    await Promise.all(asks);
  });
}

test('a stream without a frame just ends', async () => {
  const empty: Script = { kind: 'fault', fault: 'empty stream' };
  const comments: Script = { kind: 'frames', frames: [': hello\r\n\r\n'] };
  emulator.script(empty, empty, comments);
  const none = { items: [], error: undefined };
  assert.deepEqual(await drain(await chat.stream(chatOf(), upstreamOf())), none);
  assert.deepEqual(await drain((await native.stream(nativeOf('streamGenerateContent'), upstreamOf())).frames), none);
  assert.deepEqual(await drain(await chat.stream(chatOf(), upstreamOf())), none);
});

const ENDS: readonly (readonly [name: string, fault: Fault, script: Omit<Script & { kind: 'frames' }, 'kind'>])[] = [
  ['ends before its finish', 'server', { frames: [frame('one')] }],
  ['is reset', 'connection', { frames: [frame('one')], end: 'reset' }],
  ['falls silent', 'timeout', { frames: [frame('one')], end: 'silence' }],
  ['is cut inside a frame', 'server', { frames: [frame('one'), 'data: {"candid'] }],
  [
    'is cut before a blank line',
    'server',
    { frames: [frame('one'), 'data: {"candidates":[{"finishReason":"STOP"}]}\r\n'] },
  ],
  ['holds something else than JSON', 'garbled', { frames: [frame('one'), 'data: <html>\r\n\r\n'] }],
  ['holds an error without a number', 'server', { frames: [frame('one'), { error: { code: 'failed' } }] }],
];

for (const [name, fault, { frames, end = 'close' }] of ENDS) {
  test(`a stream that ${name} is a fault of class ${fault} after what had come`, async () => {
    for (const start of [openChat, openNative]) {
      const gate = Promise.withResolvers<void>();
      emulator.script({ kind: 'frames', frames: gated(frames, gate.promise), end });
      const iterator = await start(upstreamOf({ timeoutMs: end === 'silence' ? 2_000 : 10_000 }));
      assert.ok(JSON.stringify(await iterator.next()).includes('one'));
      gate.resolve();
      await assert.rejects(iterator.next(), isFault(fault));
    }
  });
}

async function openChat(upstream: Upstream): Promise<AsyncIterator<unknown>> {
  return (await chat.stream(chatOf(), upstream))[Symbol.asyncIterator]();
}

async function openNative(upstream: Upstream): Promise<AsyncIterator<unknown>> {
  return (await native.stream(nativeOf('streamGenerateContent'), upstream)).frames[Symbol.asyncIterator]();
}

/** Sends the first, and the rest when the gate opens. */
async function* gated<Item>(items: Iterable<Item> | AsyncIterable<Item>, gate: Promise<void>): AsyncIterable<Item> {
  let isFirst = true;
  for await (const item of items) {
    yield item;
    if (isFirst) await gate;
    isFirst = false;
  }
}

test('one of two candidates without a finish is a cut stream', async () => {
  const two = { candidates: [{ finishReason: 'STOP' }, { index: 1, content: { parts: [{ text: 'b' }] } }] };
  emulator.script({ kind: 'frames', frames: [two] });
  const { items, error } = await drain(await chat.stream(chatOf(), upstreamOf()));
  assert.equal(items.length, 1);
  assert.ok(isFault('server')(error));
});

test('an error inside a success is a fault, whether it is whole or streamed', async () => {
  for (const [code, fault] of [
    [429, 'rate'],
    [503, 'server'],
    [403, 'account'],
  ] as const) {
    emulator.script({ kind: 'raw', body: JSON.stringify({ error: { code, message: MARKER } }) });
    await assert.rejects(native.call(nativeOf('generateContent'), upstreamOf()), isFault(fault));
  }
});

test('a refusal tells how long to stay away, in a header or in a detail', async () => {
  const details = [{ '@type': 'x' }, { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12.5s' }];
  const body = JSON.stringify({ error: { code: 429, message: 'later', details } });
  emulator.script(
    { kind: 'raw', status: 429, body },
    { kind: 'error', error: 'rate', headers: { 'retry-after': '7' } },
  );
  for (const retryAfterMs of [12_500, 7_000]) {
    await assert.rejects(native.call(nativeOf('generateContent'), upstreamOf()), { fault: 'rate', retryAfterMs });
  }
});
