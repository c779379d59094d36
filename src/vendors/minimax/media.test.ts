import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toneAs } from '../../../test/support/media-samples.ts';
import { plainImage, plainSound, plainTranscription } from '../../../test/support/plain-requests.ts';
import type { ImageRequest, SoundRequest, TranscriptionRequest } from '../../schemas/index.ts';
import { json } from '../emulator/json.ts';
import { type AudioFile, inMemoryMedia, type Media, type Upstream } from '../index.ts';
import { isFault, isRefused, ORDER, SOUND, withEmulator } from './emulator/calls.ts';
import { image } from './image.ts';
import { music } from './music.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';
import { work as minimax } from './work.ts';

type Picture = Partial<ImageRequest<Media>>;
type Sound = Partial<SoundRequest<Media>>;

const picture = inMemoryMedia(Buffer.from('picture'), 'image/png');
const PICTURE = `data:image/png;base64,${Buffer.from('picture').toString('base64')}`;
const tune = inMemoryMedia(Buffer.from('tune'), 'audio/mpeg', 'https://example.com/tune.mp3');
const wave = await toneAs('wav', { seconds: 0.5 });
const AUDIO: AudioFile = { ...inMemoryMedia(wave, 'audio/wav'), extension: 'wav', seconds: 0.5 };

describe('pictures', () => {
  const draw = (upstream: Upstream, fields: Picture = {}) => {
    const request = plainImage(fields);
    image.check(request, upstream.model);
    return image.submit(request, { ...ORDER, count: image.perCall(request, upstream.model) }, upstream);
  };
  const SENT: readonly (readonly [fields: Picture, body: object])[] = [
    [{}, {}],
    [{ resolution: '1K', aspectRatio: '16:9' }, { aspect_ratio: '16:9' }],
    [
      { size: '1280x720', seed: 7 },
      { width: 1280, height: 720, seed: 7 },
    ],
    [{ size: 'auto', aspectRatio: 'auto', watermark: true }, { aigc_watermark: true }],
    [{ referenceImages: [picture] }, { subject_reference: [{ type: 'character', image_file: PICTURE }] }],
    [{ extra: { prompt_optimizer: true } }, { prompt_optimizer: true }],
  ];
  for (const [fields, body] of SENT) {
    test(JSON.stringify(fields), () =>
      withEmulator(async ({ emulator, at }) => {
        await draw(at('image-01'), fields);
        const usual = {
          model: 'image-01',
          prompt: 'A toll gate',
          n: 1,
          response_format: 'url',
          prompt_optimizer: false,
        };
        assert.deepEqual(emulator.submissions, [{ ...usual, ...body }]);
      }),
    );
  }

  test('come as many as nine in a call; fewer than were ordered are what came', () =>
    withEmulator(async ({ emulator, at }) => {
      emulator.missingPictures = 2;
      const drawn = await draw(at('image-01'), { n: 10 });
      assert.equal(drawn.state === 'succeeded' && drawn.outputs.length, 7);
      emulator.missingPictures = 1;
      await assert.rejects(draw(at('image-01')), isFault('garbled'));
    }));

  const REFUSED: readonly (readonly [fields: Picture, field: string, why: string])[] = [
    [{ size: '500x512' }, 'size', 'takes sides of 512 to 2048'],
    [{ size: '513x512' }, 'size', 'takes sides that divide by 8'],
    [{ size: '512x512', resolution: '1k' }, 'resolution', 'does not take it together with "size"'],
    [{ size: '512x512', aspectRatio: '1:1' }, 'aspect_ratio', 'does not take it together with "size"'],
    [{ resolution: '2k' }, 'resolution', 'takes 1k'],
    [{ aspectRatio: '5:4' }, 'aspect_ratio', 'takes 1:1'],
    [{ quality: 'high' }, 'quality', 'takes none'],
    [{ style: 'vivid' }, 'style', 'takes none'],
    [{ negativePrompt: 'fog' }, 'negative_prompt', 'takes none'],
    [{ background: 'opaque' }, 'background', 'takes none'],
    [{ outputFormat: 'png' }, 'output_format', 'takes none'],
    [{ mask: picture }, 'mask', 'takes none'],
    [{ referenceImages: [picture, picture] }, 'reference_images', 'takes at most 1'],
    [{ extra: { width: 2048 } }, 'width', 'takes none'],
  ];
  for (const [fields, field, why] of REFUSED) {
    test(`refused: ${field} ${why}`, () => {
      assert.throws(() => image.check(plainImage(fields), 'image-01'), isRefused(field, why));
    });
  }
});

