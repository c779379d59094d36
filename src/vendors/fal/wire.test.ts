import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import type { EndpointTypeMap } from '@fal-ai/client/endpoints';
import { type JsonObject, parseJson } from '../../json.ts';
import type { ImageRequest, SoundRequest, VideoRequest } from '../../schemas/index.ts';
import type { Media, TaskWork } from '../index.ts';
import {
  image,
  imageRequest,
  KEY,
  mediaOf,
  music,
  ORDER,
  PNG_URI,
  picture,
  soundRequest,
  video,
  videoRequest,
  withEmulator,
} from './emulator/calls.ts';

const MIB = 1024 * 1024;
const clip = mediaOf('video/mp4', Buffer.alloc(6 * MIB), 'https://files.example/clip.mp4');
const voice = mediaOf('audio/mpeg', Buffer.from('voice'), 'https://files.example/voice.mp3');
const VOICE_URI = `data:audio/mpeg;base64,${Buffer.from('voice').toString('base64')}`;

/** What a request becomes on the wire, in the vendor's own types. The emulator refuses what the model does not take. */
interface Row<Request> {
  readonly model: string;
  readonly asked: Partial<Request>;
  readonly wire: object;
  readonly count?: number;
}

function row<Request, Id extends keyof EndpointTypeMap>(
  model: Id,
  asked: Partial<Request>,
  wire: EndpointTypeMap[Id]['input'],
  count = 1,
): Row<Request> {
  return { model, asked, wire, count };
}

async function wireOf<Request>(work: TaskWork<Request>, request: Request, model: string, count = 1): Promise<string> {
  let sent = '';
  await withEmulator({}, async (emulator, upstream) => {
    work.check(request, model);
    assert.ok(count <= work.perCall(request, model));
    const { state } = await work.submit(request, { ...ORDER, count }, { ...upstream, model });
    assert.equal(state, 'accepted');
    const [submission] = emulator.requests;
    assert.equal(`${submission?.method} ${submission?.path}`, `POST /${model}`);
    sent = submission?.bytes.toString() ?? '';
  });
  return sent;
}

const prompt = 'A lighthouse';

const IMAGES: readonly Row<ImageRequest<Media>>[] = [
  row('fal-ai/flux/dev', {}, { prompt, num_images: 1 }),
  row(
    'fal-ai/flux/dev',
    { size: '768x512', outputFormat: 'png', seed: 7, watermark: false, responseFormat: 'b64_json' },
    { prompt, image_size: { width: 768, height: 512 }, output_format: 'png', seed: 7, num_images: 4 },
    4,
  ),
  row('fal-ai/flux/dev', { aspectRatio: '16:9' }, { prompt, image_size: 'landscape_16_9', num_images: 1 }),
  row('fal-ai/flux/dev/image-to-image', { referenceImages: [picture] }, { prompt, image_url: PNG_URI, num_images: 1 }),
  row(
    'fal-ai/flux-2/edit',
    { referenceImages: [picture, picture], outputFormat: 'webp' },
    { prompt, image_urls: [PNG_URI, PNG_URI], output_format: 'webp', num_images: 3 },
    3,
  ),
  row(
    'fal-ai/flux-2-pro',
    { resolution: '1k', aspectRatio: '3:2' },
    { prompt, image_size: { width: 1248, height: 832 } },
  ),
  row(
    'fal-ai/flux-pro/kontext',
    { aspectRatio: '21:9', referenceImages: [picture] },
    { prompt, aspect_ratio: '21:9', image_url: PNG_URI, num_images: 1 },
  ),
  row(
    'fal-ai/flux-pro/v1/fill',
    { referenceImages: [picture], mask: picture },
    { prompt, image_url: PNG_URI, mask_url: PNG_URI, num_images: 1 },
  ),
  row(
    'fal-ai/bytedance/seedream/v4/text-to-image',
    { resolution: '4k' },
    { prompt, image_size: 'auto_4K', max_images: 1, num_images: 2 },
    2,
  ),
  row(
    'fal-ai/bytedance/seedream/v4/edit',
    { resolution: '2k', aspectRatio: '9:16', referenceImages: [picture], extra: { max_images: 6 } },
    { prompt, image_size: { width: 1536, height: 2720 }, image_urls: [PNG_URI], max_images: 1, num_images: 1 },
  ),
  row(
    'fal-ai/nano-banana-pro',
    { resolution: '2k', aspectRatio: '4:5', outputFormat: 'jpeg' },
    { prompt, resolution: '2K', aspect_ratio: '4:5', output_format: 'jpeg', num_images: 1 },
  ),
  row(
    'fal-ai/nano-banana/edit',
    { referenceImages: [picture], aspectRatio: 'auto' },
    { prompt, aspect_ratio: 'auto', image_urls: [PNG_URI], num_images: 1 },
  ),
  row(
    'fal-ai/gpt-image-1.5/edit',
    { size: '1536x1024', quality: 'high', background: 'transparent', referenceImages: [picture], mask: picture },
    {
      prompt,
      image_size: '1536x1024',
      quality: 'high',
      background: 'transparent',
      image_urls: [PNG_URI],
      mask_image_url: PNG_URI,
      num_images: 1,
    },
  ),
  // A model of no family.
  row(
    'fal-ai/minimax/image-01/subject-reference',
    { aspectRatio: '3:2', referenceImages: [picture] },
    { prompt, aspect_ratio: '3:2', image_url: PNG_URI, num_images: 1 },
  ),
];

