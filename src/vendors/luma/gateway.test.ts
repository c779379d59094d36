import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BenchKind, openBench } from '../../../test/support/job-bench.ts';
import { type JobCase, JobSuite } from '../../../test/support/job-suite.ts';
import { VIDEOS, videoModel } from '../../../test/support/media-models.ts';
import { clip as encodeClip, picture } from '../../../test/support/media-samples.ts';
import { IMAGE_PRICE, IMAGES, imageModel, SECOND_PRICE } from '../../../test/support/studio.ts';
import { LumaEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const RESULTS = {
  image: await picture('jpeg', { width: 64, height: 64 }),
  video: await encodeClip({ seconds: 1 }),
};

const photo: BenchKind = {
  model: 'studio/photon',
  path: IMAGES,
  upstreamModel: 'photon-1',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
};
const clip: JobCase<LumaEmulator> = {
  model: 'studio/clip',
  path: VIDEOS,
  upstreamModel: 'ray-2',
  body: { prompt: 'waves', seconds: 5 },
  // What was delivered lasts a second, and is settled for that.
  price: SECOND_PRICE,
  written: videoModel,
  result: RESULTS.video,
  unsupported: { negative_prompt: 'fog' },
  policy: {
    'at once': (emulator) => {
      emulator.forbidden = /waves/;
      return {};
    },
    'at its end': ({ reasons }) => {
      reasons.push('output moderation failed');
      return {};
    },
  },
};

// The vendor in the whole program.
const bench = openBench({
  vendor: 'luma',
  kinds: [photo, clip],
  emulator: () => new LumaEmulator(KEY, RESULTS),
  upstream: { api_key: KEY },
});
const suite = new JobSuite(bench, {
  key: KEY,
  secrets: /luma|ray-2|127\.0\.0\.1:\d+\/assets/,
  files: /^\/assets/,
  emptyTold: 'as a bad request',
  empty: (emulator) => {
    emulator.credits = 0;
  },
  throttle: (emulator) => {
    emulator.activeMax = 0;
  },
  adopts: false,
});
suite.testAll(clip);
suite.testExample();

test('several pictures are as many generations, copied before their links die, each fetched without the key', async () => {
  const job = await bench.made(photo, { n: 3, aspect_ratio: '1:1' });
  assert.deepEqual(
    bench.first.submissions,
    [1, 2, 3].map(() => ({ model: 'photon-1', prompt: 'a gate', aspect_ratio: '1:1' })),
  );
  bench.first.areLinksDead = true;
  assert.deepEqual(await bench.delivered(job.id), [RESULTS.image, RESULTS.image, RESULTS.image]);
  for (const { headers } of bench.first.sent('GET', /^\/assets/)) assert.equal(headers.authorization, undefined);
  assert.deepEqual(await bench.money(), bench.paid(photo, 3));
  assert.doesNotMatch(JSON.stringify(job), /luma|photon-1|127\.0\.0\.1:\d+\/assets/);
  assert.ok(!bench.lines.join('').includes(KEY));
});