describe('songs', () => {
  const compose = (upstream: Upstream, fields: Sound = {}) => {
    const request = plainSound({ prompt: 'A march', ...fields });
    music.check(request, upstream.model);
    return music.submit(request, ORDER, upstream);
  };
  const mp3 = { audio_setting: { format: 'mp3' } };
  const SENT: readonly (readonly [model: string, fields: Sound, body: object])[] = [
    // Without lyrics a song would not become an instrumental by itself.
    ['music-2.6', {}, { ...mp3, is_instrumental: false, lyrics_optimizer: true }],
    ['music-2.6', { instrumental: true }, { ...mp3, is_instrumental: true, lyrics_optimizer: false }],
    ['music-2.6', { lyrics: 'La' }, { ...mp3, lyrics: 'La', is_instrumental: false, lyrics_optimizer: false }],
    [
      'music-2.0',
      { lyrics: 'La', format: 'wav', sampleRate: 44_100 },
      { lyrics: 'La', audio_setting: { format: 'wav', sample_rate: 44_100 } },
    ],
    [
      'music-cover',
      { referenceAudio: [tune], bitrate: 128 },
      { audio_base64: 'dHVuZQ==', audio_setting: { format: 'mp3', bitrate: 128_000 } },
    ],
  ];
  for (const [model, fields, body] of SENT) {
    test(`${model}: ${JSON.stringify(body)}`, () =>
      withEmulator(async ({ emulator, at }) => {
        const composed = await compose(at(model), fields);
        assert.deepEqual(composed, { state: 'succeeded', outputs: [{ data: SOUND }], usage: { seconds: 0.5 } });
        const usual = { model, prompt: 'A march', stream: false, output_format: 'hex' };
        assert.deepEqual(emulator.submissions, [{ ...usual, ...body }]);
      }));
  }

  const REFUSED: readonly (readonly [model: string, fields: Sound, field: string, why: string])[] = [
    ['music-2.6', { durationSeconds: 30 }, 'duration_seconds', 'takes none'],
    ['music-2.6', { seed: 1 }, 'seed', 'takes none'],
    ['music-2.6', { voice: 'v' }, 'voice', 'takes none'],
    ['music-2.6', { format: 'pcm' }, 'response_format', 'takes mp3, wav'],
    ['music-2.6', { sampleRate: 8000 }, 'sample_rate', 'takes 16000'],
    ['music-2.6', { bitrate: 96 }, 'bitrate', 'takes 32000'],
    ['music-2.6', { format: 'wav', bitrate: 128 }, 'bitrate', 'takes none'],
    ['music-2.6', { lyrics: 'La', instrumental: true }, 'instrumental', 'does not take it together with "lyrics"'],
    ['music-2.6', { autoGenerateText: false }, 'lyrics', 'takes at least 1'],
    ['music-2.6', { input: 'A waltz' }, 'input', 'does not take it together with "prompt"'],
    ['music-2.6', { lyrics: 'x'.repeat(3501) }, 'lyrics', 'takes at most 3500'],
    ['music-2.6', { referenceAudio: [tune] }, 'reference_audio', 'takes none'],
    ['music-2.0', {}, 'lyrics', 'takes at least 1'],
    ['music-2.0', { lyrics: 'La', instrumental: true }, 'instrumental', 'takes none'],
    ['music-cover', {}, 'reference_audio', 'takes at least 1'],
    ['music-2.6', { extra: { output_format: 'url' } }, 'output_format', 'takes none'],
  ];
  for (const [model, fields, field, why] of REFUSED) {
    test(`refused: ${model}: ${field} ${why}`, () => {
      const request = plainSound({ prompt: 'A march', ...fields });
      assert.throws(() => music.check(request, model), isRefused(field, why));
    });
  }

  test('a part of a song is garbled, and so is what is not hexadecimal', () =>
    withEmulator(async ({ emulator, at }) => {
      for (const data of [{ audio: '00', status: 1 }, { audio: '0g', status: 2 }, { audio: '000', status: 2 }, {}]) {
        emulator.script({ kind: 'instead', ...json(200, { data, base_resp: { status_code: 0 } }) });
        await assert.rejects(compose(at('music-2.6')), isFault('garbled', { isUncertain: true }));
      }
    }));
});

