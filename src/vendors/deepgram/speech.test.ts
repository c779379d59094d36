import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testLeavingReader } from '../../../test/support/voice-faults.ts';
import type { JsonObject } from '../../json.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { inMemoryMedia, type Media } from '../index.ts';
import { KEY, speechRequest, synthesize, withEmulator } from './emulator/calls.ts';
import { soundFor } from './emulator.ts';
import { speech } from './speech.ts';

type Fields = Partial<SoundRequest<Media>>;

const MODEL = 'aura-2-thalia-en';

test('R-374 R-378: the text is the body, all else stands in the query, and the characters are counted by the vendor', () =>
  withEmulator(async (emulator, upstream) => {
    const request = speechRequest({ speed: 1.2, n: 2, output: 'url', extra: { tag: ['a', 'b'] } });
    assert.deepEqual(await synthesize(request, upstream), await soundFor({}));
    const [{ method, path, headers, bytes } = assert.fail()] = emulator.requests;
    assert.equal(`${method} ${path}`, `POST /v1/speak?tag=a&tag=b&model=${MODEL}&encoding=mp3&speed=1.2`);
    assert.deepEqual([headers.authorization, headers['content-type']], [`Token ${KEY}`, 'application/json']);
    assert.equal(bytes.toString(), '{"text":"Hello there."}');
    const { pieces, ...rest } = await speech.speak(request, upstream);
    await Array.fromAsync(pieces);
    assert.deepEqual(rest, { characters: 12 });
  }));

describe('R-378: a voice is a model, of the family of the route', () => {
  const VOICES: readonly [fields: Fields, voice: string, model?: string][] = [
    [{}, MODEL],
    [{ voice: 'zeus' }, 'aura-2-zeus-en'],
    [{ voice: 'aura-2-lara-de' }, 'aura-2-lara-de'],
    [{ referenceId: 'aura-2-lara-de', language: 'de-CH' }, 'aura-2-lara-de'],
    [{ voice: 'carina', language: 'es' }, 'aura-2-carina-es'],
    [{ voice: 'zeus', referenceId: 'zeus' }, 'aura-2-zeus-en'],
    [{ voice: 'zeus' }, 'aura-2-zeus-en', 'aura-2'],
    [{ voice: 'lara', language: 'german' }, 'aura-2-lara-de', 'aura-2'],
    [{ voice: 'aura-2-zeus-en' }, 'aura-2-zeus-en', 'aura-2'],
    [{ voice: 'zeus' }, 'aura-zeus-en', 'aura-asteria-en'],
    [{ language: 'en' }, 'aura-asteria-en', 'aura-asteria-en'],
  ];
  for (const [fields, voice, model = MODEL] of VOICES) {
    test(`${JSON.stringify(fields)} of ${model} is ${voice}`, () =>
      withEmulator(async (emulator, upstream) => {
        await synthesize(speechRequest(fields), { ...upstream, model });
        assert.deepEqual(emulator.submissions[0]?.options.model, [voice]);
      }));
  }
});

describe('R-379 R-381: every format is made, with its rates and bitrates', () => {
  const FORMATS: readonly [fields: Fields, query: string, samples?: object][] = [
    [{ bitrate: 32 }, 'encoding=mp3&bit_rate=32000'],
    [{ format: 'mp3', sampleRate: 22_050, bitrate: 48_000 }, 'encoding=mp3&bit_rate=48000'],
    [{ format: 'wav' }, 'encoding=linear16&container=wav&sample_rate=24000'],
    [{ format: 'wav', sampleRate: 8000 }, 'encoding=linear16&container=wav&sample_rate=8000'],
    [{ format: 'pcm' }, 'encoding=linear16&container=none&sample_rate=24000', { rate: 24_000, channels: 1 }],
    [
      { format: 'pcm', sampleRate: 48_000 },
      'encoding=linear16&container=none&sample_rate=48000',
      { rate: 48_000, channels: 1 },
    ],
    [{ format: 'opus' }, 'encoding=opus&container=ogg'],
    [{ format: 'ogg', sampleRate: 48_000, bitrate: 64 }, 'encoding=opus&container=ogg&bit_rate=64000'],
    [{ format: 'flac', sampleRate: 16_000 }, 'encoding=flac&sample_rate=16000'],
    [{ format: 'aac', bitrate: 96_000 }, 'encoding=aac&bit_rate=96000'],
  ];
  for (const [fields, query, samples] of FORMATS) {
    test(`${JSON.stringify(fields)} is ${query}`, () =>
      withEmulator(async (emulator, upstream) => {
        const answer = await speech.speak(speechRequest(fields), upstream);
        const sound = Buffer.concat(await Array.fromAsync(answer.pieces));
        assert.equal(emulator.requests[0]?.path, `/v1/speak?model=${MODEL}&${query}`);
        assert.deepEqual(sound, await soundFor(emulator.submissions[0]?.options ?? {}));
        assert.deepEqual(answer.samples, samples);
      }));
  }
});

