import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { type BenchKind, JobBench, UNTOUCHED } from '../../../test/support/job-bench.ts';
import { VIDEOS, videoModel } from '../../../test/support/media-models.ts';
import { clip as encodeClip, picture } from '../../../test/support/media-samples.ts';
import { until } from '../../../test/support/postgres.ts';
import { IMAGE_PRICE, IMAGES, imageModel, SECOND_PRICE } from '../../../test/support/studio.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import { ArkEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const FILES = {
  clip: await encodeClip({ seconds: 4, framesPerSecond: 4 }),
  picture: await picture('jpeg', { width: 64, height: 64 }),
};

const drawing: BenchKind = {
  model: 'studio/drawing',
  path: IMAGES,
  upstreamModel: 'seedream-4-0-250828',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
};
const film: BenchKind = {
  model: 'studio/film',
  path: VIDEOS,
  upstreamModel: 'seedance-1-5-pro-251215',
  body: { prompt: 'waves', seconds: 4 },
  price: 4 * SECOND_PRICE,
  written: videoModel,
};
const KINDS = [
  [drawing, FILES.picture, { outputTokens: 16384 }],
  [film, FILES.clip, { outputTokens: 108_900, seconds: 4 }],
] as const;

// The vendor in the whole program.
const bench = new JobBench({
  vendor: 'ark',
  kinds: [drawing, film],
  emulator: () => new ArkEmulator(KEY, FILES),
  upstream: { api_key: KEY },
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
      assert.deepEqual([bench.usages, await bench.money()], [[['ark-0', usage]], bench.paid(kind)]);
      assert.doesNotMatch(JSON.stringify(job), /ark|seed|127\.0\.0\.1:\d+\/files/);
      assert.ok(!bench.lines.join('').includes(KEY));
    });

    test('with a field that the model does not take is refused before anything is held', async () => {
      const answer = await bench.ask(kind, { negative_prompt: 'fog' });
      assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
      assert.deepEqual([submitted(), await bench.money()], [[0, 0], UNTOUCHED]);
    });

    test('is made elsewhere when the account owes money, which rests for longer than one request', async () => {
      bench.first.isOverdue = true;
      for (const _ of [1, 2]) await bench.made(kind);
      assert.deepEqual([submitted(), await bench.money()], [[1, 2], bench.paid(kind, 2)]);
      const { whole } = await upstreamHealth(bench.gateway, 'ark-0');
      assert.equal(whole.state, 'open', JSON.stringify(whole));
    });

    test('that moderation refuses costs nothing and goes nowhere else', async () => {
      const job = await bench.ended(await bench.create(kind, { prompt: bench.first.forbidden }));
      assert.deepEqual([job.status, job.error_code], ['failed', 'content_rejected'], JSON.stringify(job));
      assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
    });

    for (const fault of ['reset', 'garbage', 'empty'] as const) {
      test(`whose answer is lost after acceptance (${fault}) is not asked for twice, and costs nothing`, async () => {
        bench.first.script({ kind: 'fault', fault });
        const job = await bench.ended(await bench.create(kind));
        assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
        assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
      });
    }
  });
}

test('several pictures are as many calls', async () => {
  await bench.made(drawing, { n: 3 });
  assert.deepEqual([submitted(), await bench.money()], [[3, 0], bench.paid(drawing, 3)]);
});

test('a full queue is made good by the other upstream', async () => {
  bench.first.activeMax = 0;
  await bench.made(film);
  assert.deepEqual([submitted(), await bench.money()], [[1, 1], bench.paid(film)]);
});

test('a clip that moderation stops at its end costs nothing', async () => {
  bench.first.endings.push({ code: 'OutputVideoSensitiveContentDetected.PolicyViolation' });
  const job = await bench.ended(await bench.create(film));
  assert.deepEqual([job.status, job.error_code], ['failed', 'content_rejected'], JSON.stringify(job));
  assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
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

test('a clip whose submission the last process got no answer to is given up, never submitted twice, and costs nothing', async () => {
  bench.first.script({ kind: 'fault', fault: 'silence' });
  const id = await bench.create(film);
  await until(() => bench.first.tasks.length === 1);
  await bench.restart();
  const job = await bench.ended(id);
  assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
  assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
});
