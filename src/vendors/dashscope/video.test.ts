import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainVideo } from '../../../test/support/plain-requests.ts';
import { ApiError } from '../../errors.ts';
import type { VideoRequest } from '../../schemas/index.ts';
import { inMemoryMedia, type Media } from '../index.ts';
import { film, KEY, video, withEmulator } from './emulator/calls.ts';

type Fields = Partial<VideoRequest<Media>>;

const picture = inMemoryMedia(Buffer.from('abc'), 'image/png');
const PICTURE = 'data:image/png;base64,YWJj';
const STILL = 'https://files.example/a.png';
const still = inMemoryMedia(Buffer.from('abc'), 'image/png', STILL);
const CLIP = 'https://files.example/a.mp4';
const SOUND = 'https://files.example/a.mp3';
const clip = inMemoryMedia(Buffer.from('abc'), 'video/mp4', CLIP);
const sound = inMemoryMedia(Buffer.from('abc'), 'audio/mpeg', SOUND);

test('a clip is a task with its header, in the tier, the length and the silence that are not the vendor’s own choice', () =>
  withEmulator('wan2.6-t2v', async (emulator, upstream) => {
    assert.deepEqual(await film(upstream), { id: 'task-1' });
    const [sent] = emulator.requests;
    assert.equal(`${sent?.method} ${sent?.path}`, 'POST /api/v1/services/aigc/video-generation/video-synthesis');
    assert.deepEqual([sent?.headers.authorization, sent?.headers['x-dashscope-async']], [`Bearer ${KEY}`, 'enable']);
    assert.deepEqual(emulator.submissions, [
      {
        model: 'wan2.6-t2v',
        input: { prompt: 'Waves' },
        parameters: { prompt_extend: false, watermark: false, size: '1280*720', duration: 5, audio: false },
      },
    ]);
  }));

