import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ApiError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { inMemoryMedia } from '../kit/in-memory-media.ts';
import type { Output, TaskWork } from '../vendor.ts';
import { sized } from './image-size.ts';
import { type Kind, resultOf } from './results.ts';
import { work as fal } from './work.ts';

const media = inMemoryMedia(Buffer.from('abc'), 'image/png');
const IMAGE = { kind: 'image', model: 'm', prompt: 'p', n: 1, referenceImages: [], extra: {} };
const VIDEO = { kind: 'video', model: 'm', referenceImages: [], referenceVideos: [], referenceAudios: [], extra: {} };
const SOUND = { kind: 'audio', model: 'm', prompt: 'p', n: 1, output: 'binary', referenceAudio: [], extra: {} };

const FLUX = 'fal-ai/flux/dev';
const KLING = 'fal-ai/kling-video/v2.6/pro/text-to-video';
const ELEVEN = 'fal-ai/elevenlabs/music';
const SEEDREAM = 'fal-ai/bytedance/seedream/v4/text-to-image';
const VEO = 'fal-ai/veo3.1';

/** What each family cannot take, by the public name that a caller reads. */
const REFUSED: readonly { kind: 'image' | 'video' | 'music'; model: string; asked: object; field: string }[] = [
  { kind: 'image', model: FLUX, asked: { quality: 'high' }, field: 'quality' },
  { kind: 'image', model: FLUX, asked: { style: 'vivid' }, field: 'style' },
  { kind: 'image', model: FLUX, asked: { negativePrompt: 'fog' }, field: 'negative_prompt' },
  { kind: 'image', model: FLUX, asked: { background: 'opaque' }, field: 'background' },
  { kind: 'image', model: FLUX, asked: { outputFormat: 'webp' }, field: 'output_format' },
  { kind: 'image', model: FLUX, asked: { watermark: true }, field: 'watermark' },
  { kind: 'image', model: FLUX, asked: { referenceImages: [media] }, field: 'reference_images' },
  { kind: 'image', model: FLUX, asked: { mask: media }, field: 'mask' },
  { kind: 'image', model: FLUX, asked: { resolution: '8k' }, field: 'resolution' },
  { kind: 'image', model: FLUX, asked: { size: '512x512', resolution: '4k' }, field: 'resolution' },
  { kind: 'image', model: FLUX, asked: { aspectRatio: 'wide' }, field: 'aspect_ratio' },
  { kind: 'image', model: FLUX, asked: { aspectRatio: '1:1000' }, field: 'aspect_ratio' },
  { kind: 'image', model: FLUX, asked: { size: '512' }, field: 'size' },
  { kind: 'image', model: 'fal-ai/flux/dev/image-to-image', asked: { size: '512x512' }, field: 'size' },
  {
    kind: 'image',
    model: 'fal-ai/flux-pro/kontext',
    asked: { referenceImages: [media, media] },
    field: 'reference_images',
  },
  { kind: 'image', model: SEEDREAM, asked: { outputFormat: 'png' }, field: 'output_format' },
  { kind: 'image', model: SEEDREAM, asked: { referenceImages: [media] }, field: 'reference_images' },
  { kind: 'image', model: 'fal-ai/nano-banana', asked: { size: '512x512' }, field: 'size' },
  { kind: 'image', model: 'fal-ai/nano-banana', asked: { resolution: '2k' }, field: 'resolution' },
  { kind: 'image', model: 'fal-ai/gpt-image-1.5', asked: { seed: 1 }, field: 'seed' },
  { kind: 'image', model: 'fal-ai/recraft/v3/text-to-image', asked: { seed: 1 }, field: 'seed' },
  { kind: 'image', model: 'acme/painter', asked: { watermark: true }, field: 'watermark' },
  { kind: 'video', model: KLING, asked: { seed: 1 }, field: 'seed' },
  { kind: 'video', model: KLING, asked: { resolution: '720p' }, field: 'resolution' },
  { kind: 'video', model: KLING, asked: { size: '1280x720' }, field: 'size' },
  { kind: 'video', model: KLING, asked: { fps: 24 }, field: 'fps' },
  { kind: 'video', model: KLING, asked: { cameraFixed: true }, field: 'camera_fixed' },
  { kind: 'video', model: KLING, asked: { watermark: true }, field: 'watermark' },
  { kind: 'video', model: KLING, asked: { seconds: 5.5 }, field: 'seconds' },
  { kind: 'video', model: KLING, asked: { firstFrame: media }, field: 'first_frame' },
  { kind: 'video', model: KLING, asked: { lastFrame: media }, field: 'last_frame' },
  { kind: 'video', model: KLING, asked: { inputReference: media }, field: 'input_reference' },
  { kind: 'video', model: KLING, asked: { referenceImages: [media] }, field: 'reference_image_urls' },
  { kind: 'video', model: KLING, asked: { referenceVideos: [media] }, field: 'reference_videos' },
  { kind: 'video', model: KLING, asked: { referenceAudios: [media] }, field: 'reference_audios' },
  { kind: 'video', model: KLING, asked: { sourceVideo: media }, field: 'ref_video_url' },
  {
    kind: 'video',
    model: 'fal-ai/kling-video/v2.1/master/text-to-video',
    asked: { generateAudio: true },
    field: 'generate_audio',
  },
  {
    kind: 'video',
    model: 'fal-ai/kling-video/v3/pro/image-to-video',
    asked: { aspectRatio: '1:1' },
    field: 'aspect_ratio',
  },
  {
    kind: 'video',
    model: 'fal-ai/kling-video/v3/pro/image-to-video',
    asked: { inputReference: media },
    field: 'input_reference',
  },
  {
    kind: 'video',
    model: 'fal-ai/bytedance/seedance/v1/pro/text-to-video',
    asked: { negativePrompt: 'x' },
    field: 'negative_prompt',
  },
  {
    kind: 'video',
    model: 'bytedance/seedance-2.0/image-to-video',
    asked: { referenceVideos: [media] },
    field: 'reference_videos',
  },
  { kind: 'video', model: VEO, asked: { firstFrame: media }, field: 'first_frame' },
  { kind: 'video', model: 'fal-ai/veo3.1/image-to-video', asked: { lastFrame: media }, field: 'last_frame' },
  { kind: 'video', model: 'fal-ai/veo3.1/reference-to-video', asked: { firstFrame: media }, field: 'first_frame' },
  { kind: 'video', model: 'fal-ai/veo2', asked: { resolution: '720p' }, field: 'resolution' },
  { kind: 'video', model: 'acme/filmer/text-to-video', asked: { firstFrame: media }, field: 'first_frame' },
  { kind: 'music', model: ELEVEN, asked: { lyrics: 'la' }, field: 'lyrics' },
  { kind: 'music', model: ELEVEN, asked: { voice: 'v' }, field: 'voice' },
  { kind: 'music', model: ELEVEN, asked: { referenceId: 'r' }, field: 'reference_id' },
  { kind: 'music', model: ELEVEN, asked: { voiceDescription: 'deep' }, field: 'voice_description' },
  { kind: 'music', model: ELEVEN, asked: { language: 'it' }, field: 'language' },
  { kind: 'music', model: ELEVEN, asked: { speed: 1 }, field: 'speed' },
  { kind: 'music', model: ELEVEN, asked: { volume: 1 }, field: 'volume' },
  { kind: 'music', model: ELEVEN, asked: { loudness: 1 }, field: 'loudness' },
  { kind: 'music', model: ELEVEN, asked: { guidanceScale: 1 }, field: 'guidance_scale' },
  { kind: 'music', model: ELEVEN, asked: { promptInfluence: 1 }, field: 'prompt_influence' },
  { kind: 'music', model: ELEVEN, asked: { seed: 1 }, field: 'seed' },
  { kind: 'music', model: ELEVEN, asked: { loop: true }, field: 'loop' },
  { kind: 'music', model: ELEVEN, asked: { autoGenerateText: true }, field: 'auto_generate_text' },
  { kind: 'music', model: ELEVEN, asked: { referenceAudio: [media] }, field: 'reference_audio' },
  { kind: 'music', model: ELEVEN, asked: { format: 'wav' }, field: 'response_format' },
  { kind: 'music', model: ELEVEN, asked: { format: 'pcm', bitrate: 128 }, field: 'response_format' },
  { kind: 'music', model: ELEVEN, asked: { input: 'another' }, field: 'input' },
  { kind: 'music', model: 'fal-ai/minimax-music/v2', asked: { durationSeconds: 5 }, field: 'duration_seconds' },
  { kind: 'music', model: 'fal-ai/minimax-music/v2', asked: { instrumental: true }, field: 'instrumental' },
  { kind: 'music', model: 'fal-ai/minimax-music', asked: { referenceAudio: [media, media] }, field: 'reference_audio' },
  { kind: 'music', model: 'fal-ai/stable-audio', asked: { seed: 1 }, field: 'seed' },
];

