import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BenchKind, openBench } from '../../../test/support/job-bench.ts';
import { type JobCase, JobSuite } from '../../../test/support/job-suite.ts';
import { MUSIC, musicModel, VIDEOS, videoModel } from '../../../test/support/media-models.ts';
import { clip as encodeClip, picture, toneAs } from '../../../test/support/media-samples.ts';
import { CLIP_PRICE, IMAGE_PRICE, IMAGES, imageModel, SECOND_PRICE } from '../../../test/support/studio.ts';
import { RunwayEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const RESULTS = {
  image: await picture('jpeg', { width: 64, height: 64 }),
  video: await encodeClip({ seconds: 1 }),
  audio: await toneAs('mp3', { seconds: 1 }),
};

const drawing: BenchKind = {
  model: 'studio/gpt',
  path: IMAGES,
  upstreamModel: 'gpt_image_2',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
};
const clip: JobCase<RunwayEmulator> = {
  model: 'studio/clip',
  path: VIDEOS,
  upstreamModel: 'gen4.5',
  body: { prompt: 'waves', seconds: 5 },
  // What was delivered lasts a second, and is settled for that.
  price: SECOND_PRICE,
  written: videoModel,
  result: RESULTS.video,
  usage: { credits: 5 },
  unsupported: { negative_prompt: 'fog' },
  policy: {
    'at its end': ({ endings }) => {
      endings.push({ failureCode: 'SAFETY.OUTPUT.VIDEO' });
      return {};
    },
  },
};
const rain: JobCase<RunwayEmulator> = {
  ...clip,
  model: 'studio/rain',
  path: MUSIC,
  upstreamModel: 'eleven_text_to_sound_v2',
  body: { prompt: 'rain' },
  price: CLIP_PRICE,
  written: musicModel,
  result: RESULTS.audio,
};

// The vendor in the whole program.
const bench = openBench({
  vendor: 'runway',
  kinds: [drawing, clip, rain],
  emulator: () => new RunwayEmulator(KEY, RESULTS),
  upstream: { api_key: KEY },
});
const suite = new JobSuite(bench, {
  key: KEY,
  secrets: /runway|gen4|eleven|127\.0\.0\.1:\d+\/outputs/,
  files: /^\/outputs/,
  emptyTold: 'as a bad request',
  empty: (emulator) => {
    emulator.credits = 0;
  },
  // It may begin no more tasks today.
  throttle: (emulator) => {
    emulator.tasksLeft = 0;
  },
  adopts: false,
  afterRestart: (emulator, seconds) => {
    const reads = emulator.sent('GET', /^\/v1\/tasks/).length;
    assert.ok(
      reads >= 4 && reads <= 2 + seconds / 5,
      `no oftener than every five seconds: ${reads} reads in ${seconds} s`,
    );
  },
});
suite.testAll(clip);
suite.testDelivery(rain);
suite.testExample();

test('several pictures are one task, copied before their links die, each fetched without the key', async () => {
  const job = await bench.made(drawing, { n: 3 });
  const sent = { model: 'gpt_image_2', promptText: 'a gate', ratio: '1920:1920', quality: 'medium', outputCount: 3 };
  assert.deepEqual(bench.first.submissions, [sent]);
  bench.first.areLinksDead = true;
  assert.deepEqual(await bench.delivered(job.id), [RESULTS.image, RESULTS.image, RESULTS.image]);
  for (const { headers } of bench.first.sent('GET', /^\/outputs/)) assert.equal(headers.authorization, undefined);
  assert.deepEqual(await bench.money(), bench.paid(drawing, 3));
});