describe('what is sent', () => {
  const usual = { prompt_extend: false, watermark: false, duration: 5 };
  const chosen = { ...usual, audio: false };
  const words = { prompt: 'Waves' };
  const SENT: readonly (readonly [model: string, fields: Fields, input: object, parameters: object])[] = [
    [
      'wan2.5-t2v-preview',
      { resolution: '480P', aspectRatio: '1:1', seconds: 10, generateAudio: true, seed: 7, negativePrompt: 'fog' },
      { ...words, negative_prompt: 'fog' },
      { ...chosen, size: '624*624', duration: 10, audio: true, seed: 7 },
    ],
    ['wan2.6-t2v', { size: '1080x1920', seconds: 15 }, words, { ...chosen, size: '1080*1920', duration: 15 }],
    ['wan2.6-t2v', { aspectRatio: '4:3' }, words, { ...chosen, size: '1088*832' }],
    ['wan2.6-t2v', { referenceAudios: [sound] }, { ...words, audio_url: SOUND }, { ...chosen, size: '1280*720' }],
    [
      'wan2.6-t2v',
      { extra: { prompt_extend: true, shot_type: 'multi', template: 'flying' }, watermark: true },
      { ...words, template: 'flying' },
      { ...chosen, prompt_extend: true, watermark: true, shot_type: 'multi', size: '1280*720' },
    ],
    ['wan2.2-t2v-plus', { resolution: '480p' }, words, { ...usual, size: '832*480' }],
    [
      'wan2.6-i2v',
      { prompt: undefined, firstFrame: picture, resolution: '1080p' },
      { img_url: PICTURE },
      { ...chosen, resolution: '1080P' },
    ],
    [
      'wan2.5-i2v-preview',
      { firstFrame: picture, aspectRatio: 'auto' },
      { ...words, img_url: PICTURE },
      { ...chosen, resolution: '720P' },
    ],
    [
      'wan2.2-kf2v-flash',
      { firstFrame: picture, lastFrame: picture },
      { ...words, first_frame_url: PICTURE, last_frame_url: PICTURE },
      { ...usual, resolution: '720P' },
    ],
    [
      'wan2.6-r2v',
      { inputReference: still, referenceVideos: [clip], aspectRatio: '9:16' },
      { ...words, reference_urls: [STILL, CLIP] },
      { ...chosen, size: '720*1280' },
    ],
    [
      'wan2.7-t2v',
      { resolution: '1080P', aspectRatio: '3:4', seconds: 7, generateAudio: true },
      words,
      { ...usual, resolution: '1080P', ratio: '3:4', duration: 7 },
    ],
    ['wan2.7-t2v', { referenceAudios: [sound] }, { ...words, audio_url: SOUND }, { ...usual, resolution: '720P' }],
    [
      'wan2.7-i2v',
      { firstFrame: picture, lastFrame: picture, referenceAudios: [sound] },
      {
        ...words,
        media: [
          { type: 'first_frame', url: PICTURE },
          { type: 'last_frame', url: PICTURE },
          { type: 'driving_audio', url: SOUND },
        ],
      },
      { ...usual, resolution: '720P' },
    ],
    [
      'wan2.7-r2v',
      { referenceImages: [picture], referenceVideos: [clip], aspectRatio: '16:9' },
      {
        ...words,
        media: [
          { type: 'reference_image', url: PICTURE },
          { type: 'reference_video', url: CLIP },
        ],
      },
      { ...usual, resolution: '720P', ratio: '16:9' },
    ],
    [
      'wan2.7-r2v',
      { referenceImages: [picture], firstFrame: picture },
      {
        ...words,
        media: [
          { type: 'first_frame', url: PICTURE },
          { type: 'reference_image', url: PICTURE },
        ],
      },
      { ...usual, resolution: '720P' },
    ],
    [
      'wan3.0-video',
      { resolution: '480p', seconds: 30, aspectRatio: 'adaptive', generateAudio: true, referenceAudios: [sound] },
      { ...words, media: [{ type: 'reference_audio', url: SOUND }] },
      { ...usual, resolution: '480P', duration: 30, audio: true },
    ],
    [
      'wan3.0-video',
      { firstFrame: picture, lastFrame: picture },
      {
        ...words,
        media: [
          { type: 'first_frame', url: PICTURE },
          { type: 'last_frame', url: PICTURE },
        ],
      },
      { ...chosen, resolution: '720P' },
    ],
    [
      'wan2.7-videoedit',
      { sourceVideo: clip, referenceImages: [picture], extra: { audio_setting: 'origin' } },
      {
        ...words,
        media: [
          { type: 'video', url: CLIP },
          { type: 'reference_image', url: PICTURE },
        ],
      },
      { prompt_extend: false, watermark: false, resolution: '720P', audio_setting: 'origin' },
    ],
  ];
  for (const [at, [model, fields, input, parameters]] of SENT.entries()) {
    test(`${at}: ${model} with ${Object.keys(fields).join(', ')}`, () =>
      withEmulator(model, async (emulator, upstream) => {
        await film(upstream, fields);
        assert.deepEqual(emulator.submissions, [{ model, input, parameters }]);
      }));
  }

  test('key frames have a path of their own', () =>
    withEmulator('wan2.2-kf2v-flash', async (emulator, upstream) => {
      await film(upstream, { firstFrame: picture });
      assert.equal(emulator.requests[0]?.path, '/api/v1/services/aigc/image2video/video-synthesis');
    }));
});

