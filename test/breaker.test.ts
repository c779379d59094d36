import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { OpenAiEmulator, type Script } from '../src/vendors/openai/emulator.ts';
import type { Fields } from './support/documents.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { chatBody, delta, gated, moneyOf, paidCaller, tokenModel } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { upstreamHealth } from './support/upstream-health.ts';

const PATH = '/v1/chat/completions';
const MODEL = 'talker';
const OTHER_MODEL = 'other-talker';
const STREAM = { stream: true };
const BROKEN: Script = { kind: 'error', error: 'broken' };
const OPERATOR_FAULTS = [
  ['badKey', 'account'],
  ['unpaid', 'account'],
  ['forbidden', 'account'],
  ['noQuota', 'account'],
  ['noModel', 'config'],
] as const;
/** By how much chance draws a time out at most. */
const JITTER = 1.1;

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

function upstreamAt({ url }: OpenAiEmulator, name: string, fields: Fields = {}): Fields & { id: string } {
  return { id: `${name}-${tests}`, vendor: 'openai', base_url: url, ...fields };
}

async function route(upstreams: readonly (Fields & { id: string })[]): Promise<void> {
  const ids = upstreams.map(({ id }) => id);
  const routes = ids.map((upstream) => ({ upstream, model: 'other-wire-name' }));
  await gateway.putConfig({ upstreams, models: [tokenModel(MODEL, ids), tokenModel(OTHER_MODEL, [], { routes })] });
}

/** The first emulator is always asked before the second. */
async function inOrder(): Promise<void> {
  await route([upstreamAt(first, 'first', { priority: 1 }), upstreamAt(second, 'second')]);
}

async function alone(fields: Fields = {}): Promise<void> {
  await route([upstreamAt(first, 'first', fields)]);
}

function chat(more: Fields = {}, model = MODEL, at = gateway): Promise<Answer> {
  return at.call('POST', PATH, { key: caller.key, body: chatBody(model, more) });
}

function refused(answer: Answer, status: number, code: string, retryAfter?: string): void {
  assert.deepEqual([answer.status, answer.json?.error.code], [status, code], answer.text);
  if (retryAfter !== undefined) assert.equal(answer.headers['retry-after'], retryAfter);
}

function asked(): [number, number] {
  return [first.requests.length, second.requests.length];
}

async function healthOf(name: string, at: Gateway = gateway): Promise<Fields> {
  return (await upstreamHealth(at, `${name}-${tests}`)).model;
}

async function stateOf(name: string): Promise<unknown> {
  return (await healthOf(name)).state;
}

/** The only upstream fails this request: at once and, if that may pass, once more. */
async function failAlone(script: Script, attempts = 2): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) first.script(script);
  refused(await chat(), 502, 'upstream_failed');
}

async function openAlone(): Promise<void> {
  for (let requests = 0; requests < 3; requests++) await failAlone(BROKEN);
  assert.equal(await stateOf('first'), 'open');
}

/** Opens the first of two, while the second answers. */
async function openFirst(): Promise<void> {
  for (let requests = 0; requests < 3; requests++) {
    first.script(BROKEN);
    assert.equal((await chat()).status, 200);
  }
  assert.equal(await stateOf('first'), 'open');
  first.requests.length = 0;
  second.requests.length = 0;
}

/** How long until the next probe, by the clock that is moved by hand. */
async function openSeconds(name: 'model' | 'whole' = 'model'): Promise<number> {
  const health = (await upstreamHealth(gateway, `first-${tests}`))[name];
  return Number(health.next_probe_at) - gateway.clock.nowMs() / 1000;
}

function assertAbout(seconds: number, expected: number): void {
  assert.ok(seconds >= expected && seconds <= Math.ceil(expected * JITTER) + 1, `${seconds} for ${expected}`);
}

