import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainImage, plainSound, plainVideo } from '../../../test/support/plain-requests.ts';
import { ApiError } from '../../errors.ts';
import type { ImageRequest, SoundRequest, VideoRequest } from '../../schemas/index.ts';
import { inMemoryMedia } from '../kit/in-memory-media.ts';
import type { Media } from '../vendor.ts';
import {
  CLIP_URI,
  clip,
  KEY,
  large,
  PICTURE_URI,
  picture,
  SOUND_URI,
  sound,
  submit,
  withEmulator,
} from './emulator/calls.ts';
import { work as runway } from './work.ts';

type Row<Request> = readonly [
  model: string,
  fields: Partial<Request>,
  route: string,
  wire: Readonly<Record<string, unknown>>,
];

const promptText = 'Waves';
const first = { uri: PICTURE_URI, position: 'first' };
const last = { uri: PICTURE_URI, position: 'last' };

const VIDEOS: readonly Row<VideoRequest<Media>>[] = [
  ['gen4.5', {}, 'text_to_video', { ratio: '1280:720', duration: 5 }],
  ['gen4.5', { seconds: 10, size: '720x1280', seed: 7 }, 'text_to_video', { ratio: '720:1280', duration: 10, seed: 7 }],
  [
    'gen4.5',
    { firstFrame: picture, aspectRatio: '21:9', resolution: '720P' },
    'image_to_video',
    { ratio: '1584:672', duration: 5, promptImage: [first] },
  ],
  [
    'gen4_turbo',
    { firstFrame: large, aspectRatio: 'auto', size: 'auto' },
    'image_to_video',
    { ratio: '1280:720', duration: 5, promptImage: [{ uri: large.url, position: 'first' }] },
  ],
  ['veo3.1', { generateAudio: false }, 'text_to_video', { ratio: '1280:720', duration: 8, audio: false }],
  [
    'veo3.1',
    {
      firstFrame: picture,
      lastFrame: picture,
      generateAudio: true,
      negativePrompt: 'fog',
      seconds: 4,
      resolution: '1080p',
      aspectRatio: '9:16',
    },
    'image_to_video',
    { ratio: '1080:1920', duration: 4, audio: true, negativePrompt: 'fog', promptImage: [first, last] },
  ],
  [
    'seedance2',
    { resolution: '480p', aspectRatio: '16:9' },
    'text_to_video',
    { ratio: '864:496', duration: 5, audio: false },
  ],
  ['seedance2', { resolution: '4k' }, 'text_to_video', { ratio: '3840:2160', duration: 5, audio: false }],
  [
    'seedance2',
    {
      inputReference: picture,
      referenceImages: [picture],
      referenceVideos: [clip],
      referenceAudios: [sound],
      generateAudio: true,
    },
    'text_to_video',
    {
      ratio: '1280:720',
      duration: 5,
      audio: true,
      references: [{ uri: PICTURE_URI }, { uri: PICTURE_URI }],
      referenceVideos: [{ type: 'video', uri: CLIP_URI }],
      referenceAudio: [{ type: 'audio', uri: SOUND_URI }],
    },
  ],
  [
    'seedance2',
    { firstFrame: picture, referenceAudios: [sound] },
    'image_to_video',
    {
      ratio: '1280:720',
      duration: 5,
      audio: false,
      promptImage: [first],
      referenceAudio: [{ type: 'audio', uri: SOUND_URI }],
    },
  ],
  [
    'seedance2',
    { sourceVideo: clip, seconds: 15 },
    'video_to_video',
    { ratio: '1280:720', duration: 15, audio: false, promptVideo: CLIP_URI },
  ],
  [
    'hailuo3',
    { aspectRatio: '1:1', resolution: '2K' },
    'text_to_video',
    { ratio: '1:1', resolution: '2k', duration: 6 },
  ],
  ['hailuo3', {}, 'text_to_video', { ratio: '16:9', resolution: '768p', duration: 6 }],
  [
    'hailuo3',
    { firstFrame: picture, aspectRatio: 'auto' },
    'image_to_video',
    { ratio: 'adaptive', resolution: '768p', duration: 6, promptImage: [first] },
  ],
  [
    'hailuo3',
    { sourceVideo: clip, aspectRatio: '9:16', seconds: 4 },
    'video_to_video',
    { ratio: '9:16', resolution: '768p', duration: 4, promptVideo: CLIP_URI },
  ],
  [
    'seedance2_5',
    { sourceVideo: clip, referenceImages: [picture] },
    'video_to_video',
    { mode: 'edit', duration: 'auto', audio: false, promptVideo: CLIP_URI, references: [{ uri: PICTURE_URI }] },
  ],
  [
    'wan3',
    { firstFrame: picture, resolution: '1080p' },
    'image_to_video',
    { ratio: 'auto_1080p', duration: 5, audio: false, promptImage: [first] },
  ],
  ['gemini_omni_flash_1.1', { generateAudio: true, seconds: 3 }, 'text_to_video', { ratio: '1280:720', duration: 3 }],
  [
    'gemini_omni_flash',
    { sourceVideo: clip, inputReference: picture },
    'video_to_video',
    { videoUri: CLIP_URI, references: [{ uri: PICTURE_URI }] },
  ],
  ['gemini_omni_flash_1.1', { sourceVideo: clip }, 'video_to_video', { mode: 'edit', videoUri: CLIP_URI }],
  ['h3_max', {}, 'text_to_video', { resolution: '768p', duration: 5, promptExpansionMode: 'disabled' }],
  [
    'h3_max',
    { extra: { promptExpansionMode: 'quality' } },
    'text_to_video',
    { resolution: '768p', duration: 5, promptExpansionMode: 'quality' },
  ],
  ['aleph2', { sourceVideo: clip, seed: 1 }, 'video_to_video', { videoUri: CLIP_URI, seed: 1 }],
];