describe('what is refused before anything is sent', () => {
  const REFUSED: readonly (readonly [model: string, fields: Fields, message: string])[] = [
    ['wan2.6-t2v', { fps: 24 }, '"fps": this model takes none.'],
    ['wan2.6-t2v', { cameraFixed: true }, '"camera_fixed": this model takes none.'],
    ['wan2.6-t2v', { firstFrame: picture }, '"first_frame": this model takes none.'],
    ['wan2.6-t2v', { referenceImages: [picture] }, '"reference_image_urls": this model takes none.'],
    ['wan2.6-t2v', { inputReference: picture }, '"input_reference": this model takes none.'],
    ['wan2.6-t2v', { sourceVideo: clip }, '"ref_video_url": this model takes none.'],
    ['wan2.6-t2v', { resolution: '480p' }, '"resolution": this model takes 720p, 1080p.'],
    ['wan2.6-t2v', { seconds: 7 }, '"seconds": this model takes 5, 10, 15.'],
    ['wan2.6-t2v', { seed: 2 ** 31 }, '"seed": this model takes 0 to 2147483647.'],
    ['wan2.6-t2v', { aspectRatio: '2:1' }, '"aspect_ratio": this model takes 16:9, 9:16, 1:1, 4:3, 3:4.'],
    [
      'wan2.6-t2v',
      { size: '1280x720', resolution: '720p' },
      '"resolution": this model does not take it together with "size".',
    ],
    ['wan2.6-t2v', { prompt: undefined }, '"prompt": this model takes at least 1 character.'],
    ['wan2.6-t2v', { referenceAudios: [sound, sound] }, '"reference_audios": this model takes at most 1.'],
    [
      'wan2.6-t2v',
      { referenceAudios: [inMemoryMedia(Buffer.from('abc'), 'audio/mpeg')] },
      '"reference_audios": this model takes public addresses.',
    ],
    ['wan2.6-i2v', {}, '"first_frame": this model takes at least 1.'],
    ['wan2.6-i2v', { firstFrame: picture, aspectRatio: '16:9' }, '"aspect_ratio": this model takes none.'],
    ['wan2.6-i2v', { firstFrame: picture, lastFrame: picture }, '"last_frame": this model takes none.'],
    ['wan2.2-t2v-plus', { generateAudio: true }, '"generate_audio": this model takes none.'],
    ['wan2.2-kf2v-flash', { lastFrame: picture }, '"first_frame": this model takes at least 1.'],
    ['wan2.6-r2v', {}, '"reference_videos": this model takes at least 1.'],
    ['wan2.6-r2v', { seconds: 15, referenceVideos: [clip] }, '"seconds": this model takes 5, 10.'],
    [
      'wan2.7-r2v',
      { referenceVideos: [clip, clip], referenceImages: Array(4).fill(picture) },
      '"reference_videos": this model takes at most 5.',
    ],
    ['wan2.7-t2v', { generateAudio: false }, '"generate_audio": this model takes true.'],
    ['wan2.7-t2v', { size: '1280x720' }, '"size": this model takes none.'],
    ['wan2.7-t2v', { seconds: 2.5 }, '"seconds": this model takes whole seconds.'],
    ['wan2.7-t2v', { seconds: 16 }, '"seconds": this model takes 2 to 15.'],
    ['wan2.6-r2v', { referenceImages: [picture] }, '"reference_image_urls": this model takes public addresses.'],
    ...(
      [
        [{ referenceImages: [picture] }, 'reference_image_urls'],
        [{ referenceVideos: [clip] }, 'reference_videos'],
        [{ referenceAudios: [sound] }, 'reference_audios'],
      ] as const
    ).map(([fields, name]) => {
      const message = `"first_frame": this model does not take it together with "${name}".`;
      return ['wan3.0-video', { firstFrame: picture, ...fields }, message] as const;
    }),
    ['wan3.0-video', { sourceVideo: clip }, '"ref_video_url": this model takes none.'],
    ['wan2.7-videoedit', {}, '"ref_video_url": this model takes at least 1.'],
    [
      'wan2.7-videoedit',
      { sourceVideo: inMemoryMedia(Buffer.from('abc'), 'video/mp4') },
      '"ref_video_url": this model takes public addresses.',
    ],
    ...['input', 'parameters', 'media', 'img_url', 'duration', 'ratio', 'audio', 'reference_video_urls'].map(
      (name) => ['wan2.7-t2v', { extra: { [name]: 1 } }, `"${name}": this model takes none.`] as const,
    ),
  ];
  for (const [model, fields, message] of REFUSED) {
    test(`${model}: ${message}`, () => {
      assert.throws(
        () => video.check(plainVideo({ prompt: 'Waves', ...fields }), model),
        (error) => error instanceof ApiError && error.code === 'unsupported_parameter' && error.message === message,
      );
    });
  }
});
