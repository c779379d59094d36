import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { frame } from '../src/vendors/gemini/emulator/calls.ts';
import { GeminiEmulator, type Script } from '../src/vendors/gemini/emulator.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { HELLO, hash, MARKER, MODELS, nativeDocument, post, UPSTREAM_KEY } from './support/native.ts';
import { moneyOf, OpenStream, paidCaller, spentInTheEnd } from './support/paid-calls.ts';

const COOLED_SECONDS = 3600;
const STREAM = 'native:streamGenerateContent';

const emulator = new GeminiEmulator({ apiKey: UPSTREAM_KEY, models: Object.values(MODELS), marker: MARKER });
let gateway: Gateway;
before(async () => {
  await emulator.start();
  gateway = await Gateway.start();
  await gateway.putConfig(nativeDocument(emulator));
});
after(async () => {
  await gateway.stop();
  await emulator.stop();
});
afterEach(async () => {
  await gateway.assertBooksBalance();
  gateway.clock.advance(COOLED_SECONDS);
});

const textOf = (data: string) => `data: ${data}\r\n\r\n`;
const DONE = '{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}';

/** What the ledger knows of the call. */
async function recordOf({ key }: NewCaller, id: unknown): Promise<Answer['json']> {
  return (await gateway.call('GET', `/v1/requests/${String(id)}`, { key })).json;
}

describe('streams that go well', () => {
  const ODD_STREAMS = [
    ['of odd spacing and numbers', `data:{"big":12345678901234567890,  "x":1.0}\n\ndata:   ${DONE}\r\n\r\n`],
    ['with comments and other fields', `: hello\n\nid: 1\nevent: x\ndata: {"a":1}\n\n:\r\n\r\n${textOf(DONE)}`],
    ['whose frames have several lines', `data: {"a":\ndata: 1}\n\n${textOf(DONE)}`],
  ] as const;
  for (const [what, body] of ODD_STREAMS) {
    test(`R-453, R-460: a stream ${what} comes back as its bytes`, async () => {
      const { key } = await paidCaller(gateway);
      emulator.script({ kind: 'raw', contentType: 'text/event-stream; odd=Yes', body });
      const answer = await post(gateway, key, STREAM);
      assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'text/event-stream; odd=Yes']);
      assert.deepEqual([hash(answer.bytes), answer.text], [hash(body), body]);
    });
  }

  test('R-460, R-462: the default and alt=sse give the same events, and the upstream’s last is the last', async () => {
    const { key } = await paidCaller(gateway);
    const script: Script = { kind: 'answer', text: 'Good day to you.' };
    emulator.script(script, script);
    const [plain, sse] = [await post(gateway, key, STREAM), await post(gateway, key, `${STREAM}?alt=sse`)];
    for (const { status, headers, isCut } of [plain, sse]) {
      assert.deepEqual([status, headers['content-type'], isCut], [200, 'text/event-stream', false]);
    }
    assert.equal(hash(plain.bytes), hash(sse.bytes));
    const frames = plain.text.split('\r\n\r\n');
    assert.equal(frames.pop(), '');
    assert.equal(frames.length, 4);
    const last = JSON.parse(frames.at(-1)?.slice('data: '.length) ?? '');
    assert.equal(last.candidates[0].finishReason, 'STOP');
    assert.doesNotMatch(plain.text, /\[DONE\]/);
  });

  test('R-461, R-462: alt=json gives the same frames as one array, and nothing else in it', async () => {
    const { key } = await paidCaller(gateway);
    const script: Script = { kind: 'answer', text: 'Good day to you.' };
    emulator.script(script, script);
    const array = await gateway.call('POST', `/v1beta/models/${STREAM}?alt=json`, { key, raw: HELLO });
    assert.match(array.headers['content-type'] ?? '', /^application\/json\b/);
    const events = await post(gateway, key, STREAM);
    const frames = events.text.split('\r\n\r\n').slice(0, -1);
    assert.deepEqual(
      array.json,
      frames.map((text) => JSON.parse(text.slice('data: '.length))),
    );
  });

  test('R-461: numbers in an array are as the upstream wrote them', async () => {
    const { key } = await paidCaller(gateway);
    emulator.script({ kind: 'frames', frames: [textOf('{"big":12345678901234567890,"x":1.0}'), textOf(DONE)] });
    const { text } = await post(gateway, key, `${STREAM}?alt=json`);
    assert.match(text, /^\[\{"big":12345678901234567890,"x":1\.0\},\s*\{/);
  });

  test('each frame goes out while the upstream is still at work', async () => {
    const { key } = await paidCaller(gateway);
    const goOn = Promise.withResolvers<void>();
    async function* frames() {
      yield frame('first');
      await goOn.promise;
      yield frame('second', 'STOP');
    }
    emulator.script({ kind: 'frames', frames: frames() });
    await using stream = await OpenStream.open(gateway, `/v1beta/models/${STREAM}`, { key, body: JSON.parse(HELLO) });
    assert.doesNotMatch(await stream.until('"first"'), /"second"/);
    goOn.resolve();
    assert.match((await stream.rest()).text, /"second"/);
  });
});

