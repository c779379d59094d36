import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { dataUrl } from '../../../test/support/asked-forms.ts';
import { type BenchKind, JobBench, UNTOUCHED } from '../../../test/support/job-bench.ts';
import { MUSIC, musicModel } from '../../../test/support/media-models.ts';
import { picture, toneAs } from '../../../test/support/media-samples.ts';
import { until } from '../../../test/support/postgres.ts';
import { CLIP_PRICE, IMAGE_PRICE, IMAGES, imageModel } from '../../../test/support/studio.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import { StabilityEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const PNG = await picture('png', { width: 64, height: 64 });
const MADE = { image: PNG, audio: await toneAs('mp3', { seconds: 1 }) };

const drawing: BenchKind = {
  model: 'studio/drawing',
  path: IMAGES,
  upstreamModel: 'core',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
};
const repainting: BenchKind = {
  ...drawing,
  model: 'studio/repainting',
  path: '/v1/images/edits',
  upstreamModel: 'inpaint',
  body: { prompt: 'a gate', image: dataUrl(PNG), mask: dataUrl(PNG) },
};
/** Made as a task. */
const enlargement: BenchKind = {
  ...repainting,
  model: 'studio/enlargement',
  upstreamModel: 'creative',
  body: { prompt: 'a gate', image: dataUrl(PNG) },
};
const sound: BenchKind = {
  model: 'studio/sound',
  path: MUSIC,
  upstreamModel: 'stable-audio-2.5',
  body: { prompt: 'a gate', duration_seconds: 20 },
  price: CLIP_PRICE,
  written: musicModel,
};
/** Made as a task. */
const longSound: BenchKind = { ...sound, model: 'studio/long-sound', upstreamModel: 'stable-audio-3' };
const KINDS = [
  [drawing, MADE.image],
  [repainting, MADE.image],
  [enlargement, MADE.image],
  [sound, MADE.audio],
  [longSound, MADE.audio],
] as const;

// The vendor in the whole program.
const bench = new JobBench({
  vendor: 'stability',
  kinds: KINDS.map(([kind]) => kind),
  emulator: () => new StabilityEmulator(KEY, MADE),
  upstream: { api_key: KEY },
});
before(() => bench.start());
after(() => bench.stop());
beforeEach(() => bench.begin());
afterEach(() => bench.finish());

const submitted = () => [bench.first.sent('POST').length, bench.second.sent('POST').length];

for (const [kind, result] of KINDS) {
  describe(kind.model, () => {
    test('is delivered and charged once, and tells neither the vendor nor the key', async () => {
      const job = await bench.made(kind);
      assert.deepEqual(await bench.delivered(job.id), [result]);
      assert.deepEqual([submitted(), await bench.money()], [[1, 0], bench.paid(kind)]);
      assert.doesNotMatch(JSON.stringify(job), /stability|stable|v2beta/);
      assert.ok(!bench.lines.join('').includes(KEY));
    });

    test('that moderation blurs or silences costs nothing and goes nowhere else', async () => {
      bench.first.filtered = 1;
      const job = await bench.ended(await bench.create(kind));
      assert.deepEqual([job.status, job.error_code], ['failed', 'content_rejected'], JSON.stringify(job));
      assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
    });
  });
}

for (const kind of [drawing, sound]) {
  describe(kind.model, () => {
    test('with a field that the model does not take is refused before anything is held', async () => {
      const answer = await bench.ask(kind, { seed: 0 });
      assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
      assert.deepEqual([submitted(), await bench.money()], [[0, 0], UNTOUCHED]);
    });

    test('is made elsewhere when the account is out of money, which rests for longer than one request', async () => {
      bench.first.credits = 0;
      for (const _ of [1, 2]) await bench.made(kind);
      assert.deepEqual([submitted(), await bench.money()], [[1, 2], bench.paid(kind, 2)]);
      const { whole } = await upstreamHealth(bench.gateway, 'stability-0');
      assert.equal(whole.state, 'open', JSON.stringify(whole));
    });

    test('is made elsewhere when the account has called too often', async () => {
      bench.first.requestsLeft = 0;
      await bench.made(kind);
      assert.deepEqual([submitted(), await bench.money()], [[1, 1], bench.paid(kind)]);
    });

    test('whose prompt moderation refuses costs nothing and goes nowhere else', async () => {
      bench.first.forbidden = /gate/;
      const job = await bench.ended(await bench.create(kind));
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
  const job = await bench.made(drawing, { n: 3, aspect_ratio: '16:9' });
  const wire = { prompt: 'a gate', aspect_ratio: '16:9' };
  assert.deepEqual(bench.first.submissions, [wire, wire, wire]);
  assert.deepEqual(await bench.delivered(job.id), [PNG, PNG, PNG]);
  assert.deepEqual(await bench.money(), bench.paid(drawing, 3));
});

test('a picture and its mask go as files', async () => {
  await bench.made(repainting, { grow_mask: 3 });
  const files = { image: 'image.png image/png', mask: 'mask.png image/png' };
  assert.deepEqual(bench.first.submissions, [{ prompt: 'a gate', ...files, grow_mask: '3' }]);
  assert.ok(bench.first.requests[0]?.bytes.includes(PNG));
});

test('a process that begins anew asks after the task that the last one had submitted', async () => {
  bench.first.readsUntilDone = 3;
  const id = await bench.create(enlargement);
  await until(async () => (await bench.read(id)).status === 'running');
  await bench.restart();
  assert.equal((await bench.ended(id)).status, 'succeeded');
  assert.deepEqual(await bench.delivered(id), [PNG]);
  assert.deepEqual([submitted(), await bench.money()], [[1, 0], bench.paid(enlargement)]);
});

test('a task whose submission the last process got no answer to is given up, never submitted twice, and costs nothing', async () => {
  bench.first.script({ kind: 'fault', fault: 'silence' });
  const id = await bench.create(enlargement);
  await until(() => bench.first.submissions.length === 1);
  await bench.restart();
  const job = await bench.ended(id);
  assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
  assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
});