describe('strikes', () => {
  test('R-512: a model whose only upstream answered one 500 answers the next request', async () => {
    await alone();
    await failAlone(BROKEN);
    assert.equal((await chat()).status, 200);
    assert.equal(await stateOf('first'), 'closed');
  });

  test('R-512: the third request in a row that fails opens the breaker, the second does not', async () => {
    await inOrder();
    for (const [strikes, state] of [
      [1, 'closed'],
      [2, 'closed'],
      [3, 'open'],
    ] as const) {
      first.script(BROKEN);
      assert.equal((await chat()).status, 200);
      const health = await healthOf('first');
      assert.deepEqual([health.strikes, health.state], [strikes, state]);
    }
    assert.equal((await chat()).status, 200);
    assert.deepEqual(asked(), [3, 4]);
  });

  test('R-516: one success begins the series anew', async () => {
    await inOrder();
    for (const script of [BROKEN, BROKEN, undefined, BROKEN, BROKEN]) {
      if (script !== undefined) first.script(script);
      await chat();
    }
    const { state, strikes } = await healthOf('first');
    assert.deepEqual([state, strikes], ['closed', 2]);
  });

  test('R-516: it opens when half of ten attempts in 30 seconds failed, though never three in a row', async () => {
    await inOrder();
    for (let pairs = 1; pairs <= 5; pairs++) {
      assert.equal(await stateOf('first'), 'closed');
      await chat();
      first.script(BROKEN);
      await chat();
    }
    assert.equal(await stateOf('first'), 'open');
  });

  test('R-516: what failed more than 30 seconds ago is forgotten', async () => {
    await inOrder();
    for (let pairs = 1; pairs <= 8; pairs++) {
      await chat();
      first.script(BROKEN);
      await chat();
      gateway.clock.advance(8);
    }
    assert.equal(await stateOf('first'), 'closed');
  });

  test('R-516: faults in the middle of streams open it as well', async () => {
    await alone();
    for (let streams = 0; streams < 10; streams++) {
      assert.equal(await stateOf('first'), 'closed');
      first.script({ kind: 'frames', frames: [delta('One')], end: 'reset' });
      assert.match((await chat(STREAM)).text, /upstream_failed/);
    }
    assert.equal(await stateOf('first'), 'open');
  });

  test('R-512: a fault of one model does not keep requests for another away', async () => {
    await alone();
    await openAlone();
    refused(await chat(), 503, 'no_available_provider');
    assert.equal((await chat({}, OTHER_MODEL)).status, 200);
  });
});

describe('open', () => {
  test('R-067 R-075 R-512: while all are open one probe a second goes through, and the others get 503', async () => {
    await alone();
    await openAlone();
    first.requests.length = 0;
    for (const more of [{}, STREAM]) {
      const answer = await chat(more);
      refused(answer, 503, 'no_available_provider', '1');
      assert.equal(answer.json.error.type, 'upstream_error');
    }
    assert.deepEqual(asked(), [0, 0]);
    assert.deepEqual(await moneyOf(gateway, caller), { available: 1000, reserved: 0, spent: 0 });
    gateway.clock.advance(1);
    first.script({ kind: 'error', error: 'badKey' });
    refused(await chat(), 502, 'upstream_failed');
    refused(await chat(), 503, 'no_available_provider', '1');
    assert.deepEqual(asked(), [1, 0]);
  });

  test('R-514: a retry after the recovery succeeds at once, closes the breaker, and only it is charged', async () => {
    await alone();
    await openAlone();
    refused(await chat(), 503, 'no_available_provider', '1');
    gateway.clock.advance(1);
    assert.equal((await chat()).status, 200);
    assert.equal(await stateOf('first'), 'closed');
    assert.equal((await chat()).status, 200);
    assert.equal((await moneyOf(gateway, caller)).spent, 0.042);
  });

  test('R-512: an upstream whose breaker is open is a last resort after the others failed, and that is its probe', async () => {
    await inOrder();
    await openFirst();
    second.script(BROKEN);
    assert.equal((await chat()).status, 200);
    assert.deepEqual(asked(), [1, 1]);
    assert.equal(await stateOf('first'), 'closed');
  });

  test('R-512: a last resort that fails is not asked again within the second, and the other once more', async () => {
    await inOrder();
    await openFirst();
    second.script(BROKEN);
    first.script(BROKEN);
    assert.equal((await chat()).status, 200);
    assert.deepEqual(asked(), [1, 2]);
    second.script(BROKEN);
    assert.equal((await chat()).status, 200);
    assert.deepEqual(asked(), [1, 4]);
  });

  test('R-516: each probe in its time that fails doubles the time, from ten seconds to five minutes', async () => {
    await alone();
    await openAlone();
    for (const expected of [10, 20, 40, 80, 160, 300, 300]) {
      assertAbout(await openSeconds(), expected);
      gateway.clock.advance(await openSeconds());
      assert.equal(await stateOf('first'), 'half_open');
      await failAlone(BROKEN);
    }
  });

  test('R-516: half-open, one request at a time goes through, and its success closes the breaker', async () => {
    await inOrder();
    await openFirst();
    gateway.clock.advance(await openSeconds());
    const late = Promise.withResolvers<void>();
    first.script({ kind: 'frames', frames: gated(late.promise, delta('One', 'stop')) });
    const probe = chat(STREAM);
    await until(() => first.requests.length === 1);
    assert.equal((await chat()).status, 200);
    assert.deepEqual(asked(), [1, 1]);
    late.resolve();
    assert.equal((await probe).status, 200);
    assert.equal((await chat()).status, 200);
    assert.deepEqual(asked(), [2, 1]);
  });

  test('R-516: a success of a call that began before it opened does not close it', async () => {
    await alone();
    const late = Promise.withResolvers<void>();
    first.script({ kind: 'frames', frames: gated(late.promise, delta('One', 'stop')) });
    const answer = chat(STREAM);
    await until(() => first.requests.length === 1);
    await failAlone({ kind: 'error', error: 'throttled', headers: { 'retry-after': '7' } }, 1);
    late.resolve();
    assert.equal((await answer).status, 200);
    refused(await chat(), 503, 'no_available_provider', '7');
  });
});

