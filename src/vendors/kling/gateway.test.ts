import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBench } from '../../../test/support/job-bench.ts';
import { type JobCase, JobSuite } from '../../../test/support/job-suite.ts';
import { VIDEOS, videoModel } from '../../../test/support/media-models.ts';
import { clip as encodeClip, picture } from '../../../test/support/media-samples.ts';
import { IMAGE_PRICE, IMAGES, imageModel, SECOND_PRICE } from '../../../test/support/studio.ts';
import { KlingEmulator } from './emulator.ts';

const KEYS = { secret: 'secret-key-of-the-operator', accessKey: 'access-key' };
const FILES = {
  clip: await encodeClip({ seconds: 5, framesPerSecond: 4 }),
  picture: await picture('png', { width: 64, height: 64 }),
};

const film: JobCase<KlingEmulator> = {
  model: 'studio/film',
  path: VIDEOS,
  upstreamModel: 'kling-v2-5-turbo',
  body: { prompt: 'waves', seconds: 5 },
  price: 5 * SECOND_PRICE,
  written: videoModel,
  result: FILES.clip,
  usage: { credits: 2.5, seconds: 5.1 },
  unsupported: { seed: 7 },
  policy: {
    'at once': ({ forbidden }) => ({ prompt: forbidden }),
    'at its end': ({ endings }) => {
      endings.push({ words: 'Failure to pass the risk control system' });
      return {};
    },
  },
};
const short: JobCase<KlingEmulator> = { ...film, model: 'studio/short', upstreamModel: 'kling-3.0-turbo' };
const drawing: JobCase<KlingEmulator> = {
  ...film,
  model: 'studio/drawing',
  path: IMAGES,
  upstreamModel: 'kling-v2',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
  result: FILES.picture,
  usage: { credits: 2.5 },
};

// The vendor in the whole program, by a pair of keys.
const bench = openBench({
  vendor: 'kling',
  kinds: [drawing, film, short],
  emulator: () => new KlingEmulator(KEYS, FILES),
  upstream: { api_key: KEYS.secret, credential: { kind: 'access_key', access_key_id: KEYS.accessKey } },
});
const suite = new JobSuite(bench, {
  key: KEYS.secret,
  secrets: /kling/,
  files: /^\/files/,
  emptyTold: 'by the status of a throttle',
  empty: (emulator) => {
    emulator.isUsedUp = true;
  },
  throttle: (emulator) => {
    emulator.activeMax = 0;
  },
  adopts: true,
});
suite.testAll(film);
for (const kind of [drawing, short]) {
  suite.testDelivery(kind);
  suite.testUnsupported(kind);
  suite.testUnanswered(kind);
}
suite.testExample();

test('several pictures are one task', async () => {
  const job = await bench.made(drawing, { n: 3 });
  assert.deepEqual(await bench.delivered(job.id), [FILES.picture, FILES.picture, FILES.picture]);
  assert.deepEqual([bench.submitted(), await bench.money()], [[1, 0], bench.paid(drawing, 3)]);
});