const IMAGES: readonly Row<ImageRequest<Media>>[] = [
  ['gen4_image', {}, 'text_to_image', { ratio: '1024:1024' }],
  [
    'gen4_image',
    { resolution: '1080p', aspectRatio: '3:4', seed: 4_294_967_295, referenceImages: [picture, large] },
    'text_to_image',
    { ratio: '1080:1440', seed: 4_294_967_295, referenceImages: [{ uri: PICTURE_URI }, { uri: large.url }] },
  ],
  ['gen4_image', { size: '1808x768' }, 'text_to_image', { ratio: '1808:768' }],
  [
    'gen4_image_turbo',
    { referenceImages: [picture], resolution: '720p' },
    'text_to_image',
    { ratio: '1280:720', referenceImages: [{ uri: PICTURE_URI }] },
  ],
  ['gpt_image_2', {}, 'text_to_image', { ratio: '1920:1920', quality: 'medium', outputCount: 1 }],
  [
    'gpt_image_2',
    { quality: 'auto', background: 'transparent', resolution: '4k', aspectRatio: '16:9' },
    'text_to_image',
    { ratio: '3840:2160', quality: 'auto', background: 'transparent', outputCount: 1 },
  ],
  [
    'gpt_image_2_5_flare',
    { quality: 'auto', background: 'opaque' },
    'text_to_image',
    { ratio: '1920:1920', quality: 'medium', background: 'opaque', outputCount: 1 },
  ],
  [
    'gemini_image3_pro',
    { resolution: '2k', aspectRatio: '5:4' },
    'text_to_image',
    { ratio: '2304:1856', outputCount: 1 },
  ],
  [
    'seedream5_pro',
    { outputFormat: 'jpeg', aspectRatio: '16:9' },
    'text_to_image',
    { ratio: '1376:768', outputFormat: 'jpeg', outputCount: 1 },
  ],
];

const SOUNDS: readonly Row<SoundRequest<Media>>[] = [
  [
    'eleven_text_to_sound_v2',
    { prompt: promptText, durationSeconds: 2.5, loop: true, format: 'mp3' },
    'sound_effect',
    { duration: 2.5, loop: true },
  ],
  ['eleven_text_to_sound_v2', { input: promptText }, 'sound_effect', {}],
  [
    'eleven_v3',
    { input: promptText, voice: 'Maya', speed: 1.1, language: 'en', seed: 3 },
    'text_to_speech',
    { voice: { type: 'runway-preset', presetId: 'Maya' }, speed: 1.1, languageCode: 'en', seed: 3 },
  ],
  [
    'eleven_multilingual_v2',
    { input: promptText, referenceId: 'Noah' },
    'text_to_speech',
    { voice: { type: 'runway-preset', presetId: 'Noah' } },
  ],
  [
    'seed_audio',
    { input: promptText, referenceAudio: [sound], format: 'opus', sampleRate: 24_000 },
    'text_to_speech',
    { voice: { type: 'reference-audio', audioUri: SOUND_URI }, outputFormat: 'ogg_opus', sampleRate: 24_000 },
  ],
  [
    'seed_audio',
    { prompt: promptText, referenceAudio: [sound, sound] },
    'sound_effect',
    { referenceAudios: [SOUND_URI, SOUND_URI] },
  ],
];

