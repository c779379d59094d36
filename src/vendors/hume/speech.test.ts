import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testLeavingReader } from '../../../test/support/voice-faults.ts';
import type { JsonObject } from '../../json.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { inMemoryMedia, type Media } from '../index.ts';
import { design, KEY, speechRequest, synthesize, withEmulator } from './emulator/calls.ts';
import { LIBRARY_VOICE, LIBRARY_VOICE_ID, OWN_VOICE, soundFor } from './emulator.ts';
import { speech } from './speech.ts';

type Fields = Partial<SoundRequest<Media>>;

const VOICE = { name: LIBRARY_VOICE, provider: 'HUME_AI' };
const UTTERANCE = { text: 'Hello there.', voice: VOICE };
const PLAIN = { utterances: [UTTERANCE], format: { type: 'mp3' }, version: '2', num_generations: 1 };

test('R-374 R-378: one utterance is sent, with the version and under the key', () =>
  withEmulator(async (emulator, upstream) => {
    const extra = { temperature: 0.5, trailing_silence: 1.5, format: { type: 'pcm' } };
    const request = speechRequest({ n: 2, output: 'url', prompt: 'Whisper.', speed: 1.5, extra });
    assert.deepEqual(await synthesize(request, upstream), await soundFor('mp3'));
    const [{ method, path, headers, bytes } = assert.fail()] = emulator.requests;
    assert.equal(`${method} ${path}`, 'POST /v0/tts/file');
    assert.deepEqual([headers['x-hume-api-key'], headers['content-type']], [KEY, 'application/json']);
    const utterance = { ...UTTERANCE, description: 'Whisper.', speed: 1.5, trailing_silence: 1.5 };
    assert.deepEqual(JSON.parse(bytes.toString()), { ...PLAIN, utterances: [utterance], temperature: 0.5 });
  }));

describe('R-378: a voice is of the library, or the account’s own, by its name or its id', () => {
  const VOICES: readonly [fields: Fields, voice: object][] = [
    [{}, VOICE],
    [{ voice: LIBRARY_VOICE_ID }, { id: LIBRARY_VOICE_ID, provider: 'HUME_AI' }],
    [
      { voice: undefined, referenceId: OWN_VOICE },
      { id: OWN_VOICE, provider: 'CUSTOM_VOICE' },
    ],
    [
      { voice: undefined, referenceId: 'my voice' },
      { name: 'my voice', provider: 'CUSTOM_VOICE' },
    ],
  ];
  for (const [fields, voice] of VOICES) {
    test(JSON.stringify(voice), () =>
      withEmulator(async (emulator, upstream) => {
        await synthesize(speechRequest(fields), upstream);
        assert.deepEqual(emulator.submissions[0]?.fields.utterances, [{ ...UTTERANCE, voice }]);
      }),
    );
  }

  test('and the model is a version', () =>
    withEmulator(async (emulator, upstream) => {
      await synthesize(speechRequest({ prompt: '' }), { ...upstream, model: 'octave-1' });
      assert.deepEqual(emulator.submissions[0]?.fields, { ...PLAIN, version: '1' });
    }));
});

describe('R-379 R-381: every format that there is, at its one rate', () => {
  const FORMATS: readonly [fields: Fields, format: string, samples?: object][] = [
    [{ format: 'mp3', sampleRate: 48_000 }, 'mp3'],
    [{ format: 'wav' }, 'wav'],
    [{ format: 'pcm' }, 'pcm', { rate: 48_000, channels: 1 }],
  ];
  for (const [fields, format, samples] of FORMATS) {
    test(JSON.stringify(fields), () =>
      withEmulator(async (emulator, upstream) => {
        const answer = await speech.speak(speechRequest(fields), upstream);
        const sound = Buffer.concat(await Array.fromAsync(answer.pieces));
        assert.deepEqual(emulator.submissions[0]?.fields.format, { type: format });
        assert.deepEqual([sound, answer.samples], [await soundFor(format), samples]);
      }),
    );
  }
});