describe('throttled', () => {
  test('R-075 R-516: it is left alone for as long as it asks, and the caller is told how long', async () => {
    await alone();
    await failAlone({ kind: 'error', error: 'throttled', headers: { 'retry-after': '7' } }, 1);
    refused(await chat(), 503, 'no_available_provider', '7');
    gateway.clock.advance(6.5);
    refused(await chat(), 503, 'no_available_provider', '1');
    gateway.clock.advance(0.5);
    assert.equal((await chat()).status, 200);
  });

  for (const [told, seconds] of [
    ['600', 600],
    ['601', 600],
  ] as const) {
    test(`R-516: ${told} seconds are ${seconds}`, async () => {
      await alone();
      await failAlone({ kind: 'error', error: 'throttled', headers: { 'retry-after': told } }, 1);
      assert.equal(await openSeconds(), seconds);
    });
  }

  test('R-516: without a word it is five seconds, doubling to a minute', async () => {
    await alone();
    for (const expected of [5, 10, 20, 40, 60, 60]) {
      await failAlone({ kind: 'error', error: 'throttled' }, 1);
      assertAbout(await openSeconds(), expected);
      gateway.clock.advance(await openSeconds());
    }
  });
});

describe('what only an operator can mend', () => {
  for (const [error, fault] of OPERATOR_FAULTS) {
    const level = fault === 'account' ? 'whole' : 'model';
    test(`R-512: ${error} opens the ${level} for a minute at once, and is shown`, async () => {
      await inOrder();
      first.script({ kind: 'error', error, headers: { 'retry-after': '1' } });
      assert.equal((await chat()).status, 200);
      assert.deepEqual(asked(), [1, 1]);
      const { [level]: health } = await upstreamHealth(gateway, `first-${tests}`);
      assert.deepEqual([health.state, health.last_fault], ['open', fault]);
      assertAbout(await openSeconds(level), 60);
      await chat({}, OTHER_MODEL);
      assert.deepEqual(asked(), fault === 'account' ? [1, 2] : [2, 1]);
    });
  }

  test('R-516: each probe in its time that fails doubles the time, from a minute to ten', async () => {
    await alone();
    for (const expected of [60, 120, 240, 480, 600, 600]) {
      await failAlone({ kind: 'error', error: 'badKey' }, 1);
      assertAbout(await openSeconds('whole'), expected);
      gateway.clock.advance(await openSeconds('whole'));
    }
  });

  const cures: readonly [name: string, cure: () => Promise<unknown>][] = [
    ['a new key', () => alone({ api_key: 'sk-another-key' })],
    ['another address', () => alone({ base_url: first.url.replace('127.0.0.1', 'localhost') })],
    [
      'disabling and enabling it',
      async () => {
        const path = `/upstreams/first-${tests}`;
        await gateway.admin('PATCH', path, { enabled: false });
        return gateway.admin('PATCH', path, { enabled: true });
      },
    ],
    ['enabling what is enabled', () => gateway.admin('PATCH', `/upstreams/first-${tests}`, { enabled: true })],
    ['a reset', () => gateway.admin('POST', `/upstreams/first-${tests}/reset`)],
  ];
  for (const [name, cure] of cures) {
    test(`R-512: a refused key is forgotten after ${name}`, async () => {
      await alone({ api_key: 'sk-the-first-key' });
      await failAlone({ kind: 'error', error: 'badKey' }, 1);
      refused(await chat(), 503, 'no_available_provider');
      await cure();
      assert.equal((await chat()).status, 200);
    });
  }

  test('R-524: a reset shows the closed breakers and is in the audit; an unknown upstream is not found', async () => {
    await alone();
    await openAlone();
    const { json } = await gateway.admin('POST', `/upstreams/first-${tests}/reset`);
    assert.deepEqual([json.health.state, json.upstream_models[0].health.state], ['closed', 'closed']);
    const { data } = (await gateway.admin('GET', '/audit')).json;
    const row = data.find(({ action }: { action: string }) => action === 'upstream.reset');
    assert.equal(row.target, `first-${tests}`);
    refused(await gateway.admin('POST', '/upstreams/none/reset'), 404, 'upstream_not_found');
  });
});

