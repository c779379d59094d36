import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataUrl } from '../../../test/support/asked-forms.ts';
import { openBench } from '../../../test/support/job-bench.ts';
import { type JobCase, JobSuite } from '../../../test/support/job-suite.ts';
import { MUSIC, musicModel } from '../../../test/support/media-models.ts';
import { picture, toneAs } from '../../../test/support/media-samples.ts';
import { CLIP_PRICE, IMAGE_PRICE, IMAGES, imageModel } from '../../../test/support/studio.ts';
import { StabilityEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const PNG = await picture('png', { width: 64, height: 64 });
const MADE = { image: PNG, audio: await toneAs('mp3', { seconds: 1 }) };

type Kind = JobCase<StabilityEmulator>;

const policy: Kind['policy'] = {
  'at once': (emulator) => {
    emulator.forbidden = /gate/;
    return {};
  },
  'of what was made': (emulator) => {
    emulator.filtered = 1;
    return {};
  },
};
const drawing: Kind = {
  model: 'studio/drawing',
  path: IMAGES,
  upstreamModel: 'core',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
  result: MADE.image,
  unsupported: { seed: 0 },
  policy,
};
const repainting: Kind = {
  ...drawing,
  model: 'studio/repainting',
  path: '/v1/images/edits',
  upstreamModel: 'inpaint',
  body: { prompt: 'a gate', image: dataUrl(PNG), mask: dataUrl(PNG) },
};
/** Made as a task. */
const enlargement: Kind = {
  ...repainting,
  model: 'studio/enlargement',
  upstreamModel: 'creative',
  body: { prompt: 'a gate', image: dataUrl(PNG) },
};
const sound: Kind = {
  ...drawing,
  model: 'studio/sound',
  path: MUSIC,
  upstreamModel: 'stable-audio-2.5',
  body: { prompt: 'a gate', duration_seconds: 20 },
  price: CLIP_PRICE,
  written: musicModel,
  result: MADE.audio,
};
/** Made as a task. */
const longSound: Kind = { ...sound, model: 'studio/long-sound', upstreamModel: 'stable-audio-3' };
const KINDS = [drawing, repainting, enlargement, sound, longSound];

// The vendor in the whole program.
const bench = openBench({
  vendor: 'stability',
  kinds: KINDS,
  emulator: () => new StabilityEmulator(KEY, MADE),
  upstream: { api_key: KEY },
});
const suite = new JobSuite(bench, {
  key: KEY,
  secrets: /stability|stable|v2beta/,
  files: /results/,
  emptyTold: 'by a status of its own',
  empty: (emulator) => {
    emulator.credits = 0;
  },
  throttle: (emulator) => {
    emulator.requestsLeft = 0;
  },
  adopts: false,
});
for (const kind of [drawing, sound]) {
  suite.testUnsupported(kind);
  suite.testEmptyAccount(kind);
  suite.testThrottle(kind);
  suite.testLostAnswers(kind);
}
for (const kind of [enlargement, longSound]) {
  suite.testRestart(kind);
  suite.testUnanswered(kind);
}
suite.testExample();

// Results are no links: they come with the answer, or lie behind the key.
for (const kind of KINDS) {
  suite.testPolicy(kind);
  test(`${kind.model} is delivered and charged once, and tells neither the vendor nor the key`, async () => {
    const job = await bench.made(kind);
    assert.deepEqual(await bench.delivered(job.id), [kind.result]);
    assert.deepEqual([bench.submitted(), await bench.money()], [[1, 0], bench.paid(kind)]);
    assert.doesNotMatch(JSON.stringify(job), /stability|stable|v2beta/);
    assert.ok(!bench.lines.join('').includes(KEY));
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
