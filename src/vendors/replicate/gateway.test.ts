import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { request } from 'undici';
import { createDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { Gateway, type NewCaller } from '../../../test/support/gateway.ts';
import { picture } from '../../../test/support/media-samples.ts';
import { moneyOf, paidCaller } from '../../../test/support/paid-calls.ts';
import { until } from '../../../test/support/postgres.ts';
import { IMAGE_PRICE, IMAGES, imageModel } from '../../../test/support/studio.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import { BflEmulator } from '../bfl/emulator.ts';
import { ReplicateEmulator } from './emulator.ts';

const KEY = 'r8_key-of-the-operator';
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };

// The vendor in the whole program, with another vendor of the same model behind it.
const jpeg = await picture('jpeg', { width: 64, height: 64 });
let database: TestDatabase;
let gateway: Gateway;
let first: ReplicateEmulator;
let second: BflEmulator;
let caller: NewCaller;

function start(): Promise<Gateway> {
  return Gateway.start({ database, settings: { TOLLGATE_FETCH_ALLOW: '127.0.0.1' } });
}

before(async () => {
  database = await createDatabase();
  gateway = await start();
});
after(async () => {
  await gateway.stop();
  await database.drop();
});

beforeEach(async () => {
  [first, second] = [new ReplicateEmulator(KEY, jpeg), new BflEmulator(KEY, jpeg)];
  await Promise.all([first.start(), second.start()]);
  const usual = { api_key: KEY, timeout_seconds: 60 };
  const upstreams = [
    { ...usual, id: 'replicate-main', vendor: 'replicate', base_url: first.url, priority: 9 },
    { ...usual, id: 'bfl-main', vendor: 'bfl', base_url: second.url, priority: 8 },
  ];
  const routes = [
    { upstream: 'replicate-main', model: 'black-forest-labs/flux-2-pro' },
    { upstream: 'bfl-main', model: 'flux-2-pro' },
  ];
  const several = [{ upstream: 'replicate-main', model: 'black-forest-labs/flux-schnell' }];
  await gateway.putConfig({
    upstreams,
    models: [imageModel('studio/flux', routes), imageModel('studio/several', several)],
  });
  caller = await paidCaller(gateway);
});
afterEach(async () => {
  await gateway.assertBooksBalance();
  await Promise.all([first.stop(), second.stop()]);
});

function paid(pictures: number) {
  return { available: 1000 - pictures * IMAGE_PRICE, reserved: 0, spent: pictures * IMAGE_PRICE };
}

function ask(fields: object = {}) {
  return gateway.call('POST', IMAGES, {
    key: caller.key,
    body: { model: 'studio/flux', prompt: 'a gate', ...fields },
  });
}

async function create(fields: object = {}): Promise<string> {
  const answer = await ask(fields);
  assert.equal(answer.status, 202, answer.text);
  return answer.json.id;
}

async function read(id: string) {
  return (await gateway.call('GET', `/v1/jobs/${id}`, { key: caller.key })).json;
}

/** Lets time pass until the job is over. */
async function ended(id: string) {
  await until(async () => {
    gateway.clock.advance(1);
    return !['queued', 'running'].includes((await read(id)).status);
  });
  return read(id);
}

async function delivered(id: string): Promise<Buffer[]> {
  const { items } = (await gateway.call('GET', `/v1/jobs/${id}/assets`, { key: caller.key })).json;
  return Promise.all(
    items.map(async ({ url }: { url: string }) => {
      const { pathname, search } = new URL(url);
      const { body } = await request(gateway.url + pathname + search);
      return Buffer.from(await body.arrayBuffer());
    }),
  );
}

const submitted = () => [first.submissions.length, second.sent('POST').length];

test('several pictures are one prediction, copied before their links die, each fetched without the key', async () => {
  const job = await ended(await create({ model: 'studio/several', n: 3 }));
  assert.equal(job.status, 'succeeded', JSON.stringify(job));
  assert.deepEqual(
    first.submissions.map(({ input }) => input.num_outputs),
    [3],
  );
  first.areLinksDead = true;
  assert.deepEqual(await delivered(job.id), [jpeg, jpeg, jpeg]);
  assert.equal(first.sent('GET', /^\/delivery/).length, 3);
  for (const { headers } of first.sent('GET', /^\/delivery/)) assert.equal(headers.authorization, undefined);
  assert.doesNotMatch(JSON.stringify(job), /replicate|schnell|delivery/);
  assert.deepEqual(await moneyOf(gateway, caller), paid(3));
});

