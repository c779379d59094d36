import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toneAs } from '../../../test/support/media-samples.ts';
import { plainSound } from '../../../test/support/plain-requests.ts';
import { rawNumber } from '../../../test/support/raw-number.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { inMemoryMedia, type Media } from '../index.ts';
import { design, KEY, MARKER, speechRequest, synthesize, withEmulator } from './emulator/calls.ts';
import { soundFor, VOICE } from './emulator.ts';
import { speech } from './speech.ts';

type Fields = Partial<SoundRequest<Media>>;

const SAMPLE = inMemoryMedia(await toneAs('wav', { seconds: 1, sampleRate: 16_000 }), 'audio/wav');
const USUAL = { text: 'Hello there.', format: 'mp3', sample_rate: 44_100 };

test('R-374 R-378: text, voice, speed and volume are sent as the vendor names them, its model in a header', () =>
  withEmulator(async (emulator, upstream) => {
    const request = speechRequest({ voice: VOICE, speed: 1.5, volume: -3, n: 2, output: 'url' });
    assert.deepEqual(await synthesize(request, { ...upstream, model: 's2-pro' }), await soundFor('mp3', 44_100));
    const [{ method, path, headers, bytes } = assert.fail()] = emulator.requests;
    assert.equal(`${method} ${path}`, 'POST /v1/tts');
    assert.deepEqual(
      [headers.authorization, headers.model, headers['content-type']],
      [`Bearer ${KEY}`, 's2-pro', 'application/json'],
    );
    const prosody = { speed: 1.5, volume: -3 };
    assert.deepEqual(JSON.parse(bytes.toString()), { ...USUAL, reference_id: VOICE, prosody });
    assert.equal(emulator.submissions[0]?.model, 's2-pro');
  }));

test('R-378: a voice may be given as reference_id; without one it is the vendor’s own', () =>
  withEmulator(async (emulator, upstream) => {
    await synthesize(speechRequest({ referenceId: VOICE }), upstream);
    await synthesize(speechRequest({ voice: VOICE, referenceId: VOICE }), upstream);
    await synthesize(speechRequest(), upstream);
    const voices = emulator.submissions.map(({ fields }) => fields.reference_id);
    assert.deepEqual(voices, [VOICE, VOICE, undefined]);
  }));

test('R-387: what is not modelled goes on, and never takes the place of what was asked for', () =>
  withEmulator(async (emulator, upstream) => {
    const prosody = { normalize_loudness: false, speed: 2 };
    const extra = { text: 'Bye', format: 'wav', prosody, latency: 'low', top_p: 0.5 };
    await synthesize(speechRequest({ speed: 0.5, extra }), upstream);
    const { fields } = emulator.submissions[0] ?? assert.fail();
    assert.deepEqual(fields, {
      ...USUAL,
      prosody: { normalize_loudness: false, speed: 0.5 },
      latency: 'low',
      top_p: 0.5,
    });
  }));

describe('samples of a voice go as bytes', () => {
  test('in MessagePack, piece by piece, with all else beside them', () =>
    withEmulator(async (emulator, upstream) => {
      const bytes = await SAMPLE.read();
      const sample = { ...SAMPLE, read: () => assert.fail('it is not to be held') };
      const written = rawNumber('0.50') as JsonValue;
      const extra = { top_p: written, normalize: true, chunk_length: 200, features: ['a', 7.5, null] };
      const request = speechRequest({ referenceAudio: [sample, sample], speed: 1.25, input: 'Grüße 😀', extra });
      assert.deepEqual(await synthesize(request, upstream), await soundFor('mp3', 44_100));
      assert.equal(emulator.requests[0]?.headers['content-type'], 'application/msgpack');
      assert.deepEqual(emulator.submissions[0]?.fields, {
        ...USUAL,
        text: 'Grüße 😀',
        top_p: 0.5,
        normalize: true,
        chunk_length: 200,
        features: ['a', 7.5, null],
        prosody: { speed: 1.25 },
        references: [
          { audio: bytes, text: '' },
          { audio: bytes, text: '' },
        ],
      });
    }));

  test('and one that cannot be read ends the call as it is', () =>
    withEmulator(async (_emulator, upstream) => {
      const broken = new Error('the disk is gone');
      const sample = {
        ...SAMPLE,
        async *pieces(): AsyncGenerator<Buffer> {
          yield Buffer.from('RIFF');
          throw broken;
        },
      };
      await assert.rejects(synthesize(speechRequest({ referenceAudio: [sample] }), upstream), broken);
    }));
});