describe('speech', () => {
  const speak = async (upstream: Upstream, fields: Sound = {}) => {
    const request = plainSound({ input: 'Hello', voice: 'v', ...fields });
    speech.check(request, upstream.model);
    const { pieces, ...rest } = await speech.speak(request, upstream);
    return { sound: Buffer.concat(await Array.fromAsync(pieces)), ...rest };
  };
  const SENT: readonly (readonly [fields: Sound, body: object, samples?: object])[] = [
    [{}, {}],
    [
      { voice: undefined, referenceId: 'r', speed: 1.5, volume: 3, language: 'de-AT' },
      { voice_setting: { voice_id: 'r', speed: 1.5, vol: 3 }, language_boost: 'German' },
    ],
    [{ language: 'yue' }, { language_boost: 'Chinese,Yue' }],
    [
      { voice: undefined, extra: { timbre_weights: [{ voice_id: 'a', weight: 1 }] } },
      { voice_setting: {}, timbre_weights: [{ voice_id: 'a', weight: 1 }] },
    ],
    [
      { format: 'pcm' },
      { audio_setting: { format: 'pcm', sample_rate: 24_000, channel: 1 } },
      { samples: { rate: 24_000, channels: 1 } },
    ],
    [
      { sampleRate: 32_000, bitrate: 64, extra: { voice_setting: { emotion: 'happy', vol: 2 } } },
      {
        voice_setting: { emotion: 'happy', vol: 2, voice_id: 'v' },
        audio_setting: { format: 'mp3', sample_rate: 32_000, bitrate: 64_000, channel: 1 },
      },
    ],
  ];
  for (const [fields, body, samples = {}] of SENT) {
    test(JSON.stringify(fields), () =>
      withEmulator(async ({ emulator, at }) => {
        assert.deepEqual(await speak(at('speech-2.8-hd'), fields), { sound: SOUND, characters: 5, ...samples });
        const usual = {
          ...{ model: 'speech-2.8-hd', text: 'Hello', stream: false, output_format: 'hex' },
          voice_setting: { voice_id: 'v' },
          audio_setting: { format: 'mp3', channel: 1 },
        };
        assert.deepEqual(emulator.submissions, [{ ...usual, ...body }]);
      }),
    );
  }

  const REFUSED: readonly (readonly [fields: Sound, field: string, why: string])[] = [
    [{ input: undefined }, 'input', 'takes at least 1 character'],
    [{ input: 'x'.repeat(10_001) }, 'input', 'takes at most 10000'],
    [{ voice: undefined }, 'voice', 'takes at least 1'],
    [{ referenceId: 'other' }, 'voice', 'does not take it together with "reference_id"'],
    [{ speed: 3 }, 'speed', 'takes 0.5 to 2'],
    [{ volume: 0 }, 'volume', 'does not take this value'],
    [{ language: 'xx' }, 'language', 'does not take this value'],
    [{ format: 'opus' }, 'response_format', 'takes mp3, wav, pcm, flac'],
    [{ sampleRate: 48_000 }, 'sample_rate', 'takes 8000'],
    [{ seed: 1 }, 'seed', 'takes none'],
    [{ prompt: 'sadly' }, 'prompt', 'takes none'],
    [{ referenceAudio: [tune] }, 'reference_audio', 'takes none'],
    [{ extra: { stream: true } }, 'stream', 'takes none'],
    [{ extra: { audio_setting: { channel: 2 } } }, 'audio_setting', 'takes none'],
  ];
  for (const [fields, field, why] of REFUSED) {
    test(`refused: ${field} ${why}`, () => {
      const request = plainSound({ input: 'Hello', voice: 'v', ...fields });
      assert.throws(() => speech.check(request, 'speech-2.8-hd'), isRefused(field, why));
    });
  }

  test('a voice that does not exist yet has one preview', () =>
    withEmulator(async ({ emulator, at }) => {
      const request = plainSound({ voiceDescription: 'An old voice', input: 'Hello' });
      speech.check(request, 'voice-design');
      const previews = await speech.design?.(request, at('voice-design'));
      const rest = { name: undefined, description: 'An old voice', audio: SOUND };
      assert.deepEqual(previews, [{ voiceId: 'ttv-voice-1', ...rest }]);
      assert.deepEqual(emulator.submissions, [{ prompt: 'An old voice', preview_text: 'Hello' }]);
      const mute = plainSound({ voiceDescription: 'An old voice' });
      assert.throws(() => speech.check(mute, 'voice-design'), isRefused('input', 'takes at least 1'));
    }));
});

