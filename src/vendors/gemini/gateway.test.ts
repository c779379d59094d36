import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, test } from 'node:test';
import { ApiError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { type Upstream, UpstreamPools } from '../index.ts';
import {
  chat,
  chatOf,
  drain,
  frame,
  hash,
  isFault,
  KEY,
  MARKER,
  native,
  nativeOf,
  textOf,
  upstreamAt,
} from './emulator/calls.ts';
import { GeminiEmulator, type Script } from './emulator.ts';

const pools = new UpstreamPools();
let emulator: GeminiEmulator;

beforeEach(async () => {
  emulator = new GeminiEmulator({ apiKey: KEY, marker: MARKER });
  await emulator.start();
});
afterEach(() => emulator.stop());
after(() => pools.close());

const upstreamOf = (changes: Partial<Upstream> = {}) => upstreamAt(emulator, pools, changes);

function lastRequest() {
  const request = emulator.requests.at(-1);
  assert.ok(request !== undefined);
  return request;
}

test('a native call sends the caller’s bytes and returns the upstream’s, with the usage read from a copy', async () => {
  const usage = '"usageMetadata":{"promptTokenCount":9,"cachedContentTokenCount":4,"thoughtsTokenCount":2}';
  const bytes = Buffer.from(`{ "big":12345678901234567890, "big":1.0,\r\n "candidates":[], ${usage} }`);
  emulator.script({ kind: 'raw', contentType: 'application/json; charset=UTF-8', body: bytes });
  const request = nativeOf('generateContent', { query: 'b=2&a=1&b=3' });
  const answer = await native.call(request, upstreamOf({ model: 'vendor/x:free' }));
  const { method, path, headers, bytes: sent } = lastRequest();
  assert.equal(`${method} ${path}`, 'POST /v1beta/models/vendor/x:free:generateContent?b=2&a=1&b=3');
  assert.equal(hash(sent), hash(request.body));
  assert.equal(headers['x-goog-api-key'], KEY);
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['accept-encoding'], undefined);
  assert.equal(hash(answer.body), hash(bytes));
  assert.equal(answer.contentType, 'application/json; charset=UTF-8');
  assert.deepEqual(answer.usage, { inputTokens: 5, cachedTokens: 4, outputTokens: 0, reasoningTokens: 2 });
});

test('a native call passes on what the caller accepts', async () => {
  await native.call(nativeOf('generateContent', { accept: 'application/json; q=0.9' }), upstreamOf());
  assert.equal(lastRequest().headers.accept, 'application/json; q=0.9');
});

test('counting tokens tells no usage', async () => {
  const body = Buffer.from('{"contents":[{"parts":[{"text":"Hi"}]}]}');
  const answer = await native.call(nativeOf('countTokens', { body }), upstreamOf());
  assert.equal(lastRequest().path, '/v1beta/models/gemini-2.5-flash:countTokens');
  assert.equal(JSON.parse(answer.body.toString()).totalTokens, 7);
  assert.equal(answer.usage, undefined);
});

test('a blocked prompt is a success of the native format', async () => {
  emulator.script({ kind: 'answer', promptFeedback: { blockReason: 'SAFETY' } });
  const answer = await native.call(nativeOf('generateContent'), upstreamOf());
  assert.equal(JSON.parse(answer.body.toString()).promptFeedback.blockReason, 'SAFETY');
  emulator.script({ kind: 'answer', promptFeedback: { blockReason: 'SAFETY' } });
  const { frames } = await native.stream(nativeOf('streamGenerateContent'), upstreamOf());
  const { items, error } = await drain(frames);
  assert.equal(items.length, 1);
  assert.equal(error, undefined);
});

for (const [name, lineEnd] of [
  ['CRLF', '\r\n'],
  ['LF', '\n'],
] as const) {
  test(`a native stream yields each frame as it came, with ${name} between them`, async () => {
    const blank = lineEnd + lineEnd;
    const raw = [`data: {"candidates":[{"content":{"parts":[{"text":"ä"}]}}]}${blank}`];
    raw.push(`data: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3}}${blank}`);
    emulator.script({ kind: 'frames', frames: raw });
    const request = nativeOf('streamGenerateContent', { query: 'a=1' });
    const { contentType, frames } = await native.stream(request, upstreamOf());
    const { items, error } = await drain(frames);
    assert.equal(lastRequest().path, '/v1beta/models/gemini-2.5-flash:streamGenerateContent?a=1&alt=sse');
    assert.equal(hash(lastRequest().bytes), hash(request.body));
    assert.equal(contentType, 'text/event-stream');
    assert.equal(error, undefined);
    assert.deepEqual(
      items.map(({ bytes }) => bytes.toString()),
      raw,
    );
    assert.deepEqual(
      items.map(({ data }) => `data: ${data}${blank}`),
      raw,
    );
    assert.deepEqual(
      items.map(({ usage }) => usage?.inputTokens),
      [undefined, 3],
    );
  });
}

test('a native frame is yielded before the next one is sent', async () => {
  const gate = Promise.withResolvers<void>();
  async function* frames() {
    yield frame('one');
    await gate.promise;
    yield frame('two', 'STOP');
  }
  emulator.script({ kind: 'frames', frames: frames() });
  const stream = await native.stream(nativeOf('streamGenerateContent'), upstreamOf());
  const iterator = stream.frames[Symbol.asyncIterator]();
  const first = await iterator.next();
  assert.ok(first.done !== true && first.value.data.includes('one'));
  gate.resolve();
  const second = await iterator.next();
  assert.ok(second.done !== true && second.value.data.includes('two'));
  assert.equal((await iterator.next()).done, true);
});

