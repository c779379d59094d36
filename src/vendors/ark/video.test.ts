import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainVideo } from '../../../test/support/plain-requests.ts';
import type { VideoRequest } from '../../schemas/index.ts';
import { inMemoryMedia, type Media } from '../index.ts';
import { ORDER, submit, video, withEmulator } from './emulator/calls.ts';

const T2V = 'seedance-1-0-lite-t2v-250428';
const I2V = 'seedance-1-0-lite-i2v-250428';
const PRO = 'seedance-1-0-pro-250528';
const FAST = 'seedance-1-0-pro-fast-251015';
const LOUD = 'seedance-1-5-pro-251215';
const TWO = 'dreamina-seedance-2-0-260128';
const NEWEST = 'dreamina-seedance-2-5-260628';
const picture = inMemoryMedia(Buffer.from('abc'), 'image/png');
const clip = inMemoryMedia(Buffer.from('clip'), 'video/mp4', 'https://files.example/a.mp4');
const sound = inMemoryMedia(Buffer.from('la'), 'audio/mpeg', 'https://files.example/a.mp3');
const URI = 'data:image/png;base64,YWJj';
const WORDS = { type: 'text', text: 'Waves' };
const at = (role: string) => ({ type: 'image_url', image_url: { url: URI }, role });

type Fields = Partial<VideoRequest<Media>>;
const SENT: readonly (readonly [model: string, fields: Fields, sent: object])[] = [
  [LOUD, {}, { generate_audio: false }],
  [LOUD, { generateAudio: true, seconds: 12 }, { generate_audio: true, duration: 12 }],
  [
    LOUD,
    { resolution: '1080p', aspectRatio: '21:9', fps: 24 },
    { resolution: '1080p', ratio: '21:9', generate_audio: false },
  ],
  [LOUD, { aspectRatio: 'auto', size: 'auto' }, { generate_audio: false }],
  [LOUD, { aspectRatio: 'adaptive' }, { ratio: 'adaptive', generate_audio: false }],
  [PRO, { extra: { safety_identifier: 'end-user-7' } }, { safety_identifier: 'end-user-7' }],
  [
    PRO,
    { seed: 2 ** 32 - 1, cameraFixed: true, watermark: true },
    { seed: 2 ** 32 - 1, camera_fixed: true, watermark: true },
  ],
  [PRO, { generateAudio: false, seconds: 2 }, { duration: 2 }],
  [PRO, { firstFrame: picture, lastFrame: picture }, { content: [WORDS, at('first_frame'), at('last_frame')] }],
  [FAST, { prompt: undefined, firstFrame: picture }, { content: [at('first_frame')] }],
  [
    I2V,
    { inputReference: picture, referenceImages: [picture] },
    { content: [WORDS, at('reference_image'), at('reference_image')] },
  ],
  [
    TWO,
    { referenceImages: [picture], referenceVideos: [clip], referenceAudios: [sound], seconds: 15 },
    {
      duration: 15,
      generate_audio: false,
      content: [
        WORDS,
        at('reference_image'),
        { type: 'video_url', video_url: { url: 'https://files.example/a.mp4' }, role: 'reference_video' },
        { type: 'audio_url', audio_url: { url: 'https://files.example/a.mp3' }, role: 'reference_audio' },
      ],
    },
  ],
  [
    NEWEST,
    { seconds: 30, extra: { return_last_frame: true } },
    { duration: 30, return_last_frame: true, generate_audio: false },
  ],
];
for (const [model, fields, sent] of SENT) {
  test(`${model}: ${JSON.stringify(fields).slice(0, 90)} is sent as the vendor wants it`, () =>
    withEmulator(async (emulator, upstream) => {
      await submit(upstream, fields);
      const usual = { model, content: [WORDS], resolution: '720p', watermark: false };
      assert.deepEqual(emulator.submissions, [{ ...usual, execution_expires_after: 3600, ...sent }]);
      assert.equal(emulator.requests[0]?.headers['x-client-request-id'], ORDER.id);
    }, model));
}

const REFUSED: readonly (readonly [model: string, fields: Fields, param: string])[] = [
  [LOUD, { negativePrompt: 'fog' }, 'negative_prompt'],
  [LOUD, { seconds: 3 }, 'seconds'],
  [LOUD, { seconds: 5.5 }, 'seconds'],
  [LOUD, { seconds: 13 }, 'seconds'],
  [LOUD, { size: '1280x720' }, 'size'],
  [LOUD, { resolution: '4k' }, 'resolution'],
  [LOUD, { aspectRatio: '5:4' }, 'aspect_ratio'],
  [LOUD, { fps: 30 }, 'fps'],
  [LOUD, { seed: 2 ** 32 }, 'seed'],
  [LOUD, { lastFrame: picture }, 'first_frame'],
  [LOUD, { referenceImages: [picture] }, 'reference_image_urls'],
  [LOUD, { inputReference: picture }, 'input_reference'],
  [LOUD, { sourceVideo: clip }, 'ref_video_url'],
  [PRO, { generateAudio: true }, 'generate_audio'],
  [T2V, { firstFrame: picture }, 'first_frame'],
  [FAST, { firstFrame: picture, lastFrame: picture }, 'last_frame'],
  [I2V, { referenceImages: Array(5).fill(picture) }, 'reference_image_urls'],
  [I2V, { referenceVideos: [clip] }, 'reference_videos'],
  [TWO, { cameraFixed: true }, 'camera_fixed'],
  [TWO, { firstFrame: picture, referenceImages: [picture] }, 'first_frame'],
  [TWO, { referenceVideos: Array(4).fill(clip) }, 'reference_videos'],
  [TWO, { referenceVideos: [inMemoryMedia(Buffer.from('clip'), 'video/mp4')] }, 'reference_videos'],
  [TWO, { referenceAudios: [inMemoryMedia(Buffer.from('la'), 'audio/mpeg')] }, 'reference_audios'],
  [NEWEST, { resolution: '1080p' }, 'resolution'],
  ...['content', 'duration', 'frames', 'ratio', 'draft', 'tools', 'priority', 'service_tier', 'callback_url'].map(
    (name) => [TWO, { extra: { [name]: 'x' } }, name] as const,
  ),
];
for (const [model, fields, param] of REFUSED) {
  test(`${model} refuses ${JSON.stringify(fields).slice(0, 80)}`, () => {
    const request = plainVideo({ prompt: 'Waves', ...fields });
    assert.throws(() => video.check(request, model), { code: 'unsupported_parameter', param });
  });
}

describe('options inside the words', () => {
  for (const prompt of ['Waves --dur 12', '--RS 1080p waves', 'Waves\n--ratio 1:1', 'Waves --resolution 1080p']) {
    test(`${JSON.stringify(prompt)} would escape the price, and is refused`, () => {
      const error = { code: 'unsupported_parameter', param: 'prompt' };
      assert.throws(() => video.check(plainVideo({ prompt }), PRO), error);
    });
  }

  for (const prompt of ['Waves -- duration of a storm', 'A sign that says--ratio', 'Waves --durable']) {
    test(`${JSON.stringify(prompt)} is only words`, () => video.check(plainVideo({ prompt }), PRO));
  }
});

test('what has not been looked at yet is not refused for having no address', () => {
  const unread = inMemoryMedia(Buffer.alloc(0), 'image/png');
  video.check(plainVideo({ referenceVideos: [unread] }), TWO);
});
