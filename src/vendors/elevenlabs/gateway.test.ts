import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainSound } from '../../../test/support/plain-requests.ts';
import { ApiError } from '../../errors.ts';
import { type JsonObject, parseJson } from '../../json.ts';
import { soundSchema, toSoundRequest } from '../../schemas/index.ts';
import { inMemoryMedia } from '../index.ts';
import { KEY, MARKER, speech, spoken, synthesize, VOICE, withEmulator } from './emulator/calls.ts';
import { soundOf } from './emulator/sounds.ts';

type Sound = Parameters<typeof speech.speak>[0];

const SPEECH = 'eleven_flash_v2_5';
const EFFECTS = 'eleven_text_to_sound_v2';
const DESIGN = 'eleven_multilingual_ttv_v2';
const DESCRIPTION = 'A sassy squeaky mouse';

function refused(field: string, why = '') {
  return (error: unknown) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.code, 'unsupported_parameter');
    assert.ok(error.message.startsWith(`"${field}": this model ${why}`), error.message);
    assert.equal(error.param, field);
    return true;
  };
}

describe('speech', () => {
  test('R-374 R-378 R-380 R-384: text, voice, language, speed and seed are sent as the vendor names them', () =>
    withEmulator({}, async (emulator, upstream) => {
      const sound = await synthesize(spoken({ language: 'en', speed: 1.1, seed: 7, output: 'url', n: 2 }), upstream);
      assert.deepEqual(sound, await soundOf('mp3_44100_128', 0.5));
      const [{ path, method, headers, bytes } = assert.fail()] = emulator.requests;
      assert.equal(`${method} ${path}`, `POST /v1/text-to-speech/${VOICE}/stream?output_format=mp3_44100_128`);
      assert.deepEqual([headers['xi-api-key'], headers['content-type']], [KEY, 'application/json']);
      assert.deepEqual(JSON.parse(bytes.toString()), {
        model_id: SPEECH,
        text: 'Hello there.',
        language_code: 'en',
        voice_settings: { speed: 1.1 },
        seed: 7,
      });
    }));

  test('R-378: a voice may be given as reference_id, and no voice leads to another route', () =>
    withEmulator({ voices: ['a/b?c#d', VOICE] }, async (emulator, upstream) => {
      await synthesize(spoken({ voice: undefined, referenceId: 'a/b?c#d' }), upstream);
      await synthesize(spoken({ referenceId: VOICE }), upstream);
      assert.deepEqual(
        emulator.submissions.map(({ voice }) => voice),
        ['a/b?c#d', VOICE],
      );
      speech.check(spoken({ voice: '\ud800' }), SPEECH);
      for (const voice of ['.', '..']) assert.throws(() => speech.check(spoken({ voice }), SPEECH), refused('voice'));
    }));

  test('R-387: what is not modelled goes on as it was written, in the body or the query', () =>
    withEmulator({}, async (emulator, upstream) => {
      const text = `{"model":"m","input":"Hi","voice":"${VOICE}","speed":0.9,"optimize_streaming_latency":3,
        "enable_logging":false,"previous_text":"a","language_code":"en","voice_settings":{"stability":0.50},
        "audio_effects":{"pan":9007199254740993.10}}`;
      const { value, exact } = parseJson(text);
      const { referenceAudio: _none, ...request } = toSoundRequest(soundSchema.parse(value), exact() as JsonObject);
      await synthesize({ ...request, referenceAudio: [] }, upstream);
      const [{ path, bytes } = assert.fail()] = emulator.requests;
      assert.equal(
        new URL(path, upstream.address).search,
        '?output_format=mp3_44100_128&enable_logging=false&optimize_streaming_latency=3',
      );
      const sent = bytes.toString();
      assert.match(sent, /"voice_settings":\{"stability":0\.50,"speed":0\.9\}/);
      assert.match(sent, /"audio_effects":\{"pan":9007199254740993\.10\}/);
      assert.match(sent, /"previous_text":"a","language_code":"en"/);
      assert.doesNotMatch(sent, /latency|logging/);
    }));

  test('R-387: a key of the vendor’s own never takes the place of what was asked for', () =>
    withEmulator({}, async (emulator, upstream) => {
      await synthesize(
        spoken({ seed: 1, extra: { model_id: 'eleven_v3', text: 'Bye', voice_settings: null } }),
        upstream,
      );
      assert.deepEqual(emulator.submissions[0]?.fields, {
        model_id: SPEECH,
        text: 'Hello there.',
        voice_settings: null,
        seed: 1,
      });
    }));

  test('pieces come as the vendor sends them, and whoever stops reading lets it go', () =>
    withEmulator({}, async (emulator, upstream) => {
      const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
      async function* body() {
        yield Buffer.from('one');
        await gates[0].promise;
        yield Buffer.from('two');
        await gates[1].promise;
      }
      emulator.script({ kind: 'instead', status: 200, headers: { 'content-type': 'audio/mpeg' }, body: body() });
      const { pieces, ...rest } = await speech.speak(spoken(), upstream);
      const reading = pieces[Symbol.asyncIterator]();
      assert.deepEqual(await reading.next(), { value: Buffer.from('one'), done: false });
      gates[0].resolve();
      assert.deepEqual(await reading.next(), { value: Buffer.from('two'), done: false });
      await reading.return?.();
      assert.equal(await emulator.requests[0]?.isAbandoned, true);
      gates[1].resolve();
      assert.deepEqual(rest, {}, 'credits are no characters');
    }));

  test('whoever stops before the first piece lets the vendor go too', () =>
    withEmulator({}, async (emulator, upstream) => {
      const gate = Promise.withResolvers<void>();
      async function* body() {
        yield Buffer.from('one');
        await gate.promise;
      }
      emulator.script({ kind: 'instead', status: 200, headers: { 'content-type': 'audio/mpeg' }, body: body() });
      const { pieces } = await speech.speak(spoken(), upstream);
      await pieces[Symbol.asyncIterator]().return?.();
      assert.equal(await emulator.requests[0]?.isAbandoned, true);
      gate.resolve();
    }));
});

