import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainImage, plainVideo } from '../../../test/support/plain-requests.ts';
import type { ImageRequest, VideoRequest } from '../../schemas/index.ts';
import { inMemoryMedia, type Media } from '../index.ts';
import { draw, image, KEY, ORDER, submit, video, withEmulator } from './emulator/calls.ts';

const picture = inMemoryMedia(Buffer.from('abc'), 'image/png');
const large = { ...picture, bytes: 6 * 1024 * 1024, url: 'https://files.example/a.png' };
const clip = inMemoryMedia(Buffer.from('clip'), 'video/mp4', 'https://files.example/a.mp4');
const BASE64 = 'YWJj';
const NAMED = { external_task_id: ORDER.id };

type Clip = Partial<VideoRequest<Media>>;

describe('clips are sent as the vendor wants them', () => {
  const STD = { mode: 'std' };
  const SENT: readonly (readonly [model: string, fields: Clip, way: string, sent: object])[] = [
    ['kling-v2-5-turbo', {}, 'text2video', { ...STD }],
    ['kling-v1', { seconds: 10, aspectRatio: '1:1' }, 'text2video', { ...STD, duration: '10', aspect_ratio: '1:1' }],
    ['kling-v1', { resolution: '1080p', extra: { cfg_scale: 0.5 } }, 'text2video', { mode: 'pro', cfg_scale: 0.5 }],
    ['kling-v1', { resolution: '720p', negativePrompt: 'fog' }, 'text2video', { ...STD, negative_prompt: 'fog' }],
    ['kling-v2-1', { firstFrame: picture }, 'image2video', { ...STD, image: BASE64 }],
    ['kling-v2-1', { firstFrame: large }, 'image2video', { ...STD, image: 'https://files.example/a.png' }],
    [
      'kling-v2-5-turbo',
      { firstFrame: picture, lastFrame: picture, resolution: '1080p' },
      'image2video',
      { mode: 'pro', image: BASE64, image_tail: BASE64 },
    ],
    [
      'kling-v1-6',
      { inputReference: picture, referenceImages: [picture], aspectRatio: '9:16' },
      'multi-image2video',
      { ...STD, aspect_ratio: '9:16', image_list: [{ image: BASE64 }, { image: BASE64 }] },
    ],
    ['kling-v2-1-master', { size: 'auto', aspectRatio: 'auto' }, 'text2video', {}],
    ['kling-v2-6', {}, 'text2video', { ...STD, sound: 'off' }],
    ['kling-v2-6', { generateAudio: true, resolution: '1080p' }, 'text2video', { mode: 'pro', sound: 'on' }],
    ['kling-v3', { generateAudio: false, seconds: 3 }, 'text2video', { ...STD, sound: 'off', duration: '3' }],
    ['kling-v3', { watermark: true }, 'text2video', { ...STD, sound: 'off', watermark_info: { enabled: true } }],
  ];
  for (const [model, fields, way, sent] of SENT) {
    test(`${model}: ${JSON.stringify(fields).slice(0, 90)}`, () =>
      withEmulator(model, async (emulator, upstream) => {
        await submit(upstream, fields);
        assert.deepEqual(emulator.submissions, [{ model_name: model, prompt: 'Waves', ...sent, ...NAMED }]);
        const [request] = emulator.requests;
        assert.equal(`${request?.method} ${request?.path}`, `POST /v1/videos/${way}`);
        assert.equal(request?.headers.authorization, `Bearer ${KEY}`);
      }));
  }

  const TURBO = 'kling-3.0-turbo';
  const SECOND: readonly (readonly [fields: Clip, path: string, sent: object])[] = [
    [{}, '/text-to-video/kling-3.0-turbo', { prompt: 'Waves', settings: { resolution: '720p' }, options: NAMED }],
    [
      { seconds: 15, resolution: '1080p', aspectRatio: '16:9', watermark: false },
      '/text-to-video/kling-3.0-turbo',
      {
        prompt: 'Waves',
        settings: { resolution: '1080p', duration: 15, aspect_ratio: '16:9' },
        options: { ...NAMED, watermark_info: { enabled: false } },
      },
    ],
    [
      { firstFrame: picture, seconds: 3 },
      '/image-to-video/kling-3.0-turbo',
      {
        contents: [
          { type: 'prompt', text: 'Waves' },
          { type: 'first_frame', url: BASE64 },
        ],
        settings: { resolution: '720p', duration: 3 },
        options: NAMED,
      },
    ],
  ];
  for (const [fields, path, sent] of SECOND) {
    test(`${TURBO}: ${JSON.stringify(fields).slice(0, 90)}`, () =>
      withEmulator(TURBO, async (emulator, upstream) => {
        await submit(upstream, fields);
        assert.deepEqual([emulator.requests[0]?.path, emulator.submissions], [path, [sent]]);
      }));
  }
});

