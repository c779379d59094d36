import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { pino } from 'pino';
import { request } from 'undici';
import { createDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { ADMIN_TOKEN, Gateway, type NewCaller } from '../../../test/support/gateway.ts';
import { VIDEOS, videoModel } from '../../../test/support/media-models.ts';
import { clip, picture } from '../../../test/support/media-samples.ts';
import { moneyOf, paidCaller } from '../../../test/support/paid-calls.ts';
import { until } from '../../../test/support/postgres.ts';
import { IMAGE_PRICE, IMAGES, imageModel, SECOND_PRICE } from '../../../test/support/studio.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import { LumaEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };

// The vendor in the whole program.
const results = {
  image: await picture('jpeg', { width: 64, height: 64 }),
  video: await clip({ seconds: 1 }),
};
let database: TestDatabase;
let gateway: Gateway;
let first: LumaEmulator;
let second: LumaEmulator;
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
  [first, second] = [new LumaEmulator(KEY, results), new LumaEmulator(KEY, results)];
  await Promise.all([first.start(), second.start()]);
  const upstreams = [first, second].map(({ url }, at) => {
    return { id: `luma-${at}`, vendor: 'luma', base_url: url, api_key: KEY, priority: 9 - at, timeout_seconds: 60 };
  });
  const routesTo = (model: string) => upstreams.map(({ id }) => ({ upstream: id, model }));
  await gateway.putConfig({
    upstreams,
    models: [imageModel('studio/photon', routesTo('photon-1')), videoModel('studio/clip', routesTo('ray-2'))],
  });
  caller = await paidCaller(gateway);
});
afterEach(async () => {
  await gateway.assertBooksBalance();
  await Promise.all([first.stop(), second.stop()]);
});

const paid = (credits: number) => ({ available: 1000 - credits, reserved: 0, spent: credits });
const CLIP = { path: VIDEOS, body: { model: 'studio/clip', prompt: 'waves', seconds: 5 } };
/** What was delivered lasts a second, and is settled for that. */
const CLIP_PRICE = SECOND_PRICE;

function ask({ path, body }: typeof CLIP, fields: object = {}) {
  return gateway.call('POST', path, { key: caller.key, body: { ...body, ...fields } });
}

async function create(fields: object = {}, what: { path: string; body: object } = CLIP): Promise<string> {
  const answer = await ask(what as typeof CLIP, fields);
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

test('several pictures are as many generations, copied before their links die, each fetched without the key', async () => {
  const id = await create(
    { n: 3, aspect_ratio: '1:1' },
    { path: IMAGES, body: { model: 'studio/photon', prompt: 'a gate' } },
  );
  const job = await ended(id);
  assert.equal(job.status, 'succeeded', JSON.stringify(job));
  assert.deepEqual(
    first.submissions,
    [1, 2, 3].map(() => ({ model: 'photon-1', prompt: 'a gate', aspect_ratio: '1:1' })),
  );
  first.areLinksDead = true;
  assert.deepEqual(await delivered(id), [results.image, results.image, results.image]);
  for (const { headers } of first.sent('GET', /^\/assets/)) assert.equal(headers.authorization, undefined);
  assert.deepEqual(await moneyOf(gateway, caller), paid(3 * IMAGE_PRICE));
  assert.doesNotMatch(JSON.stringify(job), /luma|photon-1|127\.0\.0\.1:\d+\/assets/);
  assert.ok(!lines.join('').includes(KEY));
});

test('a field that no model takes is refused before anything is held', async () => {
  const answer = await ask(CLIP, { negative_prompt: 'fog' });
  assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
  assert.deepEqual([first.requests.length, second.requests.length], [0, 0]);
  assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
});

describe('another upstream does it', () => {
  test('when the account is out of money, which is told as a bad request, and rests for longer than one', async () => {
    first.credits = 0;
    for (const _ of [1, 2]) assert.equal((await ended(await create())).status, 'succeeded');
    assert.deepEqual([first.sent('POST').length, second.sent('POST').length], [1, 2]);
    const { whole } = await upstreamHealth(gateway, 'luma-0');
    assert.equal(whole.state, 'open', JSON.stringify(whole));
    assert.deepEqual(await moneyOf(gateway, caller), paid(2 * CLIP_PRICE));
  });

  test('when the account has too many generations', async () => {
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
  first.reasons.push('output moderation failed');
  const job = await ended(await create());
  assert.deepEqual([job.status, job.error_code], ['failed', 'content_rejected'], JSON.stringify(job));
  assert.equal(second.sent('POST').length, 0);
  assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
});

test('a prompt that is refused at once is final, and free of charge', async () => {
  first.forbidden = /waves/;
  const job = await ended(await create());
  assert.deepEqual([job.status, job.error_code], ['failed', 'content_rejected'], JSON.stringify(job));
  assert.equal(second.sent('POST').length, 0);
  assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
});

test('a process that begins anew asks after what the last one had submitted', async () => {
  first.readsUntilDone = 3;
  const id = await create();
  await until(async () => (await read(id)).status === 'running');
  await gateway.stop();
  gateway = await start();
  assert.equal((await ended(id)).status, 'succeeded');
  assert.equal(first.sent('POST').length, 1);
  assert.deepEqual(await delivered(id), [results.video]);
  assert.deepEqual(await moneyOf(gateway, caller), paid(CLIP_PRICE));
});

test('the example that is shipped can be applied as it is', async () => {
  const text = readFileSync(new URL('../../../examples/luma.yaml', import.meta.url), 'utf8');
  // A literal key, since the environment of a test has none.
  const raw = text.replaceAll(/\$\{\w+\}/g, 'a-literal-key');
  const headers = { 'content-type': 'application/yaml' };
  const answer = await gateway.call('PUT', '/api/admin/config', { key: ADMIN_TOKEN, raw, headers });
  assert.equal(answer.status, 200, answer.text);
});