describe('R-379 R-381: format, sample rate and bitrate are one name', () => {
  const FORMATS: readonly [asked: Partial<Sound>, name: string][] = [
    [{}, 'mp3_44100_128'],
    [{ bitrate: 192 }, 'mp3_44100_192'],
    [{ bitrate: 32 }, 'mp3_44100_32'],
    [{ bitrate: 64_000 }, 'mp3_44100_64'],
    [{ bitrate: 48 }, 'mp3_24000_48'],
    [{ format: 'mp3', sampleRate: 22_050 }, 'mp3_22050_32'],
    [{ format: 'mp3', sampleRate: 24_000 }, 'mp3_24000_48'],
    [{ format: 'mp3', sampleRate: 44_100, bitrate: 96 }, 'mp3_44100_96'],
    [{ format: 'opus' }, 'opus_48000_128'],
    [{ format: 'opus', sampleRate: 48_000, bitrate: 32_000 }, 'opus_48000_32'],
    [{ format: 'pcm' }, 'pcm_24000'],
    [{ format: 'pcm', sampleRate: 8_000 }, 'pcm_8000'],
    [{ format: 'pcm', sampleRate: 48_000 }, 'pcm_48000'],
    [{ format: 'wav' }, 'wav_24000'],
    [{ format: 'wav', sampleRate: 44_100 }, 'wav_44100'],
  ];
  for (const [asked, name] of FORMATS) {
    test(`${JSON.stringify(asked)} is ${name}`, () =>
      withEmulator({}, async (emulator, upstream) => {
        assert.deepEqual(await synthesize(spoken(asked), upstream), await soundOf(name, 0.5));
        assert.equal(emulator.submissions[0]?.query.output_format, name);
        // Only what is not streamed has a header with its length.
        assert.equal(emulator.submissions[0]?.route, asked.format === 'wav' ? 'speech' : 'speech stream');
      }));
  }

  test('bare samples say what they are', () =>
    withEmulator({}, async (_emulator, upstream) => {
      const speak = (asked: Partial<Sound>) => speech.speak(spoken(asked), upstream);
      assert.deepEqual((await speak({ format: 'pcm' })).samples, { rate: 24_000, channels: 1 });
      assert.deepEqual((await speak({ format: 'pcm', sampleRate: 16_000 })).samples, { rate: 16_000, channels: 1 });
      assert.equal((await speak({ format: 'wav' })).samples, undefined);
    }));

  const REFUSED: readonly [asked: Partial<Sound>, field: string, why: string][] = [
    [{ format: 'flac' }, 'response_format', 'takes mp3, wav, pcm, opus'],
    [{ format: 'aac' }, 'response_format', 'takes mp3'],
    [{ format: 'ogg' }, 'response_format', 'takes mp3'],
    [{ sampleRate: 16_000 }, 'sample_rate', 'takes 22050, 24000, 44100.'],
    [{ bitrate: 129 }, 'bitrate', 'takes 32, 48, 64, 96, 128, 192.'],
    [{ sampleRate: 22_050, bitrate: 64 }, 'bitrate', 'takes 32.'],
    [{ format: 'opus', sampleRate: 24_000 }, 'sample_rate', 'takes 48000.'],
    [{ format: 'pcm', sampleRate: 11_025 }, 'sample_rate', 'takes 8000, 16000'],
    [{ format: 'pcm', bitrate: 384 }, 'bitrate', 'takes none'],
    [{ extra: { output_format: 'ulaw_8000' } }, 'output_format', 'takes none'],
  ];
  for (const [asked, field, why] of REFUSED) {
    test(`${JSON.stringify(asked)} is refused`, () => {
      assert.throws(() => speech.check(spoken(asked), SPEECH), refused(field, why));
    });
  }
  test('an effect is never WAV, and a preview neither WAV nor bare samples', () => {
    assert.throws(
      () => speech.check(plainSound({ prompt: 'Rain', format: 'wav' }), EFFECTS),
      refused('response_format', 'takes mp3, pcm, opus'),
    );
    for (const format of ['wav', 'pcm'] as const) {
      const request = plainSound({ voiceDescription: DESCRIPTION, format });
      assert.throws(() => speech.check(request, DESIGN), refused('response_format', 'takes mp3, opus'));
    }
  });
});