const moving = 'Waves at night';
const VIDEOS: readonly Row<VideoRequest<Media>>[] = [
  row(
    'fal-ai/kling-video/v2.6/pro/text-to-video',
    { seconds: 10, aspectRatio: '9:16', negativePrompt: 'fog', generateAudio: true },
    { prompt: moving, duration: '10', aspect_ratio: '9:16', negative_prompt: 'fog', generate_audio: true },
  ),
  row(
    'fal-ai/kling-video/v2.6/pro/image-to-video',
    { seconds: 5, firstFrame: picture, lastFrame: picture },
    { prompt: moving, duration: '5', start_image_url: PNG_URI, end_image_url: PNG_URI, generate_audio: false },
  ),
  row(
    'fal-ai/kling-video/v2.5-turbo/pro/image-to-video',
    { firstFrame: picture, lastFrame: picture, generateAudio: false },
    { prompt: moving, image_url: PNG_URI, tail_image_url: PNG_URI },
  ),
  row(
    'fal-ai/kling-video/o1/reference-to-video',
    { inputReference: picture, referenceImages: [picture], aspectRatio: '1:1' },
    { prompt: moving, image_urls: [PNG_URI, PNG_URI], aspect_ratio: '1:1' },
  ),
  row(
    'fal-ai/kling-video/o1/video-to-video/edit',
    { sourceVideo: clip },
    { prompt: moving, video_url: 'https://files.example/clip.mp4' },
  ),
  row(
    'fal-ai/bytedance/seedance/v1.5/pro/image-to-video',
    { seconds: 12, resolution: '720p', aspectRatio: '16:9', cameraFixed: true, seed: 3, firstFrame: picture },
    {
      prompt: moving,
      duration: '12',
      resolution: '720p',
      aspect_ratio: '16:9',
      camera_fixed: true,
      seed: 3,
      image_url: PNG_URI,
      generate_audio: false,
    },
  ),
  row(
    'fal-ai/bytedance/seedance/v1/lite/reference-to-video',
    { referenceImages: [picture] },
    { prompt: moving, reference_image_urls: [PNG_URI] },
  ),
  {
    model: 'bytedance/seedance-2.0/reference-to-video',
    asked: { seconds: 15, inputReference: picture, referenceVideos: [clip], referenceAudios: [voice] },
    wire: {
      prompt: moving,
      duration: '15',
      image_urls: [PNG_URI],
      video_urls: ['https://files.example/clip.mp4'],
      audio_urls: [VOICE_URI],
      generate_audio: false,
    },
  },
  row(
    'fal-ai/veo3.1',
    { seconds: 8, resolution: '1080p', aspectRatio: '16:9', generateAudio: true, seed: 3, negativePrompt: 'fog' },
    {
      prompt: moving,
      duration: '8s',
      resolution: '1080p',
      aspect_ratio: '16:9',
      generate_audio: true,
      seed: 3,
      negative_prompt: 'fog',
    },
  ),
  row(
    'fal-ai/veo3.1/first-last-frame-to-video',
    { resolution: '4k', firstFrame: picture, lastFrame: picture },
    {
      prompt: moving,
      resolution: '4k',
      first_frame_url: PNG_URI,
      last_frame_url: PNG_URI,
      generate_audio: false,
    },
  ),
  row(
    'fal-ai/veo3.1/reference-to-video',
    { referenceImages: [picture, picture, picture] },
    { prompt: moving, image_urls: [PNG_URI, PNG_URI, PNG_URI], generate_audio: false },
  ),
  // A model of no family, and no prompt.
  row(
    'fal-ai/wan/v2.7/image-to-video',
    { prompt: undefined, seconds: 6, resolution: '720p', firstFrame: picture, lastFrame: picture, seed: 1 },
    { duration: '6', resolution: '720p', image_url: PNG_URI, end_image_url: PNG_URI, seed: 1 },
  ),
];

