import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLIP, clipForm, TRANSCRIPTIONS } from '../../../test/support/booth.ts';
import { type BenchKind, openBench } from '../../../test/support/job-bench.ts';
import { type JobCase, JobSuite } from '../../../test/support/job-suite.ts';
import { requestModel, VIDEOS } from '../../../test/support/media-models.ts';
import { clip as encodeClip, picture, toneAs } from '../../../test/support/media-samples.ts';
import { SPEECH } from '../../../test/support/speech-studio.ts';
import { IMAGE_PRICE, IMAGES, imageModel } from '../../../test/support/studio.ts';
import { XaiEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const PRICE = 20;
const SAMPLES = {
  picture: await picture('jpeg', { width: 64, height: 64 }),
  clip: await encodeClip({ container: 'mp4', seconds: 1 }),
  sound: await toneAs('mp3', { seconds: 1 }),
};

const drawing: BenchKind = {
  model: 'studio/picture',
  path: IMAGES,
  upstreamModel: 'grok-imagine-image',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
};
const film: JobCase<XaiEmulator> = {
  model: 'studio/clip',
  path: VIDEOS,
  upstreamModel: 'grok-imagine-video',
  body: { prompt: 'Waves' },
  price: PRICE,
  written: requestModel('video', 'videos', PRICE),
  result: SAMPLES.clip,
  usage: { seconds: 8, credits: 200_000_000 },
  unsupported: { negative_prompt: 'fog' },
  policy: {
    'at once': () => ({ prompt: 'forbidden waves' }),
    'at its end': ({ endings }) => {
      endings.push('withheld');
      return {};
    },
  },
};
const ears: BenchKind = {
  model: 'studio/ears',
  path: TRANSCRIPTIONS,
  upstreamModel: 'grok-stt',
  body: {},
  price: PRICE,
  written: requestModel('audio', 'transcriptions', PRICE),
};
const voice: BenchKind = {
  model: 'studio/voice',
  path: SPEECH,
  upstreamModel: 'grok-tts',
  body: { input: 'Hello', voice: 'v' },
  price: PRICE,
  written: requestModel('audio', 'audio_speech', PRICE),
};

// The vendor in the whole program.
const bench = openBench({
  vendor: 'xai',
  kinds: [drawing, film, ears, voice],
  emulator: () => new XaiEmulator(KEY, SAMPLES),
  upstream: { api_key: KEY },
});
const suite = new JobSuite(bench, {
  key: KEY,
  secrets: /xai|grok|127\.0\.0\.1:\d+\/files/i,
  files: /^\/files\//,
  emptyTold: 'as a throttle',
  empty: (emulator) => {
    emulator.isBroke = true;
  },
  throttle: (emulator) => {
    emulator.isBusy = true;
  },
  adopts: false,
});
suite.testAll(film);
suite.testExample();

test('pictures that were withheld are not paid for', async () => {
  bench.first.withheldPictures = 1;
  const job = await bench.made(drawing, { n: 3 });
  assert.deepEqual(await bench.delivered(job.id), [SAMPLES.picture, SAMPLES.picture]);
  assert.deepEqual(await bench.money(), bench.paid(drawing, 2));
});

test('another upstream does it when a caller waits for a transcript', async () => {
  bench.first.isBroke = true;
  const form = clipForm(CLIP, { model: ears.model });
  const answer = await bench.gateway.call('POST', ears.path, { ...form, key: bench.caller.key });
  assert.deepEqual([answer.status, answer.json.text], [200, 'A toll gate. It opens.'], answer.text);
  assert.deepEqual([bench.submitted(), await bench.money()], [[1, 1], bench.paid(ears)]);
});

test('another upstream does it when a caller waits for speech', async () => {
  bench.first.isBroke = true;
  const answer = await bench.ask(voice);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(bench.submitted(), [1, 1]);
});