describe('what a model cannot take is refused before anything is sent', () => {
  const sample = inMemoryMedia(Buffer.from('x'), 'audio/wav');
  const CASES: readonly [model: string, asked: Sound, field: string][] = [
    [SPEECH, spoken({ input: undefined }), 'input'],
    [SPEECH, spoken({ voice: undefined }), 'voice'],
    [SPEECH, spoken({ referenceId: 'other' }), 'voice'],
    [SPEECH, spoken({ prompt: 'x' }), 'prompt'],
    [SPEECH, spoken({ lyrics: 'x' }), 'lyrics'],
    [SPEECH, spoken({ voiceDescription: 'x' }), 'voice_description'],
    [SPEECH, spoken({ volume: 1 }), 'volume'],
    [SPEECH, spoken({ loudness: 0 }), 'loudness'],
    [SPEECH, spoken({ guidanceScale: 0 }), 'guidance_scale'],
    [SPEECH, spoken({ promptInfluence: 0 }), 'prompt_influence'],
    [SPEECH, spoken({ durationSeconds: 1 }), 'duration_seconds'],
    [SPEECH, spoken({ instrumental: true }), 'instrumental'],
    [SPEECH, spoken({ loop: true }), 'loop'],
    [SPEECH, spoken({ autoGenerateText: true }), 'auto_generate_text'],
    [SPEECH, spoken({ referenceAudio: [sample] }), 'reference_audio'],
    [SPEECH, spoken({ seed: -1 }), 'seed'],
    [SPEECH, spoken({ seed: 4_294_967_296 }), 'seed'],
    ['eleven_multilingual_v2', spoken({ language: 'en' }), 'language'],
    [EFFECTS, plainSound({ lyrics: 'x' }), 'lyrics'],
    [EFFECTS, plainSound({ voiceDescription: 'x' }), 'voice_description'],
    [EFFECTS, plainSound({ prompt: 'x', input: 'y' }), 'input'],
    [EFFECTS, plainSound({ prompt: 'x', voice: VOICE }), 'voice'],
    [EFFECTS, plainSound({ prompt: 'x', seed: 1 }), 'seed'],
    [EFFECTS, plainSound({ prompt: 'x', durationSeconds: 0.49 }), 'duration_seconds'],
    [EFFECTS, plainSound({ prompt: 'x', durationSeconds: 30.1 }), 'duration_seconds'],
    [EFFECTS, plainSound({ prompt: 'x', promptInfluence: -0.1 }), 'prompt_influence'],
    [EFFECTS, plainSound({ prompt: 'x', promptInfluence: 1.1 }), 'prompt_influence'],
    ['eleven_text_to_sound_v1', plainSound({ prompt: 'x', loop: true }), 'loop'],
    [DESIGN, plainSound({ input: 'a'.repeat(100) }), 'voice_description'],
    [DESIGN, plainSound({ voiceDescription: 'x', voice: VOICE }), 'voice'],
    [DESIGN, plainSound({ voiceDescription: 'x', referenceId: VOICE }), 'reference_id'],
    [DESIGN, plainSound({ voiceDescription: 'x', input: 'a'.repeat(99) }), 'input'],
    [DESIGN, plainSound({ voiceDescription: 'x', input: 'a'.repeat(1001) }), 'input'],
    [DESIGN, plainSound({ voiceDescription: 'x', autoGenerateText: false }), 'input'],
    [DESIGN, plainSound({ voiceDescription: 'x', loudness: 1.1 }), 'loudness'],
    [DESIGN, plainSound({ voiceDescription: 'x', extra: { stream_previews: true } }), 'stream_previews'],
  ];
  for (const [at, [model, asked, field]] of CASES.entries()) {
    test(`${model}: ${field} (${at + 1})`, () => {
      assert.throws(() => speech.check(asked, model), refused(field));
    });
  }

  test('what is switched off is no wish', () => {
    speech.check(spoken({ instrumental: false, loop: false, autoGenerateText: false }), SPEECH);
    speech.check(spoken({ extra: { output_format: null } }), SPEECH);
  });

  const LENGTHS: readonly [model: string, charactersMax: number][] = [
    ['eleven_flash_v2_5', 40_000],
    ['eleven_turbo_v2_5', 40_000],
    ['eleven_flash_v2', 30_000],
    ['eleven_turbo_v2', 30_000],
    ['eleven_multilingual_v2', 10_000],
    ['eleven_monolingual_v1', 10_000],
    ['eleven_v3', 5_000],
  ];
  for (const [model, charactersMax] of LENGTHS) {
    test(`${model} speaks ${charactersMax} characters, and no more`, () =>
      withEmulator({}, async (emulator, upstream) => {
        await synthesize(spoken({ input: '😀'.repeat(charactersMax) }), { ...upstream, model });
        const request = spoken({ input: 'a'.repeat(charactersMax + 1) });
        assert.throws(
          () => speech.check(request, model),
          refused('input', `takes at most ${charactersMax} characters`),
        );
        await assert.rejects(speech.speak(request, { ...upstream, model }), ApiError);
        assert.equal(emulator.requests.length, 1);
      }));
  }

  test('a model that is not known speaks whatever it is given', () => {
    speech.check(spoken({ input: 'a'.repeat(40_001), language: 'en' }), 'eleven_of_tomorrow');
  });
});