const waltz = 'A slow waltz for two violins';
const lyrics = 'La la la, la la la';
const SOUNDS: readonly Row<SoundRequest<Media>>[] = [
  row(
    'fal-ai/elevenlabs/music',
    { durationSeconds: 30.5, instrumental: true },
    { prompt: waltz, music_length_ms: 30_500, force_instrumental: true },
  ),
  row(
    'fal-ai/elevenlabs/music',
    { prompt: undefined, input: waltz, format: 'mp3', bitrate: 192 },
    { prompt: waltz, output_format: 'mp3_44100_192' },
  ),
  row('fal-ai/elevenlabs/music', { format: 'pcm', sampleRate: 48_000 }, { prompt: waltz, output_format: 'pcm_48000' }),
  row('fal-ai/elevenlabs/music', { format: 'opus' }, { prompt: waltz, output_format: 'opus_48000_128' }),
  row(
    'fal-ai/elevenlabs/sound-effects/v2',
    { durationSeconds: 2.5, loop: true, promptInfluence: 0.5 },
    { text: waltz, duration_seconds: 2.5, loop: true, prompt_influence: 0.5 },
  ),
  row(
    'fal-ai/minimax-music/v2',
    { lyrics, format: 'flac', sampleRate: 44_100, bitrate: 128_000, instrumental: false },
    {
      prompt: waltz,
      lyrics_prompt: lyrics,
      audio_setting: { format: 'flac', sample_rate: '44100', bitrate: '128000' },
    },
  ),
  {
    model: 'fal-ai/minimax-music/v2.6',
    asked: { instrumental: true, bitrate: 128 },
    wire: { prompt: waltz, is_instrumental: true, audio_setting: { bitrate: '128000' } },
  },
  row('fal-ai/minimax-music', { referenceAudio: [voice] }, { prompt: waltz, reference_audio_url: VOICE_URI }),
  row('fal-ai/stable-audio', { durationSeconds: 30 }, { prompt: waltz, seconds_total: 30 }),
  row(
    'fal-ai/stable-audio-25/text-to-audio',
    { durationSeconds: 190, seed: 5, guidanceScale: 7 },
    { prompt: waltz, seconds_total: 190, seed: 5, guidance_scale: 7 },
  ),
  row(
    'fal-ai/stable-audio-25/audio-to-audio',
    { durationSeconds: 20, referenceAudio: [voice] },
    { prompt: waltz, total_seconds: 20, audio_url: VOICE_URI },
  ),
  // A model of no family.
  row(
    'fal-ai/ace-step/prompt-to-audio',
    { durationSeconds: 60, instrumental: true, seed: 5 },
    { prompt: waltz, duration: 60, instrumental: true, seed: 5 },
  ),
];

describe('each family is asked in its own words', () => {
  for (const { model, asked, wire, count } of IMAGES) {
    test(`a picture of ${model} with ${Object.keys(asked).join(', ') || 'a prompt alone'}`, async () => {
      assert.deepEqual(JSON.parse(await wireOf(image, imageRequest(asked), model, count)), wire);
    });
  }
  for (const { model, asked, wire } of VIDEOS) {
    test(`a clip of ${model} with ${Object.keys(asked).join(', ')}`, async () => {
      assert.deepEqual(JSON.parse(await wireOf(video, videoRequest(asked), model)), wire);
    });
  }
  for (const { model, asked, wire } of SOUNDS) {
    test(`music of ${model} with ${Object.keys(asked).join(', ')}`, async () => {
      assert.deepEqual(JSON.parse(await wireOf(music, soundRequest(asked), model)), wire);
    });
  }
});

