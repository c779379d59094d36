import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBench } from '../../../test/support/job-bench.ts';
import { type JobCase, JobSuite } from '../../../test/support/job-suite.ts';
import { VIDEOS, videoModel } from '../../../test/support/media-models.ts';
import { clip as encodeClip, picture } from '../../../test/support/media-samples.ts';
import { IMAGE_PRICE, IMAGES, imageModel, SECOND_PRICE } from '../../../test/support/studio.ts';
import { ArkEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const FILES = {
  clip: await encodeClip({ seconds: 4, framesPerSecond: 4 }),
  picture: await picture('jpeg', { width: 64, height: 64 }),
};

const drawing: JobCase<ArkEmulator> = {
  model: 'studio/drawing',
  path: IMAGES,
  upstreamModel: 'seedream-4-0-250828',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
  result: FILES.picture,
  usage: { outputTokens: 16384 },
  unsupported: { negative_prompt: 'fog' },
  policy: { 'at once': ({ forbidden }) => ({ prompt: forbidden }) },
};
const film: JobCase<ArkEmulator> = {
  model: 'studio/film',
  path: VIDEOS,
  upstreamModel: 'seedance-1-5-pro-251215',
  body: { prompt: 'waves', seconds: 4 },
  price: 4 * SECOND_PRICE,
  written: videoModel,
  result: FILES.clip,
  usage: { outputTokens: 108_900, seconds: 4 },
  unsupported: { negative_prompt: 'fog' },
  policy: {
    ...drawing.policy,
    'at its end': ({ endings }) => {
      endings.push({ code: 'OutputVideoSensitiveContentDetected.PolicyViolation' });
      return {};
    },
  },
};

// The vendor in the whole program.
const bench = openBench({
  vendor: 'ark',
  kinds: [drawing, film],
  emulator: () => new ArkEmulator(KEY, FILES),
  upstream: { api_key: KEY },
});
const suite = new JobSuite(bench, {
  key: KEY,
  secrets: /ark|seed/,
  files: /^\/files/,
  emptyTold: 'as an overdue balance',
  empty: (emulator) => {
    emulator.isOverdue = true;
  },
  throttle: (emulator) => {
    emulator.activeMax = 0;
  },
  adopts: false,
});
suite.testAll(film);
// A picture is made within its call: there is no queue that is full, and no task that outlives a process.
suite.testDelivery(drawing);
suite.testUnsupported(drawing);
suite.testEmptyAccount(drawing);
suite.testLostAnswers(drawing);
suite.testPolicy(drawing);
suite.testExample();

test('several pictures are as many calls', async () => {
  await bench.made(drawing, { n: 3 });
  assert.deepEqual([bench.submitted(), await bench.money()], [[3, 0], bench.paid(drawing, 3)]);
});