describe('R-379 R-381: format, sample rate and bitrate', () => {
  const FORMATS: readonly [fields: Fields, sent: object, samples?: object][] = [
    [{ bitrate: 192 }, { format: 'mp3', sample_rate: 44_100, mp3_bitrate: 192 }],
    [
      { format: 'mp3', sampleRate: 32_000, bitrate: 64_000 },
      { format: 'mp3', sample_rate: 32_000, mp3_bitrate: 64 },
    ],
    [{ format: 'opus' }, { format: 'opus', sample_rate: 48_000 }],
    [
      { format: 'opus', bitrate: 24 },
      { format: 'opus', sample_rate: 48_000, opus_bitrate: 24_000 },
    ],
    [
      { format: 'wav', sampleRate: 8000 },
      { format: 'wav', sample_rate: 8000 },
    ],
    [{ format: 'pcm' }, { format: 'pcm', sample_rate: 24_000 }, { rate: 24_000, channels: 1 }],
    [
      { format: 'pcm', sampleRate: 44_100 },
      { format: 'pcm', sample_rate: 44_100 },
      { rate: 44_100, channels: 1 },
    ],
  ];
  for (const [fields, sent, samples] of FORMATS) {
    test(`${JSON.stringify(fields)} is ${JSON.stringify(sent)}`, () =>
      withEmulator(async (emulator, upstream) => {
        const answer = await speech.speak(speechRequest(fields), upstream);
        await Array.fromAsync(answer.pieces);
        assert.deepEqual(emulator.submissions[0]?.fields, { text: 'Hello there.', ...sent });
        assert.deepEqual(answer.samples, samples);
      }));
  }
});

describe('what a model cannot take is refused by its name', () => {
  const REFUSED: readonly [param: string, fields: Fields, model?: string][] = [
    // The vendor would take another in its place, and say nothing.
    ...['S1', 's2.1_pro', 'transcribe-1', 'm'].map((model): [string, Fields, string] => ['model', {}, model]),
    ['input', { input: undefined }],
    ['input', { input: '' }],
    ['voice', { voice: 'a', referenceId: 'b' }],
    ['reference_audio', { voice: VOICE, referenceAudio: [SAMPLE] }],
    ['reference_audio', { referenceId: VOICE, referenceAudio: [SAMPLE] }],
    ['response_format', { format: 'flac' }],
    ['response_format', { format: 'ogg' }],
    ['response_format', { format: 'aac' }],
    ['sample_rate', { sampleRate: 24_000 }],
    ['sample_rate', { format: 'opus', sampleRate: 44_100 }],
    ['sample_rate', { format: 'wav', sampleRate: 48_000 }],
    ['bitrate', { bitrate: 96 }],
    ['bitrate', { format: 'opus', bitrate: 128 }],
    ['bitrate', { format: 'wav', bitrate: 128 }],
    ['speed', { speed: 0.49 }],
    ['speed', { speed: 2.01 }],
    ['volume', { volume: 20.1 }],
    ['loudness', { loudness: 0.5 }],
    ['prompt', { prompt: 'Softly' }],
    ['lyrics', { lyrics: 'La' }],
    ['language', { language: 'en' }],
    ['seed', { seed: 1 }],
    ['voice_description', { voiceDescription: 'old' }],
    ['duration_seconds', { durationSeconds: 3 }],
    ['loop', { loop: true }],
    ['opus_bitrate', { extra: { opus_bitrate: 24_000 } }],
    ['references', { extra: { references: [] } }],
  ];
  for (const [param, fields, model = 's1'] of REFUSED) {
    test(`${model}: ${JSON.stringify(fields).slice(0, 60)}`, () =>
      assert.throws(() => speech.check(speechRequest(fields), model), { code: 'unsupported_parameter', param }));
  }

  test('and every model of the vendor is taken', () => {
    for (const model of ['s1', 's2-pro', 's2.1-pro', 's2.1-pro-free', 'drama-3-preview', 's3'])
      speech.check(speechRequest({ loop: false, instrumental: false }), model);
  });
});

