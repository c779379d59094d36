import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainSound } from '../../../test/support/plain-requests.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { inMemoryMedia } from '../kit/in-memory-media.ts';
import type { Media } from '../vendor.ts';
import { isRefused, MADE, music, play, taskOf, withEmulator } from './emulator/calls.ts';

type Fields = Partial<SoundRequest<Media>>;

const mp3 = inMemoryMedia(Buffer.from('an mp3'), 'audio/mpeg');
const flac = inMemoryMedia(Buffer.from('a flac'), 'audio/flac');
const SECOND = 'stable-audio-2.5';
const THIRD = 'stable-audio-3';
const AUDIO = { audio: 'audio.mp3 audio/mpeg' };

const REQUESTS: readonly { model: string; route: string; fields: Fields; wire: object }[] = [
  { model: SECOND, route: 'stable-audio-2/text-to-audio', fields: {}, wire: { duration: '190' } },
  {
    model: 'stable-audio-2',
    route: 'stable-audio-2/text-to-audio',
    fields: { prompt: undefined, input: 'A march', instrumental: true, extra: { steps: 50 } },
    wire: { duration: '190', steps: '50' },
  },
  {
    model: SECOND,
    route: 'stable-audio-2/text-to-audio',
    fields: { durationSeconds: 2.5, seed: 7, guidanceScale: 3, format: 'wav' },
    wire: { duration: '2.5', seed: '7', cfg_scale: '3', output_format: 'wav' },
  },
  {
    model: SECOND,
    route: 'stable-audio-2/audio-to-audio',
    fields: { referenceAudio: [mp3], durationSeconds: 30 },
    wire: { ...AUDIO, duration: '30', strength: '0.5' },
  },
  {
    model: SECOND,
    route: 'stable-audio-2/audio-to-audio',
    fields: { referenceAudio: [mp3], extra: { strength: 0.9 } },
    wire: { ...AUDIO, duration: '190', strength: '0.9' },
  },
  {
    model: SECOND,
    route: 'stable-audio-2/inpaint',
    fields: { referenceAudio: [mp3], extra: { mask_start: 5, mask_end: 9 } },
    wire: { ...AUDIO, duration: '190', mask_start: '5', mask_end: '9' },
  },
];

describe('the exact request, and the sound out of its answer', () => {
  for (const { model, route, fields, wire } of REQUESTS) {
    test(`${model} with ${JSON.stringify(fields)}`, () =>
      withEmulator(async (emulator, upstream) => {
        const outputs = [{ data: MADE.audio }];
        assert.deepEqual(await play({ ...upstream, model }, fields), { state: 'succeeded', outputs });
        assert.deepEqual(emulator.submissions, [{ prompt: 'A march', model, ...wire }]);
        assert.equal(emulator.requests[0]?.path, `/v2beta/audio/${route}`);
      }));
  }

  test('the third generation makes longer pieces, as tasks', () =>
    withEmulator(async (emulator, upstream) => {
      const task = taskOf(await play({ ...upstream, model: THIRD }, { durationSeconds: 300 }));
      assert.deepEqual(task, { id: '1'.padStart(64, 'a') });
      assert.deepEqual(emulator.submissions, [{ prompt: 'A march', model: THIRD, duration: '300' }]);
      assert.equal(emulator.requests[0]?.path, '/v2beta/audio/stable-audio/text-to-audio');
    }));

  test('one call makes one piece', () => assert.equal(music.perCall(plainSound({ n: 3 }), SECOND), 1));
});

const REFUSED: readonly { model: string; fields: Fields; field: string }[] = [
  ...[SECOND, THIRD].flatMap((model) => [
    { model, fields: { prompt: undefined }, field: 'prompt' },
    { model, fields: { input: 'A waltz' }, field: 'input' },
    { model, fields: { lyrics: 'La' }, field: 'lyrics' },
    { model, fields: { voice: 'v' }, field: 'voice' },
    { model, fields: { language: 'en' }, field: 'language' },
    { model, fields: { format: 'flac' as const }, field: 'response_format' },
    { model, fields: { sampleRate: 44_100 }, field: 'sample_rate' },
    { model, fields: { bitrate: 128 }, field: 'bitrate' },
    { model, fields: { speed: 2 }, field: 'speed' },
    { model, fields: { promptInfluence: 0.5 }, field: 'prompt_influence' },
    { model, fields: { loop: true }, field: 'loop' },
    { model, fields: { seed: 0 }, field: 'seed' },
    { model, fields: { guidanceScale: 26 }, field: 'guidance_scale' },
    { model, fields: { durationSeconds: 0.5 }, field: 'duration_seconds' },
    { model, fields: { durationSeconds: 381 }, field: 'duration_seconds' },
    { model, fields: { referenceAudio: [mp3, mp3] }, field: 'reference_audio' },
    { model, fields: { referenceAudio: [flac] }, field: 'reference_audio' },
    ...['duration', 'audio', 'output_format', 'cfg_scale'].map((name) => ({
      model,
      fields: { extra: { [name]: 'x' } },
      field: name,
    })),
  ]),
  { model: SECOND, fields: { durationSeconds: 191 }, field: 'duration_seconds' },
];

for (const { model, fields, field } of REFUSED) {
  test(`${model} with ${JSON.stringify(fields).slice(0, 60)} is refused for "${field}"`, () => {
    assert.throws(() => music.check(plainSound({ prompt: 'A march', ...fields }), model), isRefused(field));
  });
}
