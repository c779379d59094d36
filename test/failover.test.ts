import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { OpenAiEmulator, type Script } from '../src/vendors/openai/emulator.ts';
import type { Fields } from './support/documents.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { chatBody, delta, framesIn, moneyOf, paidCaller, spentInTheEnd, tokenModel } from './support/paid-calls.ts';
import { upstreamHealth } from './support/upstream-health.ts';

const PATH = '/v1/chat/completions';
const MODEL = 'talker';
const STREAM = { stream: true };
const BROKEN: Script = { kind: 'error', error: 'broken' };
const GREETING_CREDITS = 0.021;

let gateway: Gateway;
const first = new OpenAiEmulator();
const second = new OpenAiEmulator();
before(async () => {
  await Promise.all([first.start(), second.start()]);
  gateway = await Gateway.start();
});
after(async () => {
  await gateway.stop();
  await Promise.all([first.stop(), second.stop()]);
});

let caller: NewCaller;
let tests = 0;
beforeEach(async () => {
  tests++;
  caller = await paidCaller(gateway);
  first.requests.length = 0;
  second.requests.length = 0;
});
afterEach(() => gateway.assertBooksBalance());

/** Names of this test’s own: nobody else’s faults cool them. */
function upstreamAt({ url }: OpenAiEmulator, name: string, fields: Fields = {}): Fields & { id: string } {
  return { id: `${name}-${tests}`, vendor: 'openai', base_url: url, ...fields };
}

async function route(upstreams: readonly (Fields & { id: string })[], fields: Fields = {}): Promise<void> {
  const ids = upstreams.map(({ id }) => id);
  await gateway.putConfig({ upstreams, models: [tokenModel(MODEL, ids, fields)] });
}

/** The first emulator is always asked before the second. */
async function inOrder(): Promise<void> {
  await route([upstreamAt(first, 'first', { priority: 1 }), upstreamAt(second, 'second')]);
}

async function alone(): Promise<void> {
  await route([upstreamAt(first, 'first')]);
}

function chat(more: Fields = {}): Promise<Answer> {
  return gateway.call('POST', PATH, { key: caller.key, body: chatBody(MODEL, more) });
}

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json?.error.code], [status, code], answer.text);
}

function asked(): [number, number] {
  return [first.requests.length, second.requests.length];
}

async function healthOf(name: string): Promise<Fields> {
  return (await upstreamHealth(gateway, `${name}-${tests}`)).model;
}

describe('the order of candidates', () => {
  test('R-012: two healthy upstreams of equal weight both get traffic', async () => {
    await route([upstreamAt(first, 'first'), upstreamAt(second, 'second')]);
    for (let calls = 0; calls < 60; calls++) await chat();
    // Either side staying away would be a chance of two to the power of minus 59.
    assert.ok(first.requests.length > 0 && second.requests.length > 0, String(asked()));
  });

  test('R-516: the heavier of two gets the more, in proportion', async () => {
    await route([upstreamAt(first, 'first', { weight: 9 }), upstreamAt(second, 'second')]);
    for (let calls = 0; calls < 200; calls++) await chat();
    // 180 and 20 are expected; that these bounds are missed by chance is less likely than one in a million.
    assert.ok(first.requests.length > 155 && second.requests.length > 1, String(asked()));
  });

  test('R-516: a higher priority goes first, whatever the weights', async () => {
    const heavy = upstreamAt(second, 'second', { weight: 1000 });
    await route([heavy, upstreamAt(first, 'first', { priority: 1, weight: 0.001 })]);
    for (let calls = 0; calls < 10; calls++) await chat();
    assert.deepEqual(asked(), [10, 0]);
  });

  test('R-516: at most three candidates are tried', async () => {
    const faulty = ['a', 'b', 'c'].map((name) => upstreamAt(first, name, { priority: 1 }));
    await route([...faulty, upstreamAt(second, 'd')]);
    first.script(BROKEN, BROKEN, BROKEN);
    refused(await chat(), 502, 'upstream_failed');
    assert.deepEqual(asked(), [3, 0]);
  });

  test('R-066: a model whose upstreams cannot do this work answers 404', async () => {
    await route([upstreamAt(first, 'first')], { endpoints: ['chat', 'native'] });
    const { key } = caller;
    const answer = await gateway.call('POST', `/v1beta/models/${MODEL}:generateContent`, {
      key,
      body: { contents: [] },
    });
    refused(answer, 404, 'no_capable_provider');
    assert.deepEqual(asked(), [0, 0]);
  });
});

