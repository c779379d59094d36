import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toneAs } from '../../../test/support/media-samples.ts';
import { plainImage, plainSound, plainTranscription } from '../../../test/support/plain-requests.ts';
import type { ImageRequest, SoundRequest, TranscriptionRequest } from '../../schemas/index.ts';
import { json } from '../emulator/json.ts';
import { type AudioFile, inMemoryMedia, type Media, type Upstream } from '../index.ts';
import { isFault, isRefused, ORDER, SOUND, withEmulator } from './emulator/calls.ts';
import { image } from './image.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';
import { work as xai } from './work.ts';

type Picture = Partial<ImageRequest<Media>>;
type Sound = Partial<SoundRequest<Media>>;

const PLAIN = 'grok-imagine-image';
const GRADED = 'grok-imagine-image-2.0';
const picture = inMemoryMedia(Buffer.from('picture'), 'image/png');
const SOURCE = { url: `data:image/png;base64,${Buffer.from('picture').toString('base64')}`, type: 'image_url' };
const wave = await toneAs('wav', { seconds: 0.5 });
const AUDIO: AudioFile = { ...inMemoryMedia(wave, 'audio/wav'), extension: 'wav', seconds: 0.5 };

describe('pictures', () => {
  const draw = (upstream: Upstream, fields: Picture = {}) => {
    const request = plainImage(fields);
    image.check(request, upstream.model);
    return image.submit(request, { ...ORDER, count: image.perCall(request, upstream.model) }, upstream);
  };
  const SENT: readonly (readonly [model: string, fields: Picture, body: object, path?: string])[] = [
    [PLAIN, {}, {}],
    [PLAIN, { resolution: '2K', aspectRatio: '19.5:9', size: 'auto' }, { resolution: '2k', aspect_ratio: '19.5:9' }],
    [PLAIN, { outputFormat: 'png', n: 5 }, { output_format: 'png', n: 3 }],
    [GRADED, { quality: 'hd' }, { quality: 'high' }],
    [GRADED, { quality: 'auto' }, {}],
    [PLAIN, { referenceImages: [picture] }, { image: SOURCE }, '/v1/images/edits'],
    [PLAIN, { referenceImages: [picture, picture] }, { images: [SOURCE, SOURCE] }, '/v1/images/edits'],
  ];
  for (const [model, fields, body, path = '/v1/images/generations'] of SENT) {
    test(`${model}: ${JSON.stringify(body).slice(0, 60)}`, () =>
      withEmulator(async ({ emulator, at }) => {
        const drawn = await draw(at(model), fields);
        const usual = { model, prompt: 'A toll gate', n: 1, response_format: 'b64_json' };
        assert.deepEqual(emulator.submissions, [{ ...usual, ...body }]);
        assert.equal(emulator.requests[0]?.path, path);
        assert.ok(drawn.state === 'succeeded');
        assert.deepEqual(drawn.outputs[0], { data: Buffer.from('p') });
        assert.deepEqual(drawn.usage, { credits: 200_000_000 });
      }));
  }

  test('that moderation withholds are none; where all are, it is a matter of policy', () =>
    withEmulator(async ({ emulator, at }) => {
      emulator.withheldPictures = 1;
      const drawn = await draw(at(PLAIN), { n: 3 });
      assert.equal(drawn.state === 'succeeded' && drawn.outputs.length, 2);
      await assert.rejects(draw(at(PLAIN)), isFault('policy', { isUncertain: false }));
      emulator.script({ kind: 'instead', ...json(200, { data: [], block_reason: 'marker' }) });
      await assert.rejects(draw(at(PLAIN)), isFault('policy', { isUncertain: false }));
      emulator.script({ kind: 'instead', ...json(200, { data: [{ b64_json: null }] }) });
      await assert.rejects(draw(at(PLAIN)), isFault('garbled', { isUncertain: true }));
    }));

  const REFUSED: readonly (readonly [model: string, fields: Picture, field: string, why: string])[] = [
    [PLAIN, { size: '1024x1024' }, 'size', 'takes none'],
    [PLAIN, { resolution: '4k' }, 'resolution', 'takes 1k, 2k'],
    [PLAIN, { aspectRatio: '5:4' }, 'aspect_ratio', 'takes auto, 1:1'],
    // It would be taken and ignored.
    [PLAIN, { quality: 'high' }, 'quality', 'takes none'],
    [GRADED, { quality: 'odd' }, 'quality', 'takes low, medium, high'],
    [PLAIN, { style: 'vivid' }, 'style', 'takes none'],
    [PLAIN, { negativePrompt: 'fog' }, 'negative_prompt', 'takes none'],
    [PLAIN, { background: 'opaque' }, 'background', 'takes none'],
    [PLAIN, { seed: 7 }, 'seed', 'takes none'],
    [PLAIN, { watermark: true }, 'watermark', 'takes none'],
    [PLAIN, { mask: picture }, 'mask', 'takes none'],
    [PLAIN, { referenceImages: Array(4).fill(picture) }, 'reference_images', 'takes at most 3'],
    ...['resolution', 'image', 'images', 'response_format', 'storage_options'].map(
      (name) => [PLAIN, { extra: { [name]: 'x' } }, name, 'takes none'] as const,
    ),
  ];
  for (const [model, fields, field, why] of REFUSED) {
    test(`refused: ${model}: ${field} ${why}`, () => {
      assert.throws(() => image.check(plainImage(fields), model), isRefused(field, why));
    });
  }
});