test('a field that no model takes is refused before anything is held', async () => {
  const answer = await ask({ negative_prompt: 'fog' });
  assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
  assert.deepEqual([first.requests.length, second.requests.length], [0, 0]);
  assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
});

describe('another vendor of the model does it', () => {
  test('when the account is out of money, which rests for longer than one request', async () => {
    first.hasCredit = false;
    for (const _ of [1, 2]) assert.equal((await ended(await create())).status, 'succeeded');
    assert.deepEqual(submitted(), [1, 2]);
    const { whole } = await upstreamHealth(gateway, 'replicate-main');
    assert.equal(whole.state, 'open', JSON.stringify(whole));
    assert.deepEqual(await moneyOf(gateway, caller), paid(2));
  });

  test('when it is throttled', async () => {
    first.isThrottled = true;
    assert.equal((await ended(await create())).status, 'succeeded');
    assert.deepEqual(submitted(), [1, 1]);
  });
});

for (const fault of ['reset', 'garbage', 'empty'] as const) {
  test(`R-517: what was accepted although its answer was lost (${fault}) is adopted, and not asked for twice`, async () => {
    first.script({ kind: 'fault', fault });
    const job = await ended(await create());
    assert.equal(job.status, 'succeeded', JSON.stringify(job));
    assert.deepEqual(submitted(), [1, 0]);
    assert.deepEqual(await delivered(job.id), [jpeg]);
    assert.deepEqual(await moneyOf(gateway, caller), paid(1));
  });
}

test('R-517: of several calls the one whose answer was lost is adopted beside the others', async () => {
  first.script({ kind: 'fault', fault: 'reset' });
  const job = await ended(await create({ n: 3 }));
  assert.equal(job.status, 'succeeded', JSON.stringify(job));
  assert.deepEqual([submitted(), (await delivered(job.id)).length], [[3, 0], 3]);
  assert.deepEqual(await moneyOf(gateway, caller), paid(3));
});

for (const [what, prepare, fields] of [
  ['cannot be told by its seed', () => undefined, { seed: 7 }],
  ['is not in the list yet', () => Object.assign(first, { createdAt: '2020-01-01T00:00:00.000Z' }), {}],
  ['is asked after in vain', () => Object.assign(first, { isListDown: true }), {}],
] as const) {
  test(`R-517: what ${what} after its answer was lost has failed, is asked for nowhere else, and costs nothing`, async () => {
    prepare();
    first.script({ kind: 'fault', fault: 'reset' });
    const job = await ended(await create(fields));
    assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
    assert.deepEqual([submitted(), await moneyOf(gateway, caller)], [[1, 0], UNTOUCHED]);
  });
}

test('what moderation stops costs nothing and goes nowhere else', async () => {
  first.endings.push({ error: 'The input or output was flagged as sensitive. (E005)' });
  const job = await ended(await create());
  assert.deepEqual([job.status, job.error_code], ['failed', 'content_rejected'], JSON.stringify(job));
  assert.deepEqual(submitted(), [1, 0]);
  assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
});

test('a process that begins anew asks after what the last one had submitted', async () => {
  first.readsUntilDone = 3;
  const id = await create();
  await until(async () => (await read(id)).status === 'running');
  await gateway.stop();
  gateway = await start();
  assert.equal((await ended(id)).status, 'succeeded');
  assert.deepEqual(submitted(), [1, 0]);
  assert.deepEqual(await delivered(id), [jpeg]);
  assert.deepEqual(await moneyOf(gateway, caller), paid(1));
});

for (const [given, fields, expected] of [
  ['no seed', {}, ['succeeded', [1, 0], paid(1)]],
  ['a seed', { seed: 7 }, ['failed', [1, 0], UNTOUCHED]],
] as const) {
  test(`a call that a process left without its answer, with ${given}, has ${expected[0]}, and is not made twice`, async () => {
    first.script({ kind: 'fault', fault: 'silence' });
    const id = await create(fields);
    await until(async () => first.submissions.length === 1);
    await gateway.stop();
    gateway = await start();
    const { status } = await ended(id);
    assert.deepEqual([status, submitted(), await moneyOf(gateway, caller)], expected);
  });
}
