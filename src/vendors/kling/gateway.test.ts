import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { type BenchKind, JobBench, UNTOUCHED } from '../../../test/support/job-bench.ts';
import { VIDEOS, videoModel } from '../../../test/support/media-models.ts';
import { clip as encodeClip, picture } from '../../../test/support/media-samples.ts';
import { until } from '../../../test/support/postgres.ts';
import { IMAGE_PRICE, IMAGES, imageModel, SECOND_PRICE } from '../../../test/support/studio.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import { KlingEmulator } from './emulator.ts';

const KEYS = { secret: 'secret-key-of-the-operator', accessKey: 'access-key' };
const FILES = {
  clip: await encodeClip({ seconds: 5, framesPerSecond: 4 }),
  picture: await picture('png', { width: 64, height: 64 }),
};

const drawing: BenchKind = {
  model: 'studio/drawing',
  path: IMAGES,
  upstreamModel: 'kling-v2',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
};
const film: BenchKind = {
  model: 'studio/film',
  path: VIDEOS,
  upstreamModel: 'kling-v2-5-turbo',
  body: { prompt: 'waves', seconds: 5 },
  price: 5 * SECOND_PRICE,
  written: videoModel,
};
const short: BenchKind = { ...film, model: 'studio/short', upstreamModel: 'kling-3.0-turbo' };
const KINDS = [
  [drawing, FILES.picture, { credits: 2.5 }],
  [film, FILES.clip, { credits: 2.5, seconds: 5.1 }],
  [short, FILES.clip, { credits: 2.5, seconds: 5.1 }],
] as const;

// The vendor in the whole program, by a pair of keys.
const bench = new JobBench({
  vendor: 'kling',
  kinds: [drawing, film, short],
  emulator: () => new KlingEmulator(KEYS, FILES),
  upstream: { api_key: KEYS.secret, credential: { kind: 'access_key', access_key_id: KEYS.accessKey } },
});
before(() => bench.start());
after(() => bench.stop());
beforeEach(() => bench.begin());
afterEach(() => bench.finish());

const submitted = () => [bench.first.sent('POST').length, bench.second.sent('POST').length];

for (const [kind, result, usage] of KINDS) {
  describe(kind.model, () => {
    test('is copied before its link dies, fetched without the key, charged once, and its usage logged', async () => {
      const job = await bench.made(kind);
      bench.first.areLinksDead = true;
      assert.deepEqual(await bench.delivered(job.id), [result]);
      for (const { headers } of bench.first.sent('GET', /^\/files/)) assert.equal(headers.authorization, undefined);
      assert.deepEqual([bench.usages, await bench.money()], [[['kling-0', usage]], bench.paid(kind)]);
      assert.doesNotMatch(JSON.stringify(job), /kling|127\.0\.0\.1:\d+\/files/);
      assert.ok(!bench.lines.join('').includes(KEYS.secret));
    });

    test('with a field that the model does not take is refused before anything is held', async () => {
      const answer = await bench.ask(kind, { seed: 7 });
      assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
      assert.deepEqual([submitted(), await bench.money()], [[0, 0], UNTOUCHED]);
    });

    test('adopted is what a process got no answer to, when the next one begins', async () => {
      bench.first.script({ kind: 'fault', fault: 'silence' });
      const id = await bench.create(kind);
      await until(() => bench.first.tasks.length === 1);
      await bench.restart();
      assert.equal((await bench.ended(id)).status, 'succeeded');
      assert.deepEqual(await bench.delivered(id), [result]);
      assert.deepEqual([submitted(), await bench.money()], [[1, 0], bench.paid(kind)]);
    });
  });
}

test('an account without units, told by the status of a throttle, rests for longer than one request', async () => {
  bench.first.isUsedUp = true;
  for (const _ of [1, 2]) await bench.made(film);
  assert.deepEqual([submitted(), await bench.money()], [[1, 2], bench.paid(film, 2)]);
  const { whole } = await upstreamHealth(bench.gateway, 'kling-0');
  assert.equal(whole.state, 'open', JSON.stringify(whole));
});

test('a full queue is made good by the other upstream', async () => {
  bench.first.activeMax = 0;
  await bench.made(film);
  assert.deepEqual([submitted(), await bench.money()], [[1, 1], bench.paid(film)]);
});

test('what the rules of content refuse, at once or at the end, costs nothing and goes nowhere else', async () => {
  bench.first.endings.push({ words: 'Failure to pass the risk control system' });
  for (const prompt of ['waves', bench.first.forbidden]) {
    const job = await bench.ended(await bench.create(film, { prompt }));
    assert.deepEqual([job.status, job.error_code], ['failed', 'content_rejected'], JSON.stringify(job));
  }
  assert.deepEqual([submitted(), await bench.money()], [[2, 0], UNTOUCHED]);
});

for (const fault of ['reset', 'garbage', 'empty'] as const) {
  test(`what was accepted although its answer was lost (${fault}) is adopted, and not asked for twice`, async () => {
    bench.first.script({ kind: 'fault', fault });
    await bench.made(film);
    assert.deepEqual([submitted(), await bench.money()], [[1, 0], bench.paid(film)]);
  });
}

test('several pictures are one task', async () => {
  const job = await bench.made(drawing, { n: 3 });
  assert.deepEqual(await bench.delivered(job.id), [FILES.picture, FILES.picture, FILES.picture]);
  assert.deepEqual([submitted(), await bench.money()], [[1, 0], bench.paid(drawing, 3)]);
});

test('a process that begins anew asks after the clip that the last one had submitted', async () => {
  bench.first.readsUntilDone = 3;
  const id = await bench.create(film);
  await until(async () => (await bench.read(id)).status === 'running');
  await bench.restart();
  assert.equal((await bench.ended(id)).status, 'succeeded');
  assert.deepEqual(await bench.delivered(id), [FILES.clip]);
  assert.deepEqual([submitted(), await bench.money()], [[1, 0], bench.paid(film)]);
});