test('a stream that nobody takes any more is let go at the upstream', async () => {
  emulator.script({ kind: 'frames', frames: [frame('one')], end: 'silence' });
  const { frames } = await native.stream(nativeOf('streamGenerateContent'), upstreamOf());
  for await (const _first of frames) break;
  assert.equal(await lastRequest().isAbandoned, true);
});

test('a call is given up when its signal is aborted', async () => {
  emulator.script({ kind: 'frames', frames: [frame('one')], end: 'silence' });
  const abort = new AbortController();
  const { frames } = await native.stream(nativeOf('streamGenerateContent'), upstreamOf({ signal: abort.signal }));
  const iterator = frames[Symbol.asyncIterator]();
  await iterator.next();
  abort.abort();
  await assert.rejects(iterator.next(), { name: 'AbortError' });
  assert.equal(await lastRequest().isAbandoned, true);
});

test('a chat is answered with its usage', async () => {
  const usageMetadata = {
    promptTokenCount: 20,
    cachedContentTokenCount: 8,
    candidatesTokenCount: 3,
    thoughtsTokenCount: 5,
  };
  emulator.script({ kind: 'answer', text: 'Good day.', usageMetadata });
  const { body, usage } = await chat.complete(chatOf({ temperature: 0.5 }), upstreamOf());
  assert.equal(lastRequest().path, '/v1beta/models/gemini-2.5-flash:generateContent');
  assert.deepEqual(JSON.parse(lastRequest().bytes.toString()), {
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    generationConfig: { temperature: 0.5 },
  });
  const message = { role: 'assistant', content: 'Good day.', refusal: null };
  assert.deepEqual(body.choices, [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]);
  assert.deepEqual(usage, { inputTokens: 12, cachedTokens: 8, outputTokens: 3, reasoningTokens: 5 });
  assert.ok(!JSON.stringify(body).includes(MARKER), 'nothing of the upstream’s own names is in the answer');
});

test('a chat streams word by word, with the running usage', async () => {
  emulator.script({ kind: 'answer', text: 'Good day to you.' });
  const { items, error } = await drain(await chat.stream(chatOf(), upstreamOf()));
  assert.equal(error, undefined);
  assert.equal(textOf(items), 'Good day to you.');
  assert.equal(items.length, 4);
  assert.equal(items.at(-1)?.usage?.outputTokens, 3);
  assert.ok(!JSON.stringify(items).includes(MARKER), 'nothing of the upstream’s own names is in a chunk');
});

for (const [name, changes] of [
  ['with the signature that came', (call: JsonObject) => call],
  [
    'by a caller that lost the signature',
    ({ id = '', type = '', ...call }: JsonObject) => ({ id, type, function: call.function ?? {} }),
  ],
] as const) {
  test(`calls are made and answered ${name}, as the upstream wants them`, async () => {
    const upstream = upstreamOf({ model: 'gemini-3.8-flash' });
    const parts = [
      { functionCall: { id: 'w', name: 'weather', args: { city: 'Bern' } }, thoughtSignature: 'c2ln' },
      { functionCall: { name: 'now', args: {} } },
    ];
    emulator.script({ kind: 'answer', parts });
    const { body } = await chat.complete(chatOf(), upstream);
    assert.ok(Array.isArray(body.choices));
    const [{ message, finish_reason: finish }] = body.choices;
    assert.equal(finish, 'tool_calls');
    const calls: JsonObject[] = message.tool_calls.map(changes);
    const answers = calls.map(({ id = '' }) => ({ role: 'tool', tool_call_id: id, content: 'ok' }));
    const messages = [{ role: 'user', content: 'Hi' }, { ...message, tool_calls: calls }, ...answers];
    const second = await chat.complete(chatOf({ messages }), upstream);
    assert.equal(second.usage?.outputTokens, 3);
    const [, , responses] = JSON.parse(lastRequest().bytes.toString()).contents;
    const names = responses.parts.map((part: { functionResponse: JsonObject }) => part.functionResponse.name);
    assert.deepEqual(names, ['weather', 'now']);
  });
}

test('calls in a stream come whole', async () => {
  emulator.script({
    kind: 'answer',
    parts: [{ text: 'So: ' }, { functionCall: { id: 'a', name: 'f', args: { x: 1 } } }],
  });
  const { items } = await drain(await chat.stream(chatOf(), upstreamOf()));
  const last = items.at(-1)?.body?.choices;
  assert.ok(Array.isArray(last));
  assert.equal(last[0].finish_reason, 'tool_calls');
  assert.deepEqual(last[0].delta.tool_calls[0].function, { name: 'f', arguments: '{"x":1}' });
});

test('a chat that the format cannot express is refused before anything is sent', async () => {
  const isRefusal = (error: unknown) => error instanceof ApiError && error.code === 'unsupported_parameter';
  await assert.rejects(chat.complete(chatOf({ logprobs: true }), upstreamOf()), isRefusal);
  await assert.rejects(chat.stream(chatOf({ logprobs: true }), upstreamOf()), isRefusal);
  assert.equal(emulator.requests.length, 0);
});

test('a blocked prompt is a policy fault of a chat, streamed or not', async () => {
  const blocked: Script = { kind: 'answer', promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } };
  emulator.script(blocked, blocked);
  await assert.rejects(chat.complete(chatOf(), upstreamOf()), isFault('policy'));
  const { items, error } = await drain(await chat.stream(chatOf(), upstreamOf()));
  assert.equal(items.length, 0);
  assert.ok(isFault('policy')(error));
});