describe('the exact request', () => {
  for (const [model, fields, route, wire] of VIDEOS) {
    test(`${model} with ${JSON.stringify(fields).slice(0, 90)}`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        const request = plainVideo({ prompt: promptText, ...fields });
        runway.video?.check(request, model);
        await submit(runway.video, request, { ...upstream, model });
        assert.deepEqual(emulator.submissions, [{ model, promptText, ...wire }]);
        assert.equal(emulator.requests[0]?.path, `/v1/${route}`);
      }));
  }

  for (const [model, fields, route, wire] of IMAGES) {
    test(`${model} with ${JSON.stringify(fields).slice(0, 90)}`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        const request = plainImage({ prompt: promptText, ...fields });
        runway.image?.check(request, model);
        await submit(runway.image, request, { ...upstream, model });
        assert.deepEqual(emulator.submissions, [{ model, promptText, ...wire }]);
        assert.equal(emulator.requests[0]?.path, `/v1/${route}`);
      }));
  }

  for (const [model, fields, route, wire] of SOUNDS) {
    test(`${model} with ${JSON.stringify(fields).slice(0, 90)}`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        const request = plainSound(fields);
        runway.music?.check(request, model);
        await submit(runway.music, request, { ...upstream, model });
        assert.deepEqual(emulator.submissions, [{ model, promptText, ...wire }]);
        assert.equal(emulator.requests[0]?.path, `/v1/${route}`);
      }));
  }

  for (const [model, fields] of [
    ['gen4_turbo', { firstFrame: picture }],
    ['veo3.1', { firstFrame: picture }],
    ['seedance2', { firstFrame: picture }],
    ['seedance2', { sourceVideo: clip }],
    ['aleph2', { sourceVideo: clip }],
  ] as const) {
    test(`${model} needs no prompt beside ${Object.keys(fields).join()}`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        const request = plainVideo({ prompt: undefined, ...fields });
        runway.video?.check(request, model);
        await submit(runway.video, request, { ...upstream, model });
        assert.ok(!('promptText' in (emulator.submissions[0] as object)));
      }));
  }

  test('every call names the version of the interface and carries the key', () =>
    withEmulator(async ({ emulator, upstream }) => {
      await submit(runway.video, plainVideo({ prompt: 'x' }), upstream);
      await runway.check?.run(upstream);
      for (const { headers } of emulator.requests) {
        assert.deepEqual([headers.authorization, headers['x-runway-version']], [`Bearer ${KEY}`, '2024-11-06']);
      }
      await assert.rejects(async () => runway.check?.run({ ...upstream, apiKey: 'other' }), { fault: 'account' });
    }));

  test('several pictures are one task of models that make several, and as many tasks of the others', () =>
    withEmulator(async ({ emulator, upstream }) => {
      const request = plainImage({ n: 4 });
      assert.deepEqual(
        ['gpt_image_2', 'gemini_image3_pro', 'gen4_image', 'm'].map((model) => runway.image?.perCall(request, model)),
        [10, 1, 1, 1],
      );
      await submit(runway.image, request, { ...upstream, model: 'gpt_image_2' }, { count: 4 });
      assert.equal((emulator.submissions[0] as { outputCount: number }).outputCount, 4);
    }));
});

const homeless = inMemoryMedia(Buffer.alloc(3_300_001), 'image/png', 'http://example.com/large.png');
const long = 'x'.repeat(1001);

