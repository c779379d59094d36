import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { pino } from 'pino';
import { request } from 'undici';
import { CLIP, clipForm, TRANSCRIPTIONS } from '../../../test/support/booth.ts';
import { createDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { Gateway, type NewCaller } from '../../../test/support/gateway.ts';
import { clip, picture, toneAs } from '../../../test/support/media-samples.ts';
import { moneyOf, paidCaller } from '../../../test/support/paid-calls.ts';
import { until } from '../../../test/support/postgres.ts';
import { IMAGE_PRICE, IMAGES, imageModel } from '../../../test/support/studio.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import { XaiEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };
const PRICE = 20;

// The vendor in the whole program.
const samples = {
  picture: await picture('jpeg', { width: 64, height: 64 }),
  clip: await clip({ container: 'mp4', seconds: 1 }),
  sound: await toneAs('mp3', { seconds: 1 }),
};
let database: TestDatabase;
let gateway: Gateway;
let first: XaiEmulator;
let second: XaiEmulator;
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
  [first, second] = [new XaiEmulator(KEY, samples), new XaiEmulator(KEY, samples)];
  await Promise.all([first.start(), second.start()]);
  const upstreams = [first, second].map(({ url }, at) => {
    return { id: `xai-${at}`, vendor: 'xai', base_url: url, api_key: KEY, priority: 9 - at, timeout_seconds: 60 };
  });
  const routes = (model: string) => upstreams.map(({ id }) => ({ upstream: id, model }));
  const paidOnce = { mode: 'per_request', credits: { base: PRICE } };
  const usual = { owned_by: 'studio', pricing: paidOnce };
  await gateway.putConfig({
    upstreams,
    models: [
      imageModel('studio/picture', routes('grok-imagine-image')),
      { ...usual, id: 'studio/clip', modality: 'video', endpoints: ['videos'], routes: routes('grok-imagine-video') },
      { ...usual, id: 'studio/ears', modality: 'audio', endpoints: ['transcriptions'], routes: routes('grok-stt') },
      { ...usual, id: 'studio/voice', modality: 'audio', endpoints: ['audio_speech'], routes: routes('grok-tts') },
    ],
  });
  caller = await paidCaller(gateway);
});
afterEach(async () => {
  await gateway.assertBooksBalance();
  await Promise.all([first.stop(), second.stop()]);
});

function paid(credits: number) {
  return { available: 1000 - credits, reserved: 0, spent: credits };
}

function ask(path: string, body: object) {
  return gateway.call('POST', path, { key: caller.key, body: { ...body } });
}

async function create(path: string, body: object): Promise<string> {
  const answer = await ask(path, body);
  assert.equal(answer.status, 202, answer.text);
  return answer.json.id;
}

const film = (fields: object = {}) => create('/v1/videos', { model: 'studio/clip', prompt: 'Waves', ...fields });
const posts = () => [first.sent('POST').length, second.sent('POST').length];

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

test('a clip is copied before its link dies, and the host of files never sees the key', async () => {
  const job = await ended(await film());
  assert.equal(job.status, 'succeeded', JSON.stringify(job));
  first.areLinksDead = true;
  assert.deepEqual(await delivered(job.id), [samples.clip]);
  for (const { headers } of first.sent('GET', /^\/files\//)) assert.equal(headers.authorization, undefined);
  assert.doesNotMatch(JSON.stringify(job), /xai|grok|127\.0\.0\.1:\d+\/files/i);
  assert.ok(!lines.join('').includes(KEY));
  assert.deepEqual(await moneyOf(gateway, caller), paid(PRICE));
});

test('what the vendor counted is in the log', async () => {
  await ended(await film());
  const usages = lines.map((text) => JSON.parse(text)).filter(({ msg }) => msg === 'usage of a job');
  assert.deepEqual(
    usages.map(({ upstream, usage }) => [upstream, usage]),
    [['xai-0', { seconds: 8, credits: 200_000_000 }]],
  );
});

test('pictures that were withheld are not paid for', async () => {
  first.withheldPictures = 1;
  const job = await ended(await create(IMAGES, { model: 'studio/picture', prompt: 'a gate', n: 3 }));
  assert.equal(job.status, 'succeeded', JSON.stringify(job));
  assert.deepEqual(await delivered(job.id), [samples.picture, samples.picture]);
  assert.deepEqual(await moneyOf(gateway, caller), paid(2 * IMAGE_PRICE));
});

test('a field that no model takes is refused before anything is held', async () => {
  const answer = await ask('/v1/videos', { model: 'studio/clip', prompt: 'Waves', negative_prompt: 'fog' });
  assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
  assert.deepEqual(posts(), [0, 0]);
  assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
});

describe('another upstream does it', () => {
  test('when the account is out of money, told as a throttle: it rests for longer than one request', async () => {
    first.isBroke = true;
    for (const _ of [1, 2]) assert.equal((await ended(await film())).status, 'succeeded');
    assert.deepEqual(posts(), [1, 2]);
    const { whole } = await upstreamHealth(gateway, 'xai-0');
    assert.equal(whole.state, 'open', JSON.stringify(whole));
    assert.deepEqual(await moneyOf(gateway, caller), paid(2 * PRICE));
  });

  test('when the account has called too often', async () => {
    first.isBusy = true;
    assert.equal((await ended(await film())).status, 'succeeded');
    assert.deepEqual(posts(), [1, 1]);
  });

  test('when a caller waits for a transcript', async () => {
    first.isBroke = true;
    const form = clipForm(CLIP, { model: 'studio/ears' });
    const answer = await gateway.call('POST', TRANSCRIPTIONS, { ...form, key: caller.key });
    assert.deepEqual([answer.status, answer.json.text], [200, 'A toll gate. It opens.'], answer.text);
    assert.deepEqual(posts(), [1, 1]);
    assert.deepEqual(await moneyOf(gateway, caller), paid(PRICE));
  });

  test('when a caller waits for speech', async () => {
    first.isBroke = true;
    const answer = await ask('/v1/audio/speech', { model: 'studio/voice', input: 'Hello', voice: 'v' });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(posts(), [1, 1]);
  });
});

for (const fault of ['reset', 'garbage', 'empty'] as const) {
  test(`an answer that is lost after acceptance (${fault}) is not asked for twice, and costs nothing`, async () => {
    first.script({ kind: 'fault', fault });
    const job = await ended(await film());
    assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
    assert.deepEqual(posts(), [1, 0]);
    assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
  });
}

test('what breaks rules, before or after it is made, costs nothing and goes nowhere else', async () => {
  first.endings.push('withheld');
  for (const prompt of ['Waves', 'forbidden waves']) {
    const job = await ended(await film({ prompt }));
    assert.deepEqual([job.status, job.error_code], ['failed', 'content_rejected'], JSON.stringify(job));
  }
  assert.equal(second.sent('POST').length, 0);
  assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
});

test('a process that begins anew asks after what the last one had submitted', async () => {
  first.readsUntilDone = 3;
  const id = await film();
  await until(async () => (await read(id)).status === 'running');
  await gateway.stop();
  gateway = await start();
  assert.equal((await ended(id)).status, 'succeeded');
  assert.deepEqual(posts(), [1, 0]);
  assert.deepEqual(await delivered(id), [samples.clip]);
  assert.deepEqual(await moneyOf(gateway, caller), paid(PRICE));
});