describe('voice design', () => {
  test('R-393: a description brings previews, each with a voice that can be named', () =>
    withEmulator(async (emulator, upstream) => {
      const fields = { input: 'Welcome.', language: 'en', speed: 1.2, guidanceScale: 3, seed: 7, n: 3 };
      const extra: JsonObject = { num_step: 16 };
      const audio = await soundFor('wav', 44_100);
      assert.deepEqual(
        await design({ ...fields, extra, format: 'wav' }, upstream),
        [0, 1, 2].map((at) => {
          const voiceId = `voice-${MARKER}-${at}`;
          return { voiceId, name: undefined, description: 'A sassy squeaky mouse', audio };
        }),
      );
      assert.deepEqual(emulator.submissions[0], {
        route: 'design',
        model: 'voice-design-1',
        fields: {
          num_step: 16,
          instruction: 'A sassy squeaky mouse',
          reference_text: 'Welcome.',
          language: 'en',
          n: 3,
          speed: 1.2,
          guidance_scale: 3,
          seed: 7,
        },
      });
    }));

  test('a description alone brings two', () =>
    withEmulator(async (emulator, upstream) => {
      assert.equal((await design({}, upstream)).length, 2);
      assert.deepEqual(emulator.submissions[0]?.fields, { instruction: 'A sassy squeaky mouse', n: 2 });
    }));

  test('candidates that lack their voice or their sound are left out', () =>
    withEmulator(async (emulator, upstream) => {
      const candidates = [{ audio_base64: 'aGk=' }, { id: 'a' }, { id: 'b', audio_base64: '' }, 'c'];
      const headers = { 'content-type': 'application/json' };
      const script = (list: readonly unknown[]) =>
        emulator.script({ kind: 'instead', status: 200, headers, body: JSON.stringify({ candidates: list }) });
      script([...candidates, { id: 'd', audio_base64: 'aGk=' }]);
      assert.deepEqual(
        (await design({}, upstream)).map(({ voiceId, audio }) => [voiceId, audio.toString()]),
        [['d', 'hi']],
      );
      script(candidates);
      await assert.rejects(design({}, upstream), { fault: 'garbled' });
    }));

  const REFUSED: readonly [param: string, fields: Fields][] = [
    ['voice_description', { voiceDescription: undefined }],
    ['voice_description', { voiceDescription: 'a'.repeat(2001) }],
    ['input', { input: 'a'.repeat(151) }],
    ['input', { autoGenerateText: false }],
    ['response_format', { format: 'mp3' }],
    ['speed', { speed: 3.1 }],
    ['guidance_scale', { guidanceScale: -1 }],
    ['n', { n: 5 }],
    ['voice', { voice: VOICE }],
    ['sample_rate', { sampleRate: 44_100 }],
    ['loudness', { loudness: 1 }],
    ['reference_audio', { referenceAudio: [SAMPLE] }],
    ['include_audio_base64', { extra: { include_audio_base64: true } }],
  ];
  for (const [param, fields] of REFUSED) {
    test(`${JSON.stringify(fields).slice(0, 60)} is refused`, () => {
      const request = plainSound({ voiceDescription: 'x', ...fields });
      assert.throws(() => speech.check(request, 'voice-design-1'), { code: 'unsupported_parameter', param });
    });
  }
});