describe('speech', () => {
  const speak = async (upstream: Upstream, fields: Sound = {}) => {
    const request = plainSound({ input: 'Hello', ...fields });
    speech.check(request, upstream.model);
    const { pieces, ...rest } = await speech.speak(request, upstream);
    return { sound: Buffer.concat(await Array.fromAsync(pieces)), ...rest };
  };
  const mp3 = { codec: 'mp3', sample_rate: 24_000 };
  const SENT: readonly (readonly [fields: Sound, body: object, samples?: object])[] = [
    [{}, { voice_id: 'eve', language: 'auto', output_format: mp3 }],
    [
      { voice: 'ara', language: 'pt-BR', speed: 1.2, bitrate: 64, sampleRate: 44_100 },
      {
        ...{ voice_id: 'ara', language: 'pt-BR', speed: 1.2 },
        output_format: { codec: 'mp3', sample_rate: 44_100, bit_rate: 64_000 },
      },
    ],
    [
      { referenceId: 'r', language: 'german' },
      { voice_id: 'r', language: 'de', output_format: mp3 },
    ],
    [
      { format: 'pcm', extra: { text_normalization: true } },
      {
        ...{ text_normalization: true, voice_id: 'eve', language: 'auto' },
        output_format: { codec: 'pcm', sample_rate: 24_000 },
      },
      { samples: { rate: 24_000, channels: 1 } },
    ],
  ];
  for (const [fields, body, samples = {}] of SENT) {
    test(JSON.stringify(fields), () =>
      withEmulator(async ({ emulator, at }) => {
        assert.deepEqual(await speak(at('grok-tts'), fields), { sound: SOUND, ...samples });
        assert.deepEqual(emulator.submissions, [{ text: 'Hello', ...body }]);
      }),
    );
  }

  const REFUSED: readonly (readonly [fields: Sound, field: string, why: string])[] = [
    [{ input: undefined }, 'input', 'takes at least 1 characters'],
    [{ input: 'x'.repeat(15_001) }, 'input', 'takes at most 15000'],
    [{ voice: 'ara', referenceId: 'eve' }, 'voice', 'does not take it together with "reference_id"'],
    [{ language: 'no language' }, 'language', 'does not take this value'],
    [{ format: 'opus' }, 'response_format', 'takes mp3, wav, pcm'],
    [{ sampleRate: 32_000 }, 'sample_rate', 'takes 8000'],
    [{ bitrate: 256 }, 'bitrate', 'takes 32000'],
    [{ format: 'wav', bitrate: 64 }, 'bitrate', 'takes none'],
    [{ volume: 2 }, 'volume', 'takes none'],
    [{ seed: 1 }, 'seed', 'takes none'],
    [{ voiceDescription: 'old' }, 'voice_description', 'takes none'],
    [{ extra: { with_timestamps: true } }, 'with_timestamps', 'takes none'],
    [{ extra: { voice_id: 'ara' } }, 'voice_id', 'takes none'],
  ];
  for (const [fields, field, why] of REFUSED) {
    test(`refused: ${field} ${why}`, () => {
      const request = plainSound({ input: 'Hello', ...fields });
      assert.throws(() => speech.check(request, 'grok-tts'), isRefused(field, why));
    });
  }

  test('an error in place of sound is read as one', () =>
    withEmulator(async ({ emulator, at }) => {
      emulator.script({ kind: 'instead', ...json(200, { error: 'Your team is out of credits' }) });
      await assert.rejects(speak(at('grok-tts')), isFault('account', { isUncertain: false }));
    }));
});

describe('transcripts', () => {
  const listen = (upstream: Upstream, fields: Partial<TranscriptionRequest> = {}) => {
    const request = plainTranscription(fields);
    transcription.check(request, upstream.model);
    return transcription.submit(request, AUDIO, upstream);
  };

  test('words have their times, and sentences are made of them', () =>
    withEmulator(async ({ emulator, at }) => {
      const heard = await listen(at('grok-stt'), { language: 'english', extra: { keyterm: ['toll', 'gate'] } });
      assert.ok(heard.state === 'transcribed');
      const { text, language, seconds, segments, words } = heard.transcript;
      assert.deepEqual([text, language, seconds], ['A toll gate. It opens.', 'en', 0.5]);
      assert.deepEqual(
        segments?.map((segment) => segment.text),
        ['A toll gate.', 'It opens.'],
      );
      assert.deepEqual(words?.[1], { word: 'toll', start: 0.1, end: 0.2 });
      const form = emulator.requests[0]?.bytes.toString('latin1') ?? '';
      assert.match(form, /name="language"\r\n\r\nen\r\n/);
      assert.equal(form.match(/name="keyterm"/g)?.length, 2);
    }));

  const REFUSED: readonly (readonly [fields: Partial<TranscriptionRequest>, field: string])[] = [
    [{ prompt: 'names' }, 'prompt'],
    [{ temperature: 0 }, 'temperature'],
    [{ language: 'no language' }, 'language'],
    [{ extra: { url: 'https://example.com/a.wav' } }, 'url'],
    [{ extra: { multichannel: 'true' } }, 'multichannel'],
  ];
  for (const [fields, field] of REFUSED) {
    test(`refused: ${field}`, () => {
      assert.throws(() => transcription.check(plainTranscription(fields), 'grok-stt'), isRefused(field));
    });
  }

  test('no money is the account’s fault here too', () =>
    withEmulator(async ({ emulator, at }) => {
      emulator.isBroke = true;
      await assert.rejects(listen(at('grok-stt')), isFault('account', { isUncertain: false }));
    }));
});

test('a key is proved by a list of models', () =>
  withEmulator(async ({ emulator, at }) => {
    await xai.check?.run(at('m'));
    assert.equal(emulator.requests[0]?.path, '/v1/models');
    await assert.rejects(xai.check?.run({ ...at('m'), apiKey: 'other' }) ?? Promise.resolve(), isFault('account'));
  }));