describe('streams that fail', () => {
  for (const fault of ['empty stream', 'silent comments'] as const) {
    test(`R-469: an upstream stream that ends without a frame (${fault}) is a failure of its own`, async () => {
      const caller = await paidCaller(gateway, 10);
      for (const query of ['', '?alt=sse', '?alt=json']) {
        if (fault === 'empty stream') emulator.script({ kind: 'fault', fault });
        else emulator.script({ kind: 'frames', frames: [': nothing yet\n\n'] });
        const path = `/v1beta/models/${STREAM}${query}`;
        const answer = await gateway.call('POST', path, { key: caller.key, raw: HELLO });
        assert.deepEqual([answer.status, answer.json.error.code], [502, 'empty_stream']);
        gateway.clock.advance(COOLED_SECONDS);
      }
      assert.deepEqual(await moneyOf(gateway, caller), { available: 10, reserved: 0, spent: 0 });
    });
  }

  const FIRST = frame('Good');
  const FAILURES: readonly (readonly [what: string, script: Script])[] = [
    ['is reset', { kind: 'frames', frames: [FIRST], end: 'reset' }],
    ['ends before its answer does', { kind: 'frames', frames: [FIRST] }],
    ['tells an error', { kind: 'frames', frames: [FIRST, { error: { code: 503, message: MARKER, status: 'X' } }] }],
    ['ends inside a frame', { kind: 'frames', frames: [FIRST, 'data: {"candidates":[{"con'] }],
    ['sends what is no JSON', { kind: 'frames', frames: [FIRST, `data: <${MARKER}>\n\n`] }],
  ];
  for (const [what, script] of FAILURES) {
    test(`R-472: when the upstream ${what} after its first frame, one error frame ends the stream, and the connection is cut`, async () => {
      const caller = await paidCaller(gateway);
      emulator.script(script);
      const { status, headers, text, isCut } = await post(gateway, caller.key, STREAM);
      assert.deepEqual([status, isCut], [200, true]);
      const [first = '', error = '', ...rest] = text.split('\r\n\r\n');
      assert.deepEqual(JSON.parse(first.slice('data: '.length)).candidates, FIRST.candidates);
      assertFailure(JSON.parse(error.slice('data: '.length)));
      assert.deepEqual(rest, ['']);
      await assertPaid(caller, headers['x-request-id']);
    });

    test(`R-472: when the upstream ${what} after its first frame, an array ends with one error, and the connection is cut`, async () => {
      const caller = await paidCaller(gateway);
      emulator.script(script);
      const { status, headers, text, isCut } = await post(gateway, caller.key, `${STREAM}?alt=json`);
      assert.deepEqual([status, isCut], [200, true]);
      const [first, error, ...rest] = JSON.parse(text);
      assert.deepEqual(first.candidates, FIRST.candidates);
      assertFailure(error);
      assert.deepEqual(rest, []);
      await assertPaid(caller, headers['x-request-id']);
    });
  }

  function assertFailure(frame: Answer['json']): void {
    const { message, ...error } = frame.error;
    assert.deepEqual(error, { type: 'upstream_error', code: 'upstream_failed', param: null });
    assert.ok(message.length > 0);
    assert.doesNotMatch(message, new RegExp(MARKER));
  }

  /** The first frame told a prompt of five tokens and an answer of four. */
  async function assertPaid(caller: NewCaller, requestId: unknown): Promise<void> {
    const { usage, credits, status } = await recordOf(caller, requestId);
    assert.deepEqual([usage.input_tokens, usage.output_tokens, status], [5, 4, 'settled']);
    assert.equal(credits, (5 * 1 + 4 * 4) / 1000);
    assert.equal(await spentInTheEnd(gateway, caller), credits);
  }

  for (const [what, script, attempts] of [
    ['refuses', { kind: 'error', error: 'unavailable' }, 2],
    ['breaks off', { kind: 'frames', frames: [], end: 'reset' }, 2],
    ['answers with a page', { kind: 'fault', fault: 'wrong content type' }, 1],
    ['tells an error first', { kind: 'frames', frames: [{ error: { code: 503 } }] }, 2],
  ] as const satisfies readonly (readonly [string, Script, number])[]) {
    test(`an upstream that ${what} before its first frame is answered with a status, and costs nothing`, async () => {
      const caller = await paidCaller(gateway, 10);
      emulator.script(...Array.from({ length: attempts }, () => script));
      const answer = await gateway.call('POST', `/v1beta/models/${STREAM}`, { key: caller.key, raw: HELLO });
      assert.deepEqual([answer.status, answer.json.error.code], [502, 'upstream_failed']);
      assert.deepEqual(await moneyOf(gateway, caller), { available: 10, reserved: 0, spent: 0 });
    });
  }
});