describe('sound effects', () => {
  test('R-378 R-380 R-384: a prompt, how long, how close to it and whether it loops', () =>
    withEmulator({}, async (emulator, upstream) => {
      const model = EFFECTS;
      const asked = {
        durationSeconds: 1.5,
        promptInfluence: 0.3,
        loop: true,
        format: 'pcm',
        sampleRate: 16_000,
      } as const;
      const sound = await synthesize(plainSound({ prompt: 'Rain', ...asked }), { ...upstream, model });
      assert.equal(sound.length, 1.5 * 16_000 * 2);
      const [{ path, bytes } = assert.fail()] = emulator.requests;
      assert.equal(path, '/v1/sound-generation?output_format=pcm_16000');
      const fields = { text: 'Rain', duration_seconds: 1.5, prompt_influence: 0.3, loop: true };
      assert.deepEqual(JSON.parse(bytes.toString()), { model_id: EFFECTS, ...fields });
    }));

  test('a text without a prompt is the prompt, and a model named after the route is the vendor’s choice', () =>
    withEmulator({}, async (emulator, upstream) => {
      await synthesize(plainSound({ input: 'Rain' }), { ...upstream, model: 'sound-generation' });
      assert.deepEqual(emulator.submissions[0]?.fields, { text: 'Rain' });
    }));

  test('what is at its bound is taken', () =>
    withEmulator({}, async (emulator, upstream) => {
      for (const [durationSeconds, promptInfluence] of [
        [0.5, 0],
        [30, 1],
      ] as const) {
        const request = plainSound({
          prompt: 'x',
          durationSeconds,
          promptInfluence,
          format: 'pcm',
          sampleRate: 8000,
        });
        await synthesize(request, { ...upstream, model: EFFECTS });
      }
      assert.equal(emulator.submissions.length, 2);
    }));
});