describe('R-393: voices are designed', () => {
  test('from a description and a text, by the version that makes voices', () =>
    withEmulator(async (emulator, upstream) => {
      const previews = await design({ n: 3, speed: 0.5, format: 'wav', extra: { temperature: 0.9 } }, upstream);
      const utterances = [{ text: 'Squeak.', description: 'A sassy squeaky mouse', speed: 0.5 }];
      const sent = { utterances, format: { type: 'wav' }, version: '1', num_generations: 3, temperature: 0.9 };
      assert.deepEqual(emulator.submissions, [{ route: 'json', fields: sent }]);
      const audio = await soundFor('wav');
      const preview = (at: number) => ({
        voiceId: `generation-${at}`,
        name: undefined,
        description: 'A sassy squeaky mouse',
        audio,
      });
      assert.deepEqual(previews, [preview(0), preview(1), preview(2)]);
    }));

  const GARBLED: readonly object[] = [
    {},
    { generations: [] },
    { generations: [{ generation_id: '', audio: 'aGk=' }] },
    { generations: [{ generation_id: 'g', audio: '' }, { generation_id: 'g' }, { audio: 'aGk=' }] },
  ];
  for (const body of GARBLED) {
    test(`is garbled without a voice that can be heard: ${JSON.stringify(body).slice(0, 40)}`, () =>
      withEmulator(async (emulator, upstream) => {
        const headers = { 'content-type': 'application/json' };
        emulator.script({ kind: 'instead', status: 200, headers, body: JSON.stringify(body) });
        await assert.rejects(design({}, upstream), { fault: 'garbled' });
      }));
  }
});

describe('what a model cannot take is refused by its name', () => {
  const CLIP = inMemoryMedia(Buffer.from('x'), 'audio/wav');
  const DESIGN: Fields = { voice: undefined, voiceDescription: 'old' };
  const REFUSED: readonly [param: string, fields: Fields, model?: string][] = [
    ['model', {}, 'octave'],
    ['model', {}, 'octave-3'],
    ['input', { input: undefined }],
    ['input', { input: '' }],
    ['input', { input: 'a'.repeat(5001) }],
    ['prompt', { prompt: 'a'.repeat(1001) }],
    ['voice', { voice: undefined }],
    ['voice', { referenceId: OWN_VOICE }],
    ['speed', { speed: 0.49 }],
    ['speed', { speed: 2.01 }],
    ['response_format', { format: 'opus' }],
    ['response_format', { format: 'flac' }],
    ['sample_rate', { sampleRate: 24_000 }],
    ['bitrate', { bitrate: 128 }],
    ['language', { language: 'en' }],
    ['voice_description', { voiceDescription: 'old' }],
    ['lyrics', { lyrics: 'La' }],
    ['volume', { volume: 1 }],
    ['loudness', { loudness: 1 }],
    ['guidance_scale', { guidanceScale: 1 }],
    ['duration_seconds', { durationSeconds: 3 }],
    ['seed', { seed: 1 }],
    ['loop', { loop: true }],
    ['reference_audio', { referenceAudio: [CLIP] }],
    ['voice_description', { voice: undefined }, 'voice-design'],
    ['voice_description', { ...DESIGN, voiceDescription: 'a'.repeat(1001) }, 'voice-design'],
    ['voice', { ...DESIGN, voice: LIBRARY_VOICE }, 'voice-design'],
    ['input', { ...DESIGN, input: undefined }, 'voice-design'],
    ['input', { ...DESIGN, input: 'a'.repeat(5001) }, 'voice-design'],
    ['auto_generate_text', { ...DESIGN, autoGenerateText: true }, 'voice-design'],
    ['prompt', { ...DESIGN, prompt: 'x' }, 'voice-design'],
    ['response_format', { ...DESIGN, format: 'pcm' }, 'voice-design'],
    ['speed', { ...DESIGN, speed: 3 }, 'voice-design'],
    ['n', { ...DESIGN, n: 6 }, 'voice-design'],
    ...['utterances', 'version', 'num_generations', 'instant_mode', 'strip_headers', 'split_utterances'].flatMap(
      (name): [string, Fields & { extra: JsonObject }, string][] => [
        [name, { extra: { [name]: 2 } }, 'octave-2'],
        [name, { ...DESIGN, extra: { [name]: 2 } }, 'voice-design'],
      ],
    ),
  ];
  for (const [param, fields, model = 'octave-2'] of REFUSED) {
    test(`${model}: ${JSON.stringify(fields).slice(0, 60)}`, () =>
      assert.throws(() => speech.check(speechRequest(fields), model), { code: 'unsupported_parameter', param }));
  }

  test('and what is at its bound is taken', () =>
    withEmulator(async (emulator, upstream) => {
      for (const speed of [0.5, 2])
        await synthesize(speechRequest({ speed, input: '😀'.repeat(5000), prompt: 'a'.repeat(1000) }), upstream);
      assert.equal(emulator.submissions.length, 2);
    }));
});

testLeavingReader({ withEmulator, speak: (upstream) => speech.speak(speechRequest(), upstream) });