describe('what streams cost', () => {
  test('R-471: the last counts that the upstream told are what is paid', async () => {
    const caller = await paidCaller(gateway);
    const counts = { promptTokenCount: 100, cachedContentTokenCount: 60, candidatesTokenCount: 5 };
    emulator.script({ kind: 'answer', text: 'a b c', usageMetadata: { ...counts, thoughtsTokenCount: 20 } });
    const { headers } = await post(gateway, caller.key, STREAM);
    const { usage, credits } = await recordOf(caller, headers['x-request-id']);
    const tokens = { input_tokens: 40, cached_tokens: 60, output_tokens: 5, reasoning_tokens: 20 };
    assert.deepEqual(usage, { ...tokens, requests: 1 });
    assert.equal(credits, (40 * 1 + 60 * 0.25 + 5 * 4 + 20 * 8) / 1000);
  });

  test('R-471: a stream without counts is counted here, and its record says so', async () => {
    const caller = await paidCaller(gateway);
    emulator.script({ kind: 'frames', frames: [textOf(DONE)] });
    const { headers, status } = await post(gateway, caller.key, STREAM);
    assert.equal(status, 200);
    const { usage, credits } = await recordOf(caller, headers['x-request-id']);
    assert.equal(usage.estimated, true);
    assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0);
    assert.equal(await spentInTheEnd(gateway, caller), credits);
  });

  test('a caller who leaves pays for what had come by then', async () => {
    const caller = await paidCaller(gateway);
    emulator.script({ kind: 'frames', frames: [frame('Good')], end: 'silence' });
    {
      const options = { key: caller.key, body: JSON.parse(HELLO) };
      await using stream = await OpenStream.open(gateway, `/v1beta/models/${STREAM}`, options);
      await stream.until('Good');
    }
    assert.equal(await emulator.requests.at(-1)?.isAbandoned, true);
    assert.equal(await spentInTheEnd(gateway, caller), (5 * 1 + 4 * 4) / 1000);
  });
});
