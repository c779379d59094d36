import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { pino } from 'pino';
import { request } from 'undici';
import { dataUrl } from '../../../test/support/asked-forms.ts';
import { createDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { ADMIN_TOKEN, Gateway, type NewCaller } from '../../../test/support/gateway.ts';
import { MUSIC, musicModel } from '../../../test/support/media-models.ts';
import { picture, toneAs } from '../../../test/support/media-samples.ts';
import { moneyOf, paidCaller } from '../../../test/support/paid-calls.ts';
import { until } from '../../../test/support/postgres.ts';
import { CLIP_PRICE, IMAGE_PRICE, IMAGES, imageModel } from '../../../test/support/studio.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import { StabilityEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const EDITS = '/v1/images/edits';
const UNTOUCHED = paid(0);

// The vendor in the whole program.
const png = await picture('png', { width: 64, height: 64 });
const made = { image: png, audio: await toneAs('mp3', { seconds: 1 }) };
let database: TestDatabase;
let gateway: Gateway;
let first: StabilityEmulator;
let second: StabilityEmulator;
let caller: NewCaller;
const lines: string[] = [];

function start(): Promise<Gateway> {
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  return Gateway.start({ database, log });
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
  [first, second] = [new StabilityEmulator(KEY, made), new StabilityEmulator(KEY, made)];
  await Promise.all([first.start(), second.start()]);
  const upstreams = [first, second].map(({ url }, at) => {
    const limits = { priority: 9 - at, timeout_seconds: 60 };
    return { id: `stability-${at}`, vendor: 'stability', base_url: url, api_key: KEY, ...limits };
  });
  const routesTo = (model: string) => upstreams.map(({ id }) => ({ upstream: id, model }));
  const models = [
    imageModel('studio/photo', routesTo('core')),
    imageModel('studio/inpaint', routesTo('inpaint')),
    imageModel('studio/larger', routesTo('creative')),
    musicModel('studio/sound', routesTo('stable-audio-2.5')),
    musicModel('studio/song', routesTo('stable-audio-3')),
  ];
  await gateway.putConfig({ upstreams, models });
  caller = await paidCaller(gateway);
});
afterEach(async () => {
  await gateway.assertBooksBalance();
  await Promise.all([first.stop(), second.stop()]);
});

function paid(credits: number) {
  return { available: 1000 - credits, reserved: 0, spent: credits };
}

function ask(fields: object = {}, path = IMAGES) {
  return gateway.call('POST', path, { key: caller.key, body: { model: 'studio/photo', prompt: 'a gate', ...fields } });
}