describe('transcripts', () => {
  const listen = (upstream: Upstream, fields: Partial<TranscriptionRequest> = {}) => {
    const request = plainTranscription(fields);
    transcription.check(request, upstream.model);
    return transcription.submit(request, AUDIO, upstream);
  };

  test('the language is a header, and sentences have times where they are wanted', () =>
    withEmulator(async ({ emulator, at }) => {
      const segments = [{ start: 0, end: 0.5, text: 'A toll gate.' }];
      const brief = { text: 'A toll gate.', seconds: 0.5, segments: undefined };
      assert.deepEqual(await listen(at('speech-to-text')), { state: 'transcribed', transcript: brief });
      const long = await listen(at('speech-to-text'), { language: 'de-AT', responseFormat: 'verbose_json' });
      assert.deepEqual(long, { state: 'transcribed', transcript: { ...brief, segments } });
      assert.deepEqual(
        emulator.requests.map(({ headers }) => headers.language),
        [undefined, 'de'],
      );
    }));

  const REFUSED: readonly (readonly [fields: Partial<TranscriptionRequest>, field: string])[] = [
    [{ prompt: 'names' }, 'prompt'],
    [{ temperature: 0 }, 'temperature'],
    [{ granularities: ['word'] }, 'timestamp_granularities'],
    [{ language: 'no language\r\nx: y' }, 'language'],
    [{ extra: { file: 'x' } }, 'file'],
  ];
  for (const [fields, field] of REFUSED) {
    test(`refused: ${field}`, () => {
      assert.throws(() => transcription.check(plainTranscription(fields), 'm'), isRefused(field));
    });
  }

  test('no money is the account’s fault here too', () =>
    withEmulator(async ({ emulator, at }) => {
      emulator.isBroke = true;
      await assert.rejects(listen(at('speech-to-text')), isFault('account', { isUncertain: false }));
    }));
});

test('a key is proved by a list of voices', () =>
  withEmulator(async ({ emulator, at }) => {
    await minimax.check?.run(at('m'));
    assert.equal(emulator.requests[0]?.path, '/v1/get_voice');
    await assert.rejects(minimax.check?.run({ ...at('m'), apiKey: 'other' }) ?? Promise.resolve(), isFault('account'));
  }));