const REFUSED_VIDEOS: readonly [model: string, fields: Partial<VideoRequest<Media>>, field: string][] = [
  ...['gen4.5', 'veo3.1', 'seedance2', 'hailuo3', 'wan3', 'h3_max']
    .flatMap((model) => [
      [model, { fps: 24 }, 'fps'] as const,
      [model, { cameraFixed: true }, 'camera_fixed'] as const,
      [model, { watermark: true }, 'watermark'] as const,
      [model, { resolution: '9k' }, 'resolution'] as const,
      [model, { size: '7x7' }, 'size'] as const,
      [model, { aspectRatio: '99:1' }, 'aspect_ratio'] as const,
      [model, { seconds: 31 }, 'seconds'] as const,
      [model, { lastFrame: picture }, model === 'gen4.5' ? 'last_frame' : 'first_frame'] as const,
      ...['ratio', 'duration', 'promptImage', 'outputFormat', 'referenceVideos', 'mode'].map(
        (name) => [model, { extra: { [name]: 'x' } }, name] as const,
      ),
    ])
    .map((row) => [...row] as [string, Partial<VideoRequest<Media>>, string]),
  ['gen4.5', { prompt: long }, 'prompt'],
  ...['gen4.5', 'veo3.1', 'seedance2', 'hailuo3', 'wan3', 'gemini_omni_flash', 'h3_max'].map(
    (model): [string, Partial<VideoRequest<Media>>, string] => [model, { prompt: undefined }, 'prompt'],
  ),
  ...['gen4.5', 'hailuo3', 'wan3', 'gemini_omni_flash_1.1', 'h3_max'].map(
    (model): [string, Partial<VideoRequest<Media>>, string] => [
      model,
      { prompt: undefined, firstFrame: picture },
      'prompt',
    ],
  ),
  ...['hailuo3', 'seedance2_5', 'gemini_omni_flash', 'gemini_omni_flash_1.1'].map(
    (model): [string, Partial<VideoRequest<Media>>, string] => [
      model,
      { prompt: undefined, sourceVideo: clip },
      'prompt',
    ],
  ),
  ['gen4.5', { seconds: 2.5 }, 'seconds'],
  ['gen4.5', { seconds: 1 }, 'seconds'],
  ['gen4.5', { seed: -1 }, 'seed'],
  ['gen4.5', { aspectRatio: '21:9' }, 'aspect_ratio'],
  ['gen4.5', { generateAudio: true }, 'generate_audio'],
  ['gen4.5', { negativePrompt: 'fog' }, 'negative_prompt'],
  ['gen4.5', { inputReference: picture }, 'input_reference'],
  ['gen4.5', { referenceImages: [picture] }, 'reference_image_urls'],
  ['gen4.5', { sourceVideo: clip }, 'ref_video_url'],
  ['gen4.5', { size: '1280x720', resolution: '720p' }, 'resolution'],
  ['gen4.5', { firstFrame: homeless }, 'first_frame'],
  ['gen4_turbo', {}, 'first_frame'],
  ['veo3.1', { seconds: 5 }, 'seconds'],
  ['seedance2', { firstFrame: picture, referenceImages: [picture] }, 'reference_image_urls'],
  ['seedance2', { firstFrame: picture, sourceVideo: clip }, 'first_frame'],
  ['seedance2', { referenceImages: Array.from({ length: 10 }, () => picture) }, 'reference_image_urls'],
  ['seedance2_fast', { resolution: '1080p' }, 'resolution'],
  ['seedance2_5', { sourceVideo: clip, seconds: 5 }, 'seconds'],
  ['seedance2_5', { sourceVideo: clip, resolution: '720p' }, 'resolution'],
  ['gemini_omni_flash_1.1', { sourceVideo: clip, aspectRatio: '16:9' }, 'aspect_ratio'],
  ['gemini_omni_flash', { referenceImages: [picture] }, 'reference_image_urls'],
  ['gemini_omni_flash_1.1', { referenceVideos: [clip] }, 'reference_videos'],
  ['hailuo3', { aspectRatio: 'adaptive' }, 'aspect_ratio'],
  ['hailuo3', { seed: 1 }, 'seed'],
  ['wan3', { firstFrame: picture, aspectRatio: '1:1' }, 'aspect_ratio'],
  ['gemini_omni_flash', { generateAudio: false }, 'generate_audio'],
  ['gemini_omni_flash', { sourceVideo: clip, seconds: 5 }, 'seconds'],
  ['aleph2', {}, 'ref_video_url'],
  ['aleph2', { sourceVideo: clip, seconds: 5 }, 'seconds'],
];

