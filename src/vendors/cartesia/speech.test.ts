import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testLeavingReader } from '../../../test/support/voice-faults.ts';
import type { JsonObject } from '../../json.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { inMemoryMedia, type Media } from '../index.ts';
import { KEY, speechRequest, synthesize, withEmulator } from './emulator/calls.ts';
import { soundFor, VOICE } from './emulator.ts';
import { speech } from './speech.ts';

type Fields = Partial<SoundRequest<Media>>;

const MP3 = { container: 'mp3', sample_rate: 44_100, bit_rate: 128_000 };
const PLAIN = { model_id: 'sonic-3.5', transcript: 'Hello there.', voice: { id: VOICE }, output_format: MP3 };

test('R-374 R-378: a text is sent with its voice and a whole format, under the key and the version', () =>
  withEmulator(async (emulator, upstream) => {
    const request = speechRequest({ n: 2, output: 'url', extra: { pronunciation_dict_id: 'd1', model_id: 'other' } });
    assert.deepEqual(await synthesize(request, upstream), await soundFor(MP3));
    const [{ method, path, headers, bytes } = assert.fail()] = emulator.requests;
    assert.equal(`${method} ${path}`, 'POST /tts/bytes');
    assert.deepEqual(
      [headers.authorization, headers['cartesia-version'], headers['content-type']],
      [`Bearer ${KEY}`, '2026-08-14', 'application/json'],
    );
    assert.deepEqual(JSON.parse(bytes.toString()), { ...PLAIN, pronunciation_dict_id: 'd1' });
  }));

describe('R-378: each field under the vendor’s own name', () => {
  const SENT: readonly [fields: Fields, sent: object, model?: string][] = [
    [{ voice: undefined, referenceId: VOICE }, {}],
    [{ referenceId: VOICE }, {}],
    [{ language: 'de' }, { language: 'de' }],
    [{ language: 'german' }, { language: 'de' }],
    [{ language: 'en-GB' }, { language: 'en-GB' }],
    [{ extra: { locale: 'en-GB' } }, { locale: 'en-GB' }],
    [{ speed: 0.6 }, { generation_config: { speed: 0.6 } }],
    [{ speed: 1.5, volume: 2 }, { generation_config: { speed: 1.5, volume: 2 } }],
    [
      { volume: 0.5, extra: { generation_config: { emotion: 'calm', volume: 1 } } },
      { generation_config: { emotion: 'calm', volume: 0.5 } },
    ],
    [{}, { model_id: 'sonic-2' }, 'sonic-2'],
    [{ speed: 1 }, { model_id: 'sonic-latest', generation_config: { speed: 1 } }, 'sonic-latest'],
    [{ speed: 1 }, { model_id: 'sonic-3-2026-01-12', generation_config: { speed: 1 } }, 'sonic-3-2026-01-12'],
  ];
  for (const [fields, sent, model = 'sonic-3.5'] of SENT) {
    test(`${JSON.stringify(fields)} of ${model}`, () =>
      withEmulator(async (emulator, upstream) => {
        await synthesize(speechRequest(fields), { ...upstream, model });
        assert.deepEqual(emulator.submissions[0]?.fields, { ...PLAIN, ...sent });
      }));
  }
});

describe('R-379 R-381: every format that there is, with its rates and bitrates', () => {
  const wav = (sample_rate: number) => ({ container: 'wav', encoding: 'pcm_s16le', sample_rate });
  const raw = (sample_rate: number) => ({ container: 'raw', encoding: 'pcm_s16le', sample_rate });
  const FORMATS: readonly [fields: Fields, format: object, samples?: object][] = [
    [
      { format: 'mp3', bitrate: 192 },
      { ...MP3, bit_rate: 192_000 },
    ],
    [
      { sampleRate: 22_050, bitrate: 64_000 },
      { container: 'mp3', sample_rate: 22_050, bit_rate: 64_000 },
    ],
    [{ format: 'wav' }, wav(44_100)],
    [{ format: 'wav', sampleRate: 8000 }, wav(8000)],
    [{ format: 'pcm' }, raw(24_000), { rate: 24_000, channels: 1 }],
    [{ format: 'pcm', sampleRate: 48_000 }, raw(48_000), { rate: 48_000, channels: 1 }],
  ];
  for (const [fields, format, samples] of FORMATS) {
    test(JSON.stringify(fields), () =>
      withEmulator(async (emulator, upstream) => {
        const answer = await speech.speak(speechRequest(fields), upstream);
        const sound = Buffer.concat(await Array.fromAsync(answer.pieces));
        assert.deepEqual(emulator.submissions[0]?.fields.output_format, format);
        assert.deepEqual([sound, answer.samples], [await soundFor({ ...format }), samples]);
      }),
    );
  }
});

describe('what a model cannot take is refused by its name', () => {
  const CLIP = inMemoryMedia(Buffer.from('x'), 'audio/wav');
  const REFUSED: readonly [param: string, fields: Fields, model?: string][] = [
    ['input', { input: undefined }],
    ['input', { input: '' }],
    ['voice', { voice: undefined }],
    ['voice', { voice: '' }],
    ['voice', { referenceId: 'another' }],
    ['language', { language: '?' }],
    ['locale', { language: 'en', extra: { locale: 'en-GB' } }],
    ['response_format', { format: 'opus' }],
    ['response_format', { format: 'flac' }],
    ['response_format', { format: 'aac' }],
    ['response_format', { format: 'ogg' }],
    ['sample_rate', { sampleRate: 32_000 }],
    ['bitrate', { bitrate: 256 }],
    ['bitrate', { format: 'wav', bitrate: 128 }],
    ['speed', { speed: 0.59 }],
    ['speed', { speed: 1.51 }],
    ['volume', { volume: 0.4 }],
    ['volume', { volume: 2.1 }],
    ['speed', { speed: 1 }, 'sonic-2'],
    ['volume', { volume: 1 }, 'sonic-turbo-2025-03-07'],
    ['prompt', { prompt: 'Softly' }],
    ['lyrics', { lyrics: 'La' }],
    ['voice_description', { voiceDescription: 'old' }],
    ['loudness', { loudness: 1 }],
    ['guidance_scale', { guidanceScale: 1 }],
    ['prompt_influence', { promptInfluence: 1 }],
    ['duration_seconds', { durationSeconds: 3 }],
    ['seed', { seed: 1 }],
    ['instrumental', { instrumental: true }],
    ['loop', { loop: true }],
    ['auto_generate_text', { autoGenerateText: true }],
    ['reference_audio', { referenceAudio: [CLIP] }],
    ...['output_format', 'save'].map((name): [string, { extra: JsonObject }] => [name, { extra: { [name]: true } }]),
  ];
  for (const [param, fields, model = 'sonic-3.5'] of REFUSED) {
    test(`${model}: ${JSON.stringify(fields).slice(0, 60)}`, () =>
      assert.throws(() => speech.check(speechRequest(fields), model), { code: 'unsupported_parameter', param }));
  }
});

testLeavingReader({ withEmulator, speak: (upstream) => speech.speak(speechRequest(), upstream) });