describe('voice design', () => {
  const text = 'a'.repeat(100);

  test('R-380 R-384 R-393: a description brings previews, each with a voice that can be named', () =>
    withEmulator({}, async (emulator, upstream) => {
      const asked = { input: text, loudness: -1, guidanceScale: 5, seed: 3, autoGenerateText: false };
      const request = plainSound({ voiceDescription: DESCRIPTION, ...asked, extra: { should_enhance: true } });
      speech.check(request, DESIGN);
      const previews = await speech.design?.(request, { ...upstream, model: DESIGN });
      const audio = await soundOf('mp3_44100_128', 0.5);
      const voices = [1, 2, 3].map((at) => ({ voiceId: `voice_${MARKER}_${at}`, name: undefined, audio }));
      assert.deepEqual(
        previews,
        voices.map((voice) => ({ ...voice, description: DESCRIPTION })),
      );
      const [{ path, bytes } = assert.fail()] = emulator.requests;
      assert.equal(path, '/v1/text-to-voice/design?output_format=mp3_44100_128');
      assert.deepEqual(JSON.parse(bytes.toString()), {
        should_enhance: true,
        model_id: DESIGN,
        voice_description: DESCRIPTION,
        text,
        auto_generate_text: false,
        loudness: -1,
        guidance_scale: 5,
        seed: 3,
      });
    }));

  test('a voice that is given nothing to say thinks of something', () =>
    withEmulator({}, async (emulator, upstream) => {
      const request = plainSound({ voiceDescription: DESCRIPTION });
      await speech.design?.(request, { ...upstream, model: 'text-to-voice' });
      const fields = { voice_description: DESCRIPTION, auto_generate_text: true };
      assert.deepEqual(emulator.submissions[0]?.fields, fields);
    }));

  test('a text of a thousand characters, and any loudness within its bounds, is taken', () => {
    const request = { voiceDescription: DESCRIPTION, input: 'a'.repeat(1000) };
    for (const loudness of [-1, 1]) speech.check(plainSound({ ...request, loudness }), DESIGN);
  });
});