async function create(fields: object = {}, path = IMAGES): Promise<string> {
  const answer = await ask(fields, path);
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

function posts(): number[] {
  return [first, second].map((emulator) => emulator.sent('POST').length);
}

test('several pictures are as many calls, paid each', async () => {
  const job = await ended(await create({ n: 3, aspect_ratio: '16:9' }));
  assert.equal(job.status, 'succeeded', JSON.stringify(job));
  assert.deepEqual(
    first.submissions,
    [1, 2, 3].map(() => ({ prompt: 'a gate', aspect_ratio: '16:9' })),
  );
  assert.deepEqual(await delivered(job.id), [png, png, png]);
  assert.deepEqual(await moneyOf(gateway, caller), paid(3 * IMAGE_PRICE));
  assert.doesNotMatch(JSON.stringify(job), /stability|core|127\.0\.0\.1/);
  assert.ok(!lines.join('').includes(KEY));
});

test('a picture and its mask go as files', async () => {
  const files = { image: dataUrl(png), mask: dataUrl(png) };
  const job = await ended(await create({ model: 'studio/inpaint', ...files, grow_mask: 3 }, EDITS));
  assert.equal(job.status, 'succeeded', JSON.stringify(job));
  const sent = { image: 'image.png image/png', mask: 'mask.png image/png', grow_mask: '3' };
  assert.deepEqual(first.submissions, [{ prompt: 'a gate', ...sent }]);
  assert.ok(first.requests[0]?.bytes.includes(png));
  assert.deepEqual(await moneyOf(gateway, caller), paid(IMAGE_PRICE));
});

for (const model of ['studio/sound', 'studio/song']) {
  test(`a sound is stored and paid: ${model}`, async () => {
    const job = await ended(await create({ model, duration_seconds: 20 }, MUSIC));
    assert.equal(job.status, 'succeeded', JSON.stringify(job));
    assert.equal(first.submissions[0]?.duration, '20');
    assert.deepEqual(await delivered(job.id), [made.audio]);
    assert.deepEqual(await moneyOf(gateway, caller), paid(CLIP_PRICE));
  });
}

test('a field that no model takes is refused before anything is held', async () => {
  const answer = await ask({ quality: 'high' });
  assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
  assert.deepEqual(posts(), [0, 0]);
  assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
});

describe('another upstream does it', () => {
  test('when the account is out of money, which rests for longer than one request', async () => {
    first.credits = 0;
    for (const _ of [1, 2]) assert.equal((await ended(await create())).status, 'succeeded');
    assert.deepEqual(posts(), [1, 2]);
    const { whole } = await upstreamHealth(gateway, 'stability-0');
    assert.equal(whole.state, 'open', JSON.stringify(whole));
    assert.deepEqual(await moneyOf(gateway, caller), paid(2 * IMAGE_PRICE));
  });

  test('when the account has called too often', async () => {
    first.requestsLeft = 0;
    assert.equal((await ended(await create())).status, 'succeeded');
    assert.deepEqual(posts(), [1, 1]);
    assert.deepEqual(await moneyOf(gateway, caller), paid(IMAGE_PRICE));
  });

  test('when a sound cannot be had of the first', async () => {
    first.script({ kind: 'instead', status: 500, body: '{"id":"i","name":"internal_error","errors":["marker"]}' });
    const job = await ended(await create({ model: 'studio/sound' }, MUSIC));
    assert.equal(job.status, 'succeeded', JSON.stringify(job));
    assert.deepEqual(posts(), [1, 1]);
    assert.deepEqual(await moneyOf(gateway, caller), paid(CLIP_PRICE));
  });
});

for (const fault of ['reset', 'garbage', 'empty'] as const) {
  test(`an answer that is lost after acceptance (${fault}) is not asked for twice, and costs nothing`, async () => {
    first.script({ kind: 'fault', fault });
    const job = await ended(await create());
    assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
    assert.deepEqual(posts(), [1, 0]);
    assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
  });
}

describe('what moderation stops costs nothing and goes nowhere else', () => {
  const stops: readonly [name: string, model: string, path: string, stop: () => void][] = [
    ['a refused prompt', 'studio/photo', IMAGES, () => (first.forbidden = /gate/)],
    ['a blurred picture', 'studio/photo', IMAGES, () => (first.filtered = 1)],
    ['a blurred picture of a task', 'studio/larger', EDITS, () => (first.filtered = 1)],
    ['a silenced sound', 'studio/sound', MUSIC, () => (first.filtered = 1)],
  ];
  for (const [name, model, path, stop] of stops) {
    test(name, async () => {
      stop();
      const job = await ended(await create({ model, ...(path === EDITS && { image: dataUrl(png) }) }, path));
      assert.deepEqual([job.status, job.error_code], ['failed', 'content_rejected'], JSON.stringify(job));
      assert.deepEqual(posts(), [1, 0]);
      assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
    });
  }
});

test('a process that begins anew asks after what the last one had submitted', async () => {
  first.readsUntilDone = 3;
  const id = await create({ model: 'studio/larger', image: dataUrl(png) }, EDITS);
  await until(async () => (await read(id)).status === 'running');
  await gateway.stop();
  gateway = await start();
  assert.equal((await ended(id)).status, 'succeeded');
  assert.deepEqual(posts(), [1, 0]);
  assert.deepEqual(await delivered(id), [png]);
  assert.deepEqual(await moneyOf(gateway, caller), paid(IMAGE_PRICE));
});

test('the example that is shipped can be applied as it is', async () => {
  const text = readFileSync(new URL('../../../examples/stability.yaml', import.meta.url), 'utf8');
  // A literal key, since the environment of a test has none.
  const raw = text.replaceAll(/\$\{\w+\}/g, 'a-literal-key');
  const headers = { 'content-type': 'application/yaml' };
  const answer = await gateway.call('PUT', '/api/admin/config', { key: ADMIN_TOKEN, raw, headers });
  assert.equal(answer.status, 200, answer.text);
});