for (const { kind, model, asked, field } of REFUSED) {
  test(`R-370 ${model} with ${JSON.stringify(Object.keys(asked))} is refused for "${field}"`, () => {
    assert.throws(
      () => check(kind, asked, model),
      (error) => {
        assert.ok(error instanceof ApiError && error.code === 'unsupported_parameter', String(error));
        assert.ok(error.message.startsWith(`"${field}": this model `), error.message);
        assert.equal(error.param, field);
        return true;
      },
    );
  });
}

function check(kind: 'image' | 'video' | 'music', asked: object, model: string): void {
  const request = { image: IMAGE, video: VIDEO, music: SOUND }[kind];
  const work: TaskWork<never> | undefined = fal[kind];
  // Fields that are left out are undefined.
  work?.check({ ...request, ...asked } as never, model);
}

test('what is off on a model that has no such switch is not refused', () => {
  check('image', { watermark: false }, FLUX);
  check('video', { watermark: false, cameraFixed: false }, KLING);
  check('music', { loop: false, instrumental: false, autoGenerateText: false }, 'fal-ai/stable-audio');
});

describe('the pixels of a picture', () => {
  const SIZES: readonly { asked: object; side?: number; free?: string; size: unknown }[] = [
    { asked: { size: '1x4096' }, size: { width: 1, height: 4096 } },
    { asked: { size: '1024x768', aspectRatio: '4:3' }, size: { width: 1024, height: 768 } },
    { asked: { size: 'auto' }, size: undefined },
    { asked: { size: 'auto', aspectRatio: '4:3' }, size: 'landscape_4_3' },
    { asked: { aspectRatio: 'auto' }, size: undefined },
    { asked: { aspectRatio: '1:1' }, size: 'square_hd' },
    { asked: { aspectRatio: '3:4' }, size: 'portrait_4_3' },
    { asked: { aspectRatio: '9:16' }, size: 'portrait_16_9' },
    { asked: { aspectRatio: '2:3' }, size: { width: 832, height: 1248 } },
    { asked: { aspectRatio: '2:3' }, side: 2048, size: { width: 1664, height: 2496 } },
    { asked: { resolution: '1k' }, size: { width: 1024, height: 1024 } },
    { asked: { resolution: '2K', size: 'auto' }, size: { width: 2048, height: 2048 } },
    { asked: { resolution: '4k', aspectRatio: '16:9' }, size: { width: 4096, height: 2304 } },
    { asked: { resolution: '1k' }, free: 'auto_', size: { width: 1024, height: 1024 } },
    { asked: { resolution: '2k' }, free: 'auto_', size: 'auto_2K' },
    { asked: { resolution: '2k', aspectRatio: 'auto' }, free: 'auto_', size: 'auto_2K' },
    { asked: { resolution: '2k', aspectRatio: '1:1' }, free: 'auto_', size: { width: 2048, height: 2048 } },
  ];
  for (const { asked, side = 1024, free, size } of SIZES) {
    test(`${JSON.stringify(asked)}${free === undefined ? '' : ', free'} at ${side} is ${JSON.stringify(size)}`, () => {
      const takes = sized(side, free);
      const request = { ...IMAGE, ...asked } as never;
      const found = Object.entries(asked).map(([key, value]) => takes[key as 'size']?.(value, key, request));
      assert.deepEqual(Object.assign({}, ...found), size === undefined ? {} : { image_size: size });
    });
  }
});

