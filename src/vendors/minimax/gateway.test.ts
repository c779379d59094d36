import assert from 'node:assert/strict';
import { test } from 'node:test';
import { request } from 'undici';
import { CLIP, clipForm, TRANSCRIPTIONS } from '../../../test/support/booth.ts';
import { type BenchKind, openBench } from '../../../test/support/job-bench.ts';
import { type JobCase, JobSuite } from '../../../test/support/job-suite.ts';
import { MUSIC, requestModel, VIDEOS } from '../../../test/support/media-models.ts';
import { clip as encodeClip, picture, toneAs } from '../../../test/support/media-samples.ts';
import { SPEECH } from '../../../test/support/speech-studio.ts';
import { IMAGE_PRICE, IMAGES, imageModel } from '../../../test/support/studio.ts';
import { MinimaxEmulator } from './emulator.ts';

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
  upstreamModel: 'image-01',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
};
const film: JobCase<MinimaxEmulator> = {
  model: 'studio/clip',
  path: VIDEOS,
  upstreamModel: 'MiniMax-Hailuo-2.3',
  body: { prompt: 'Waves' },
  price: PRICE,
  written: requestModel('video', 'videos', PRICE),
  result: SAMPLES.clip,
  unsupported: { negative_prompt: 'fog' },
  policy: {
    'at once': () => ({ prompt: 'forbidden waves' }),
    'at its end': ({ endings }) => {
      endings.push('sensitive');
      return {};
    },
  },
};
const song: BenchKind = {
  model: 'studio/song',
  path: MUSIC,
  upstreamModel: 'music-2.6',
  body: { prompt: 'A march' },
  price: PRICE,
  written: requestModel('audio', 'audio_music', PRICE),
};
const ears: BenchKind = {
  model: 'studio/ears',
  path: TRANSCRIPTIONS,
  upstreamModel: 'speech-to-text',
  body: {},
  price: PRICE,
  written: requestModel('audio', 'transcriptions', PRICE),
};
const voice: BenchKind = {
  model: 'studio/voice',
  path: SPEECH,
  upstreamModel: 'speech-2.8-hd',
  body: { input: 'Hello', voice: 'v' },
  price: PRICE,
  written: requestModel('audio', 'audio_speech', PRICE),
};

// The vendor in the whole program.
const bench = openBench({
  vendor: 'minimax',
  kinds: [drawing, film, song, ears, voice],
  emulator: () => new MinimaxEmulator(KEY, SAMPLES),
  upstream: { api_key: KEY },
});
const suite = new JobSuite(bench, {
  key: KEY,
  secrets: /minimax|hailuo|127\.0\.0\.1:\d+\/files/i,
  files: /^\/files\//,
  emptyTold: 'with status 200',
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

test('pictures that did not come are not paid for', async () => {
  bench.first.missingPictures = 1;
  const job = await bench.made(drawing, { n: 3 });
  assert.equal((await bench.delivered(job.id)).length, 2);
  assert.deepEqual(await bench.money(), bench.paid(drawing, 2));
});

test('a song and a sentence are sound, and what they are made of is decoded', async () => {
  const { id } = await bench.made(song);
  assert.deepEqual(await bench.delivered(id), [SAMPLES.sound]);
  const { statusCode, body } = await request(bench.gateway.url + SPEECH, {
    method: 'POST',
    headers: { authorization: `Bearer ${bench.caller.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: voice.model, ...voice.body }),
  });
  const spoken = Buffer.from(await body.arrayBuffer());
  assert.equal(statusCode, 200, spoken.toString());
  assert.deepEqual(spoken, SAMPLES.sound);
  assert.deepEqual(await bench.money(), bench.paid(song, 2));
});

test('another upstream does it when a caller waits for a transcript', async () => {
  bench.first.isBroke = true;
  const form = clipForm(CLIP, { model: ears.model });
  const answer = await bench.gateway.call('POST', ears.path, { ...form, key: bench.caller.key });
  assert.deepEqual([answer.status, answer.json.text], [200, 'A toll gate.'], answer.text);
  assert.deepEqual([bench.submitted(), await bench.money()], [[1, 1], bench.paid(ears)]);
});

test('another upstream does it when a caller waits for speech', async () => {
  bench.first.isBroke = true;
  const answer = await bench.ask(voice);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(bench.submitted(), [1, 1]);
});