const REFUSED_IMAGES: readonly [model: string, fields: Partial<ImageRequest<Media>>, field: string][] = [
  ...['gen4_image', 'gpt_image_2', 'gemini_image3_pro', 'seedream5_pro'].flatMap(
    (model): [string, Partial<ImageRequest<Media>>, string][] => [
      [model, { style: 'vivid' }, 'style'],
      [model, { negativePrompt: 'fog' }, 'negative_prompt'],
      [model, { watermark: true }, 'watermark'],
      [model, { mask: picture }, 'mask'],
      [model, { size: '7x7' }, 'size'],
      [model, { outputFormat: 'webp' }, 'output_format'],
      [model, { aspectRatio: 'adaptive' }, 'aspect_ratio'],
      [model, { referenceImages: Array.from({ length: 17 }, () => picture) }, 'reference_images'],
      [model, { extra: { ratio: '1:1' } }, 'ratio'],
      [model, { extra: { outputCount: 9 } }, 'outputCount'],
    ],
  ),
  ['gen4_image', { quality: 'high' }, 'quality'],
  ['gen4_image', { prompt: long }, 'prompt'],
  ['gen4_image_turbo', {}, 'reference_images'],
  ['gpt_image_2', { seed: 1 }, 'seed'],
  ['gpt_image_2', { quality: 'max' }, 'quality'],
  ['gpt_image_2_5_flare', { background: 'transparent' }, 'background'],
  ['gemini_2.5_flash', { resolution: '2k' }, 'resolution'],
];

const REFUSED_SOUNDS: readonly [model: string, fields: Partial<SoundRequest<Media>>, field: string][] = [
  ['eleven_text_to_sound_v2', { prompt: 'x', voice: 'Maya' }, 'voice'],
  ['eleven_text_to_sound_v2', { prompt: 'x', durationSeconds: 31 }, 'duration_seconds'],
  ['eleven_text_to_sound_v2', { prompt: 'x', input: 'y' }, 'input'],
  ['eleven_text_to_sound_v2', { prompt: 'x', promptInfluence: 1 }, 'prompt_influence'],
  ['eleven_text_to_sound_v2', { prompt: 'x', format: 'wav' }, 'response_format'],
  ['eleven_text_to_sound_v2', { prompt: 'x', lyrics: 'la' }, 'lyrics'],
  ['eleven_text_to_sound_v2', {}, 'prompt'],
  ['eleven_text_to_sound_v2', { prompt: 'x', extra: { duration: 30 } }, 'duration'],
  ['eleven_v3', { input: 'x' }, 'voice'],
  ['eleven_v3', { prompt: 'x', voice: 'Maya' }, 'prompt'],
  ['eleven_v3', { input: 'x', voice: 'Maya', referenceId: 'Noah' }, 'voice'],
  ['eleven_v3', { input: 'x', voice: 'Maya', speed: 2 }, 'speed'],
  ['eleven_multilingual_v2', { input: 'x', voice: 'Maya', speed: 1 }, 'speed'],
  ['eleven_multilingual_v2', { input: long, voice: 'Maya' }, 'input'],
  ['seed_audio', { input: 'x', voice: 'Maya' }, 'voice'],
  ['seed_audio', { input: 'x', format: 'flac' }, 'response_format'],
  ['seed_audio', { input: 'x', sampleRate: 7 }, 'sample_rate'],
  ['seed_audio', { input: 'x', referenceAudio: [sound, sound] }, 'reference_audio'],
  ['seed_audio', { prompt: 'x', durationSeconds: 5 }, 'duration_seconds'],
];

describe('what a model cannot take is refused in one wording', () => {
  for (const [model, fields, field] of REFUSED_VIDEOS) {
    test(`${model} with ${JSON.stringify(fields).slice(0, 60)}: "${field}"`, () =>
      assertRefused(field, () => runway.video?.check(plainVideo({ prompt: 'x', ...fields }), model)));
  }
  for (const [model, fields, field] of REFUSED_IMAGES) {
    test(`${model} with ${JSON.stringify(fields).slice(0, 60)}: "${field}"`, () =>
      assertRefused(field, () => runway.image?.check(plainImage(fields), model)));
  }
  for (const [model, fields, field] of REFUSED_SOUNDS) {
    test(`${model} with ${JSON.stringify(fields).slice(0, 60)}: "${field}"`, () =>
      assertRefused(field, () => runway.music?.check(plainSound(fields), model)));
  }

  function assertRefused(field: string, check: () => void): void {
    assert.throws(check, (error) => {
      assert.ok(error instanceof ApiError && error.code === 'unsupported_parameter', String(error));
      assert.ok(error.message.startsWith(`"${field}": this model `), error.message);
      assert.doesNotMatch(error.message, /runway|gen4/i);
      return error.param === field;
    });
  }
});
