import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { toneAs } from '../../../../test/support/media-samples.ts';
import { plainSound } from '../../../../test/support/plain-requests.ts';
import { ApiError } from '../../../errors.ts';
import type { SoundRequest } from '../../../schemas/index.ts';
import { speechOver } from '../../formats/gemini-media/speech.ts';
import { wire } from '../../formats/generate-content/wire.ts';
import { inMemoryMedia, type Media, UpstreamPools } from '../../index.ts';
import { isFault, KEY, MARKER, upstreamAt } from '../emulator/calls.ts';
import { inline } from '../emulator/media.ts';
import { GeminiEmulator } from '../emulator.ts';

type Request = SoundRequest<Media>;

const OLD = 'gemini-3.1-flash-tts-preview';
const NEW = 'gemini-3.8-flash-tts';
const wave = await toneAs('wav', { seconds: 0.5, sampleRate: 24_000 });
const samples = wave.subarray(44);
const speech = speechOver(wire);
const pools = new UpstreamPools();
let emulator: GeminiEmulator;

beforeEach(async () => {
  emulator = new GeminiEmulator({ apiKey: KEY, marker: MARKER, samples: { samples, wave } });
  await emulator.start();
});
afterEach(() => emulator.stop());
after(() => pools.close());

async function say(fields: Partial<Request> = {}, model = NEW) {
  const request = plainSound({ input: 'Good day.', ...fields });
  speech.check(request, model);
  const { pieces, ...rest } = await speech.speak(request, upstreamAt(emulator, pools, { model }));
  return { sound: Buffer.concat(await Array.fromAsync(pieces)), ...rest };
}

const lastBody = () => JSON.parse(emulator.requests.at(-1)?.bytes.toString() ?? '');

test('R-374 R-378: a text is said by the usual voice, in a format that is named', async () => {
  assert.deepEqual(await say(), { sound: wave });
  assert.equal(emulator.requests[0]?.path, `/v1beta/models/${NEW}:generateContent`);
  assert.deepEqual(lastBody(), {
    contents: [{ role: 'user', parts: [{ text: 'Good day.' }] }],
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      responseFormat: { audio: { mimeType: 'AUDIO_WAV' } },
    },
  });
});

test('R-378: voice, language and the way to speak are sent as the model wants them', async () => {
  await say({ voice: 'Puck', language: 'de-CH', prompt: 'Cheerfully' });
  const { contents, generationConfig } = lastBody();
  assert.deepEqual(contents[0].parts, [{ text: 'Good day.', speechMetadata: { style: 'Cheerfully' } }]);
  const voiceConfig = { prebuiltVoiceConfig: { voiceName: 'Puck' } };
  assert.deepEqual(generationConfig.speechConfig, { voiceConfig, languageCode: 'de-CH' });
  await say({ prompt: 'Say cheerfully' }, OLD);
  assert.deepEqual(lastBody().contents[0].parts, [{ text: 'Say cheerfully: Good day.' }]);
  assert.equal(lastBody().generationConfig.responseFormat, undefined);
});

describe('R-379: the two formats', () => {
  for (const model of [OLD, NEW]) {
    test(`of ${model} are samples that say their rate, and the same with a header`, async () => {
      assert.deepEqual(await say({ format: 'pcm' }, model), {
        sound: samples,
        samples: { rate: 24_000, channels: 1 },
      });
      assert.deepEqual(await say({ format: 'wav', sampleRate: 24_000 }, model), { sound: wave });
      assert.deepEqual(await say({}, model), { sound: wave });
    });
  }

  test('have the rate that the vendor names', async () => {
    emulator.script({ kind: 'answer', parts: [inline('audio/L16;codec=pcm;rate=16000', samples)] });
    assert.deepEqual((await say({ format: 'pcm' })).samples, { rate: 16_000, channels: 1 });
  });

  test('are not exchanged: a file in place of samples is garbled', async () => {
    emulator.script({ kind: 'answer', parts: [inline('audio/wav', wave)] });
    await assert.rejects(say({ format: 'pcm' }), isFault('garbled'));
  });
});

describe('what no model takes is refused before anything is sent', () => {
  const sample = inMemoryMedia(wave, 'audio/wav');
  const REFUSED: readonly (readonly [fields: Partial<Request>, field: string, why: string])[] = [
    [{ input: undefined, prompt: 'x' }, 'input', 'takes at least 1 character'],
    [{ format: 'mp3' }, 'response_format', 'takes wav, pcm'],
    [{ format: 'opus' }, 'response_format', 'takes wav, pcm'],
    [{ sampleRate: 44_100 }, 'sample_rate', 'takes 24000'],
    [{ bitrate: 128 }, 'bitrate', 'takes none'],
    [{ lyrics: 'la' }, 'lyrics', 'takes none'],
    [{ referenceId: 'v' }, 'reference_id', 'takes none'],
    [{ voiceDescription: 'old' }, 'voice_description', 'takes none'],
    [{ speed: 1.2 }, 'speed', 'takes none'],
    [{ volume: 2 }, 'volume', 'takes none'],
    [{ loudness: 1 }, 'loudness', 'takes none'],
    [{ guidanceScale: 1 }, 'guidance_scale', 'takes none'],
    [{ promptInfluence: 1 }, 'prompt_influence', 'takes none'],
    [{ durationSeconds: 3 }, 'duration_seconds', 'takes none'],
    [{ seed: 3 }, 'seed', 'takes none'],
    [{ instrumental: true }, 'instrumental', 'takes none'],
    [{ loop: true }, 'loop', 'takes none'],
    [{ autoGenerateText: true }, 'auto_generate_text', 'takes none'],
    [{ referenceAudio: [sample] }, 'reference_audio', 'takes none'],
    [{ extra: { generationConfig: {} } }, 'generationConfig', 'takes none'],
  ];
  for (const [fields, field, why] of REFUSED) {
    test(`${field}: ${JSON.stringify(fields).slice(0, 60)}`, () => {
      assert.throws(
        () => speech.check(plainSound({ input: 'Good day.', ...fields }), NEW),
        (error) =>
          error instanceof ApiError &&
          error.code === 'unsupported_parameter' &&
          error.param === field &&
          error.message.startsWith(`"${field}": this model ${why}`),
      );
    });
  }
});

test('a voice that the vendor does not have is the caller’s fault', async () => {
  await assert.rejects(say({ voice: 'Caruso' }, OLD), isFault('client'));
});

test('speech that the vendor’s rules stop is a matter of policy; speech that it cuts short is for another', async () => {
  const parts = [inline('audio/wav', wave)];
  emulator.script(
    { kind: 'policy' },
    { kind: 'answer', parts, finishReason: 'PROHIBITED_CONTENT' },
    { kind: 'answer', parts, finishReason: 'MAX_TOKENS' },
    { kind: 'answer', parts: [], finishReason: 'OTHER' },
  );
  for (const fault of ['policy', 'policy', 'unfit', 'server'] as const) await assert.rejects(say(), isFault(fault));
});
