import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { pino } from 'pino';
import { request } from 'undici';
import { createDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { ADMIN_TOKEN, Gateway, type NewCaller } from '../../../test/support/gateway.ts';
import { picture } from '../../../test/support/media-samples.ts';
import { moneyOf, paidCaller } from '../../../test/support/paid-calls.ts';
import { until } from '../../../test/support/postgres.ts';
import { IMAGE_PRICE, IMAGES, imageModel } from '../../../test/support/studio.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import { BflEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };

// The vendor in the whole program.
const jpeg = await picture('jpeg', { width: 64, height: 64 });
let database: TestDatabase;
let gateway: Gateway;
let first: BflEmulator;
let second: BflEmulator;
let caller: NewCaller;
const lines: string[] = [];

function start(): Promise<Gateway> {
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  return Gateway.start({ database, log, settings: { TOLLGATE_FETCH_ALLOW: '127.0.0.1' } });
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
  lines.length = 0;
  [first, second] = [new BflEmulator(KEY, jpeg), new BflEmulator(KEY, jpeg)];
  await Promise.all([first.start(), second.start()]);
  const upstreams = [first, second].map(({ url }, at) => {
    return { id: `bfl-${at}`, vendor: 'bfl', base_url: url, api_key: KEY, priority: 9 - at, timeout_seconds: 60 };
  });
  const routes = upstreams.map(({ id }) => ({ upstream: id, model: 'flux-2-pro' }));
  await gateway.putConfig({ upstreams, models: [imageModel('studio/flux', routes)] });
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

test('several pictures are as many tasks, copied before their links die, each fetched without the key', async () => {
  const job = await ended(await create({ n: 3, resolution: '1k' }));
  assert.equal(job.status, 'succeeded', JSON.stringify(job));
  assert.deepEqual(
    first.submissions,
    [1, 2, 3].map(() => ({ prompt: 'a gate', width: 1024, height: 1024 })),
  );
  first.areLinksDead = true;
  assert.deepEqual(await delivered(job.id), [jpeg, jpeg, jpeg]);
  for (const { headers } of first.sent('GET', /^\/samples/)) assert.equal(headers['x-key'], undefined);
  assert.equal(first.sent('GET', /^\/samples/).length, 3);
  assert.deepEqual(await moneyOf(gateway, caller), paid(3));
});

test('what the vendor counted is in the log, and neither key nor vendor in what the caller reads', async () => {
  const job = await ended(await create());
  const usages = lines.map((text) => JSON.parse(text)).filter(({ msg }) => msg === 'usage of a job');
  assert.deepEqual(
    usages.map(({ upstream, usage }) => [upstream, usage]),
    [['bfl-0', { credits: 4 }]],
  );
  assert.doesNotMatch(JSON.stringify(job), /bfl|flux-2|127\.0\.0\.1:\d+\/samples/);
  assert.ok(!lines.join('').includes(KEY));
});

test('a field that no model takes is refused before anything is held', async () => {
  const answer = await ask({ negative_prompt: 'fog' });
  assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
  assert.deepEqual([first.requests.length, second.requests.length], [0, 0]);
  assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
});

describe('another upstream does it', () => {
  test('when the account is out of money, which rests for longer than one request', async () => {
    first.credits = 0;
    for (const _ of [1, 2]) assert.equal((await ended(await create())).status, 'succeeded');
    assert.deepEqual([first.sent('POST').length, second.sent('POST').length], [1, 2]);
    const { whole } = await upstreamHealth(gateway, 'bfl-0');
    assert.equal(whole.state, 'open', JSON.stringify(whole));
    assert.deepEqual(await moneyOf(gateway, caller), paid(2));
  });

  test('when the account has too many tasks', async () => {
    first.activeMax = 0;
    assert.equal((await ended(await create())).status, 'succeeded');
    assert.deepEqual([first.sent('POST').length, second.sent('POST').length], [1, 1]);
  });
});

for (const fault of ['reset', 'garbage', 'empty'] as const) {
  test(`an answer that is lost after acceptance (${fault}) is not asked for twice, and costs nothing`, async () => {
    first.script({ kind: 'fault', fault });
    const job = await ended(await create());
    assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
    assert.deepEqual([first.sent('POST').length, second.sent('POST').length], [1, 0]);
    assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
  });
}

test('what moderation stops costs nothing and goes nowhere else', async () => {
  first.endings.push('Content Moderated');
  const job = await ended(await create());
  assert.deepEqual([job.status, job.error_code], ['failed', 'content_rejected'], JSON.stringify(job));
  assert.equal(second.sent('POST').length, 0);
  assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
});

test('a task that a region does not know yet is found a moment later; one that stays unknown has failed', async () => {
  const unknown = { kind: 'instead', status: 200, body: '{"id":"task-1","status":"Task not found"}' } as const;
  first.script({ kind: 'answer' }, unknown);
  assert.equal((await ended(await create())).status, 'succeeded');
  first.endings.push('Task not found');
  const job = await ended(await create());
  assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
  assert.deepEqual(await moneyOf(gateway, caller), paid(1));
});

test('a process that begins anew asks after what the last one had submitted', async () => {
  first.readsUntilDone = 3;
  const id = await create();
  await until(async () => (await read(id)).status === 'running');
  await gateway.stop();
  gateway = await start();
  assert.equal((await ended(id)).status, 'succeeded');
  assert.equal(first.sent('POST').length, 1);
  assert.deepEqual(await delivered(id), [jpeg]);
  assert.deepEqual(await moneyOf(gateway, caller), paid(1));
});

test('the example that is shipped can be applied as it is', async () => {
  const text = readFileSync(new URL('../../../examples/bfl.yaml', import.meta.url), 'utf8');
  // A literal key, since the environment of a test has none.
  const raw = text.replaceAll(/\$\{\w+\}/g, 'a-literal-key');
  const headers = { 'content-type': 'application/yaml' };
  const answer = await gateway.call('PUT', '/api/admin/config', { key: ADMIN_TOKEN, raw, headers });
  assert.equal(answer.status, 200, answer.text);
});