test('R-319 unmodelled keys are sent as they were written, and modelled ones win over them', async () => {
  const written = '{"seed":9007199254740993,"guidance_scale":3.0,"enable_safety_checker":false,"prompt":"another"}';
  const extra = parseJson(written).exact() as JsonObject;
  const sent = await wireOf(image, imageRequest({ extra }), 'fal-ai/flux/dev');
  assert.equal(
    sent,
    '{"seed":9007199254740993,"guidance_scale":3.0,"enable_safety_checker":false,"prompt":"A lighthouse","num_images":1}',
  );
});

test('R-322 a key such as __proto__ is plain data', () =>
  withEmulator({}, async (emulator, upstream) => {
    const extra = parseJson('{"__proto__":{"seed":1},"constructor":1.0}').exact() as JsonObject;
    await assert.rejects(image.submit(imageRequest({ extra }), ORDER, upstream), { fault: 'client' });
    assert.equal(
      emulator.requests[0]?.bytes.toString(),
      '{"__proto__":{"seed":1},"constructor":1.0,"prompt":"A lighthouse","num_images":1}',
    );
  }));

const ADDRESS = 'https://files.example/a.png';
const SIZES: readonly { name: string; bytes: number; url: string | undefined; sent: 'itself' | 'as its address' }[] = [
  { name: 'of exactly 5 MiB', bytes: 5 * MIB, url: ADDRESS, sent: 'itself' },
  { name: 'a byte larger', bytes: 5 * MIB + 1, url: ADDRESS, sent: 'as its address' },
  { name: 'a byte larger that nobody else can fetch', bytes: 5 * MIB + 1, url: undefined, sent: 'itself' },
];
for (const { name, bytes, url, sent } of SIZES) {
  test(`a picture ${name} is sent ${sent}`, async () => {
    const data = randomBytes(bytes);
    const request = imageRequest({ referenceImages: [picture, mediaOf('image/png', data, url)] });
    const { image_urls: urls } = JSON.parse(await wireOf(image, request, 'fal-ai/flux-2/edit'));
    const expected = sent === 'itself' ? `data:image/png;base64,${data.toString('base64')}` : ADDRESS;
    assert.ok(urls[0] === PNG_URI && urls[1] === expected);
  });
}

test('a picture is read when its turn comes, and not before', () =>
  withEmulator({}, async (emulator, upstream) => {
    const [asked, given] = [Promise.withResolvers<void>(), Promise.withResolvers<Buffer>()];
    let reads = 0;
    const first: Media = {
      ...picture,
      async *pieces() {
        asked.resolve();
        yield await given.promise;
      },
    };
    const second: Media = {
      ...picture,
      async *pieces() {
        reads++;
        yield* picture.pieces();
      },
    };
    const request = imageRequest({ referenceImages: [first, second] });
    const submission = image.submit(request, ORDER, { ...upstream, model: 'fal-ai/flux-2/edit' });
    await asked.promise;
    assert.equal(reads, 0);
    given.resolve(await picture.read());
    await submission;
    assert.equal(reads, 1);
    assert.deepEqual(emulator.tasks[0]?.input.image_urls, [PNG_URI, PNG_URI]);
  }));

test('a picture that cannot be read is nobody’s task, and no fault of the upstream', () =>
  withEmulator({}, async (emulator, upstream) => {
    const gone: Media = {
      ...picture,
      async *pieces() {
        yield Buffer.alloc(0);
        throw new Error('gone');
      },
    };
    const request = imageRequest({ referenceImages: [gone] });
    const submission = image.submit(request, ORDER, { ...upstream, model: 'fal-ai/flux-2/edit' });
    await assert.rejects(submission, { message: 'gone' });
    assert.equal(emulator.tasks.length, 0);
  }));

for (const [startWithinMs, header] of [
  [600_000, '600'],
  [2_999, '2'],
  [1_000, '2'],
  [1, '2'],
] as const) {
  test(`work that must begin within ${startWithinMs} ms is given ${header} seconds`, () =>
    withEmulator({}, async (emulator, upstream) => {
      await image.submit(imageRequest(), { ...ORDER, startWithinMs }, upstream);
      const { headers } = emulator.requests[0] ?? {};
      assert.equal(headers?.['x-fal-request-timeout'], header);
      assert.equal(headers?.['content-type'], 'application/json');
      assert.equal(headers?.authorization, `Key ${KEY}`);
      assert.equal(headers?.['user-agent'], undefined);
    }));
}