describe('trying once more', () => {
  test('R-509: a single upstream that hiccups once is asked again for the same request', async () => {
    await alone();
    for (const script of [BROKEN, { kind: 'fault', fault: 'reset' }] as const) {
      first.script(script);
      assert.equal((await chat()).status, 200);
    }
    assert.deepEqual(asked(), [4, 0]);
  });

  test('R-510: a single upstream is asked at most twice', async () => {
    await alone();
    first.script(BROKEN, BROKEN);
    refused(await chat(), 502, 'upstream_failed');
    assert.deepEqual(asked(), [2, 0]);
  });

  for (const error of ['throttled', 'badKey', 'noModel'] as const) {
    test(`R-516: what does not pass in a blink (${error}) is not asked again`, async () => {
      await alone();
      first.script({ kind: 'error', error });
      refused(await chat(), 502, 'upstream_failed');
      assert.deepEqual(asked(), [1, 0]);
    });
  }
});

describe('failing over', () => {
  for (const more of [{}, STREAM]) {
    const what = 'stream' in more ? 'a stream' : 'a whole answer';
    test(`R-509 R-476: ${what} comes from the second upstream when the first fails`, async () => {
      await inOrder();
      first.script(BROKEN);
      assert.equal((await chat(more)).status, 200);
      assert.deepEqual(asked(), [1, 1]);
      assert.equal(await spentInTheEnd(gateway, caller), GREETING_CREDITS);
    });

    test(`R-510 R-476: ${what} that every upstream fails is one error under one request id`, async () => {
      await inOrder();
      first.script(BROKEN, BROKEN);
      second.script(BROKEN);
      const answer = await chat(more);
      refused(answer, 502, 'upstream_failed');
      assert.deepEqual(asked(), [2, 1]);
      assert.match(answer.headers['x-request-id'] ?? '', /^req_/);
      assert.deepEqual(await moneyOf(gateway, caller), { available: 1000, reserved: 0, spent: 0 });
    });
  }

  test('R-509 R-517: an answer that is lost on its way is asked for elsewhere and charged once', async () => {
    await inOrder();
    first.script({ kind: 'fault', fault: 'reset in the body' });
    assert.equal((await chat()).json.usage.credits, GREETING_CREDITS);
    assert.deepEqual(asked(), [1, 1]);
    assert.equal((await moneyOf(gateway, caller)).spent, GREETING_CREDITS);
  });

  test('R-511: a stream does not fail over after its first byte', async () => {
    await inOrder();
    first.script({ kind: 'frames', frames: [delta('One')], end: 'reset' });
    const { status, text } = await chat(STREAM);
    assert.deepEqual([status, framesIn(text).at(-1).error.code], [200, 'upstream_failed']);
    assert.deepEqual(asked(), [1, 0]);
  });

  for (const [error, code] of [
    ['invalid', 'upstream_rejected'],
    ['tooLong', 'upstream_rejected'],
    ['unprocessable', 'upstream_rejected'],
    ['policy', 'content_rejected'],
    ['moderated', 'content_rejected'],
  ] as const) {
    test(`R-046: what is the request’s own fault (${error}) is final after one upstream call and no strike`, async () => {
      await inOrder();
      first.script({ kind: 'error', error }, { kind: 'error', error });
      refused(await chat(), 400, code);
      refused(await chat(STREAM), 400, code);
      assert.deepEqual(asked(), [2, 0]);
      const { state, strikes } = await healthOf('first');
      assert.deepEqual([state, strikes], ['closed', 0]);
      assert.deepEqual(await moneyOf(gateway, caller), { available: 1000, reserved: 0, spent: 0 });
    });
  }

  test('R-509: what is too large for one upstream is taken by another; what all find too large is refused for good', async () => {
    await inOrder();
    first.script({ kind: 'error', error: 'tooLarge' }, { kind: 'error', error: 'tooLarge' });
    assert.equal((await chat()).status, 200);
    second.script({ kind: 'error', error: 'tooLarge' });
    refused(await chat(), 400, 'upstream_rejected');
    assert.deepEqual(asked(), [2, 2]);
    assert.equal((await healthOf('first')).strikes, 0);
  });

  test('R-068 R-510: when every upstream stays silent the answer is 504', async () => {
    await route([
      upstreamAt(first, 'first', { timeout_seconds: 1 }),
      upstreamAt(second, 'second', { timeout_seconds: 1 }),
    ]);
    first.script({ kind: 'fault', fault: 'silence' });
    second.script({ kind: 'fault', fault: 'silence' });
    refused(await chat(), 504, 'request_timeout');
    assert.deepEqual(asked(), [1, 1]);
  });

  test('R-510: when one was silent and another failed the answer is 502', async () => {
    await route([upstreamAt(first, 'first', { timeout_seconds: 1 }), upstreamAt(second, 'second')]);
    first.script({ kind: 'fault', fault: 'silence' });
    second.script(BROKEN, BROKEN);
    refused(await chat(), 502, 'upstream_failed');
    assert.deepEqual(asked(), [1, 2]);
  });
});