describe('what an operator sees', () => {
  test('each upstream and model with its state, strikes, last fault and next probe', async () => {
    await alone();
    await failAlone(BROKEN);
    const now = gateway.clock.nowMs() / 1000;
    const { last_detail, ...health } = await healthOf('first');
    assert.match(String(last_detail), /^status 500: .*The server had an error/);
    const faulty = { state: 'closed', strikes: 1, next_probe_at: null, last_fault: 'server', last_fault_at: now };
    assert.deepEqual(health, faulty);
    const none = { strikes: 0, next_probe_at: null, last_fault: null, last_detail: null, last_fault_at: null };
    assert.deepEqual((await upstreamHealth(gateway, `first-${tests}`)).whole, { state: 'closed', ...none });
  });

  test('R-493: models without a candidate are named, and /healthz warns and stays ok', async () => {
    await alone();
    const lost = async () => (await gateway.admin('GET', '/upstreams')).json.models_without_candidate;
    const warned = async () => {
      const { status, json } = await gateway.call('GET', '/healthz');
      assert.deepEqual([status, json.status], [200, 'ok']);
      return json.warnings.filter((warning: string) => warning.includes(`model ${MODEL} has no candidate`)).length;
    };
    assert.deepEqual([await lost(), await warned()], [[], 0]);
    await openAlone();
    assert.deepEqual([await lost(), await warned()], [[MODEL], 1]);
    gateway.clock.advance(await openSeconds());
    assert.deepEqual([await lost(), await warned()], [[], 0]);
  });

  test('R-512: another process on the same database leaves it alone as well, and hears of its recovery', async () => {
    const other = await Gateway.start({ database: gateway.database, clock: gateway.clock });
    try {
      await inOrder();
      await openFirst();
      await until(async () => (await healthOf('first', other)).state === 'open');
      assert.equal((await chat({}, MODEL, other)).status, 200);
      assert.deepEqual(asked(), [0, 1]);
      gateway.clock.advance(await openSeconds());
      assert.equal((await chat({}, MODEL, other)).status, 200);
      assert.deepEqual(asked(), [1, 1]);
      await until(async () => (await stateOf('first')) === 'closed');
    } finally {
      await other.stop();
    }
  });
});