describe('the files of a result', () => {
  const A = 'https://files.example/a';
  const B = 'https://files.example/b';
  const RESULTS: readonly { name: string; kind: Kind; result: JsonObject; outputs: readonly Output[] }[] = [
    {
      name: 'pictures',
      kind: 'image',
      result: { images: [{ url: A }, { url: B }] },
      outputs: [{ url: A }, { url: B }],
    },
    { name: 'one picture', kind: 'image', result: { image: { url: A } }, outputs: [{ url: A }] },
    { name: 'no list', kind: 'image', result: { images: null, image: { url: A } }, outputs: [{ url: A }] },
    {
      name: 'one flagged picture of two',
      kind: 'image',
      result: { images: [{ url: A }, { url: B }], has_nsfw_concepts: [true, false] },
      outputs: [{ url: B }],
    },
    {
      name: 'flags that are none',
      kind: 'image',
      result: { images: [{ url: A }], has_nsfw_concepts: 'true' },
      outputs: [{ url: A }],
    },
    {
      name: 'a picture in the answer itself',
      kind: 'image',
      result: { images: [{ url: 'data:image/png;base64,YWJj' }] },
      outputs: [{ data: Buffer.from('abc') }],
    },
    {
      name: 'a clip with its thumbnail',
      kind: 'video',
      result: { thumbnail: { url: B }, video: { url: A }, images: [{ url: B }] },
      outputs: [{ url: A }, { url: B, isThumbnail: true }],
    },
    { name: 'music', kind: 'audio', result: { audio: { url: A } }, outputs: [{ url: A }] },
    {
      name: 'several pieces',
      kind: 'audio',
      result: { audio: [{ url: A }, { url: B }] },
      outputs: [{ url: A }, { url: B }],
    },
    { name: 'a file of music', kind: 'audio', result: { audio_file: { url: A } }, outputs: [{ url: A }] },
  ];
  for (const { name, kind, result, outputs } of RESULTS) {
    test(`${name}`, () => assert.deepEqual(resultOf(result, kind), { state: 'succeeded', outputs }));
  }
});

test('a call brings as many results as the model can be asked for at once', () => {
  const perCall = (work: TaskWork<never> | undefined, model: string) => work?.perCall({} as never, model);
  assert.deepEqual(
    [FLUX, SEEDREAM, 'acme/painter', 'fal-ai/flux-2-pro', 'fal-ai/recraft/v3/text-to-image'].map((model) =>
      perCall(fal.image, model),
    ),
    [4, 4, 4, 1, 1],
  );
  assert.deepEqual([perCall(fal.video, VEO), perCall(fal.music, ELEVEN)], [1, 1]);
});