describe('what a voice cannot take is refused by its name', () => {
  const CLIP = inMemoryMedia(Buffer.from('x'), 'audio/wav');
  const REFUSED: readonly [param: string, fields: Fields, model?: string][] = [
    ['input', { input: undefined }],
    ['input', { input: '' }],
    ['input', { input: 'a'.repeat(2001) }],
    ['voice', {}, 'aura-2'],
    ['voice', { voice: 'aura-zeus-en' }],
    ['voice', { voice: 'aura-2-zeus-en' }, 'aura-asteria-en'],
    ['voice', { voice: '../v1/listen' }],
    ['voice', { voice: 'zeus', referenceId: 'thalia' }],
    ['reference_id', { referenceId: 'Zeus!' }],
    ['language', { language: 'de' }],
    ['language', { voice: 'aura-2-lara-de', language: 'en' }],
    ['speed', { speed: 0.69 }],
    ['speed', { speed: 1.51 }],
    ['speed', { speed: 1 }, 'aura-asteria-en'],
    ['sample_rate', { sampleRate: 44_100 }],
    ['sample_rate', { format: 'wav', sampleRate: 22_050 }],
    ['sample_rate', { format: 'flac', sampleRate: 24_000 }],
    ['bitrate', { bitrate: 128 }],
    ['bitrate', { format: 'pcm', bitrate: 128 }],
    ['bitrate', { format: 'aac', bitrate: 193 }],
    ['prompt', { prompt: 'Softly' }],
    ['lyrics', { lyrics: 'La' }],
    ['voice_description', { voiceDescription: 'old' }],
    ['volume', { volume: 2 }],
    ['loudness', { loudness: 1 }],
    ['seed', { seed: 1 }],
    ['duration_seconds', { durationSeconds: 3 }],
    ['loop', { loop: true }],
    ['reference_audio', { referenceAudio: [CLIP] }],
    ...['encoding', 'container', 'bit_rate', 'callback', 'mip_opt_out'].map((name): [string, { extra: JsonObject }] => {
      return [name, { extra: { [name]: 'x' } }];
    }),
  ];
  for (const [param, fields, model = MODEL] of REFUSED) {
    test(`${model}: ${JSON.stringify(fields).slice(0, 60)}`, () =>
      assert.throws(() => speech.check(speechRequest(fields), model), { code: 'unsupported_parameter', param }));
  }

  test('and what is at its bound is taken', () =>
    withEmulator(async (emulator, upstream) => {
      for (const speed of [0.7, 1.5]) await synthesize(speechRequest({ speed, input: '😀'.repeat(2000) }), upstream);
      assert.equal(emulator.submissions.length, 2);
    }));
});

test('a count that is none is left out', () =>
  withEmulator(async (emulator, upstream) => {
    const headers = { 'content-type': 'audio/mpeg', 'dg-char-count': 'many' };
    emulator.script({ kind: 'instead', status: 200, headers, body: 'sound' });
    const { pieces, ...rest } = await speech.speak(speechRequest(), upstream);
    assert.deepEqual([Buffer.concat(await Array.fromAsync(pieces)).toString(), rest], ['sound', {}]);
  }));

testLeavingReader({ withEmulator, speak: (upstream) => speech.speak(speechRequest(), upstream) });