describe('clips that a model cannot make are refused', () => {
  const REFUSED: readonly (readonly [model: string, fields: Clip, param: string])[] = [
    ['kling-v1', { seconds: 7 }, 'seconds'],
    ['kling-v3', { seconds: 16 }, 'seconds'],
    ['kling-v3', { seconds: 3.5 }, 'seconds'],
    ['kling-v1', { size: '1280x720' }, 'size'],
    ['kling-v1', { resolution: '4k' }, 'resolution'],
    ['kling-v2-master', { resolution: '720p' }, 'resolution'],
    ['kling-v1', { aspectRatio: '4:3' }, 'aspect_ratio'],
    ['kling-v1', { firstFrame: picture, aspectRatio: '16:9' }, 'aspect_ratio'],
    ['kling-v1', { fps: 24 }, 'fps'],
    ['kling-v1', { seed: 7 }, 'seed'],
    ['kling-v1', { cameraFixed: true }, 'camera_fixed'],
    ['kling-v1', { generateAudio: true }, 'generate_audio'],
    ['kling-v2-6', { generateAudio: true, resolution: '720p' }, 'generate_audio'],
    ['kling-v1', { firstFrame: picture, lastFrame: picture, resolution: '720p' }, 'last_frame'],
    // The mode that they need has its price, so a caller names its tier.
    ['kling-v2-6', { generateAudio: true }, 'resolution'],
    ['kling-v1', { firstFrame: picture, lastFrame: picture }, 'resolution'],
    ['kling-v1', { lastFrame: picture }, 'first_frame'],
    ['kling-v2-master', { firstFrame: picture, lastFrame: picture }, 'last_frame'],
    ['kling-v2-1', {}, 'first_frame'],
    ['kling-v1', { referenceImages: [picture] }, 'reference_image_urls'],
    ['kling-v1', { inputReference: picture }, 'input_reference'],
    ['kling-v1-6', { referenceImages: Array(5).fill(picture) }, 'reference_image_urls'],
    ['kling-v1-6', { referenceImages: [picture], firstFrame: picture }, 'first_frame'],
    ['kling-v1-6', { referenceImages: [picture], prompt: undefined }, 'prompt'],
    ['kling-v1', { referenceVideos: [clip] }, 'reference_videos'],
    ['kling-v1', { sourceVideo: clip }, 'ref_video_url'],
    ['kling-v1', { prompt: 'x'.repeat(2501) }, 'prompt'],
    ['kling-v1', { negativePrompt: 'x'.repeat(2501) }, 'negative_prompt'],
    ['kling-3.0-turbo', { negativePrompt: 'fog' }, 'negative_prompt'],
    ['kling-3.0-turbo', { generateAudio: true }, 'generate_audio'],
    ['kling-3.0-turbo', { lastFrame: picture }, 'last_frame'],
    ['kling-3.0-turbo', { seconds: 2 }, 'seconds'],
    ...['mode', 'sound', 'image', 'image_tail', 'image_list', 'settings', 'callback_url', 'external_task_id'].map(
      (name) => ['kling-v3', { extra: { [name]: 'x' } }, name] as const,
    ),
  ];
  for (const [model, fields, param] of REFUSED) {
    test(`${model}: ${JSON.stringify(fields).slice(0, 80)}`, () => {
      const request = plainVideo({ prompt: 'Waves', ...fields });
      assert.throws(() => video.check(request, model), { code: 'unsupported_parameter', param });
    });
  }
});

describe('pictures', () => {
  type Drawing = Partial<ImageRequest<Media>>;
  const SENT: readonly (readonly [model: string, fields: Drawing, sent: object])[] = [
    ['kling-v3', {}, { n: 1 }],
    ['kling-v2', { n: 9, resolution: '2K', aspectRatio: '21:9' }, { n: 9, resolution: '2k', aspect_ratio: '21:9' }],
    ['kling-v2', { negativePrompt: 'fog', size: 'auto' }, { n: 1, negative_prompt: 'fog' }],
    ['kling-v1', { referenceImages: [picture] }, { n: 1, image: BASE64 }],
    ['kling-v1-5', { referenceImages: [picture] }, { n: 1, image: BASE64, image_reference: 'subject' }],
    [
      'kling-v1-5',
      { referenceImages: [picture], extra: { image_reference: 'face', image_fidelity: 0.5 } },
      { n: 1, image: BASE64, image_reference: 'face', image_fidelity: 0.5 },
    ],
  ];
  for (const [model, fields, sent] of SENT) {
    test(`${model}: ${JSON.stringify(fields).slice(0, 90)} is sent as the vendor wants it`, () =>
      withEmulator(model, async (emulator, upstream) => {
        assert.deepEqual(await draw(upstream, fields), { id: '8000', path: '/v1/images/generations' });
        assert.deepEqual(emulator.submissions, [{ model_name: model, prompt: 'A toll gate', ...sent, ...NAMED }]);
      }));
  }

  const REFUSED: readonly (readonly [fields: Drawing, param: string])[] = [
    [{ size: '1024x1024' }, 'size'],
    [{ resolution: '4k' }, 'resolution'],
    [{ aspectRatio: '5:4' }, 'aspect_ratio'],
    [{ quality: 'high' }, 'quality'],
    [{ style: 'vivid' }, 'style'],
    [{ background: 'transparent' }, 'background'],
    [{ outputFormat: 'png' }, 'output_format'],
    [{ seed: 7 }, 'seed'],
    [{ watermark: true }, 'watermark'],
    [{ mask: picture }, 'mask'],
    [{ referenceImages: [picture, picture] }, 'reference_images'],
    [{ referenceImages: [picture], negativePrompt: 'fog' }, 'negative_prompt'],
    [{ prompt: 'x'.repeat(2501) }, 'prompt'],
    [{ extra: { image: 'https://files.example/a' } }, 'image'],
    [{ extra: { callback_url: 'https://files.example/a' } }, 'callback_url'],
  ];
  for (const [fields, param] of REFUSED) {
    test(`${JSON.stringify(fields).slice(0, 80)} is refused`, () => {
      assert.throws(() => image.check(plainImage(fields), 'kling-v2'), { code: 'unsupported_parameter', param });
    });
  }

  test('nine fit into one task', () => {
    assert.deepEqual(
      [1, 9, 10].map((n) => image.perCall(plainImage({ n }), 'kling-v2')),
      [1, 9, 9],
    );
  });
});
