import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainImage, plainSound, plainVideo } from '../../../test/support/plain-requests.ts';
import { ApiError } from '../../errors.ts';
import { inMemoryMedia, type TaskWork } from '../index.ts';
import { submit, versioned, withEmulator } from './emulator/calls.ts';
import { work as replicate } from './work.ts';

const PICTURE = inMemoryMedia(Buffer.from('png'), 'image/png');
const AS_DATA = 'data:image/png;base64,cG5n';
const SOUND = inMemoryMedia(Buffer.from('mp3'), 'audio/mpeg');

/** What the emulator was sent, without the mark of the call. */
async function sent<Request>(work: TaskWork<Request> | undefined, model: string, request: Request): Promise<unknown> {
  let input: unknown;
  await withEmulator(async ({ emulator, upstream }) => {
    await submit(work, request, upstream(model));
    const { seed, ...rest } = emulator.submissions[0]?.input ?? {};
    input = seed === 7 ? { ...rest, seed } : rest;
  });
  return input;
}

function refusal<Request>(work: TaskWork<Request> | undefined, model: string, request: Request): string {
  try {
    work?.check(request, model);
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error.message;
  }
  return 'taken';
}

describe('pictures', () => {
  const prompt = 'A toll gate';
  const ROWS: readonly [model: string, fields: Parameters<typeof plainImage>[0], input: object][] = [
    [
      'flux-schnell',
      { aspectRatio: '16:9', resolution: '1k' },
      { aspect_ratio: '16:9', megapixels: '1', num_outputs: 1 },
    ],
    ['flux-schnell', { outputFormat: 'jpeg', seed: 7 }, { output_format: 'jpg', seed: 7, num_outputs: 1 }],
    ['flux-dev', { referenceImages: [PICTURE] }, { image: AS_DATA, num_outputs: 1 }],
    ['flux-2-pro', { size: '1024x768' }, { aspect_ratio: 'custom', width: 1024, height: 768 }],
    ['flux-2-pro', { referenceImages: [PICTURE, PICTURE] }, { input_images: [AS_DATA, AS_DATA] }],
    [
      'flux-2-flex',
      { resolution: '2k' },
      { aspect_ratio: 'custom', width: 2048, height: 2048, prompt_upsampling: false },
    ],
    ['flux-2-flex', { extra: { prompt_upsampling: true } }, { prompt_upsampling: true }],
    [
      'flux-1.1-pro',
      { aspectRatio: '1:1', referenceImages: [PICTURE] },
      { aspect_ratio: 'custom', width: 1024, height: 1024, image_prompt: AS_DATA },
    ],
    ['flux-1.1-pro-ultra', { aspectRatio: '21:9', extra: { raw: true } }, { aspect_ratio: '21:9', raw: true }],
    [
      'flux-kontext-pro',
      { referenceImages: [PICTURE], outputFormat: 'png' },
      { input_image: AS_DATA, output_format: 'png' },
    ],
    ['flux-fill-pro', { referenceImages: [PICTURE], mask: PICTURE }, { image: AS_DATA, mask: AS_DATA }],
  ];
  for (const [name, fields, input] of ROWS) {
    test(`${name} with ${Object.keys(fields ?? {}).join()}`, async () => {
      const model = `black-forest-labs/${name}`;
      assert.deepEqual(await sent(replicate.image, model, plainImage(fields)), { prompt, ...input });
    });
  }

  test('models of other makers', async () => {
    assert.deepEqual(await sent(replicate.image, 'google/nano-banana-pro', plainImage({ resolution: '4k' })), {
      prompt,
      resolution: '4K',
    });
    assert.deepEqual(
      await sent(replicate.image, 'google/imagen-4', plainImage({ resolution: '2k', aspectRatio: '3:4' })),
      {
        prompt,
        image_size: '2K',
        aspect_ratio: '3:4',
      },
    );
    assert.deepEqual(await sent(replicate.image, 'bytedance/seedream-4', plainImage({ resolution: '2k' })), {
      prompt,
      size: '2K',
      enhance_prompt: false,
      sequential_image_generation: 'disabled',
    });
    const custom = { size: 'custom', width: 3000, height: 2000 };
    assert.deepEqual(await sent(replicate.image, 'bytedance/seedream-4', plainImage({ size: '3000x2000' })), {
      ...{ prompt, ...custom },
      ...{ enhance_prompt: false, sequential_image_generation: 'disabled' },
    });
  });

  test('several are one call where the model can be asked for several', () =>
    withEmulator(async ({ emulator, upstream }) => {
      const order = { id: 'o', count: 3, startWithinMs: 1000 };
      await submit(replicate.image, plainImage({ n: 3 }), upstream('black-forest-labs/flux-schnell'), order);
      assert.equal(emulator.submissions[0]?.input.num_outputs, 3);
      assert.equal(replicate.image?.perCall(plainImage(), 'black-forest-labs/flux-schnell'), 4);
      assert.equal(replicate.image?.perCall(plainImage(), 'black-forest-labs/flux-2-pro'), 1);
    }));

  const REFUSED: readonly [model: string, fields: Parameters<typeof plainImage>[0], message: string][] = [
    ['b/flux-schnell', { resolution: '2k' }, '"resolution": this model takes 1k.'],
    ['b/flux-schnell', { size: '1024x1024' }, '"size": this model takes none.'],
    ['b/flux-schnell', { referenceImages: [PICTURE] }, '"reference_images": this model takes none.'],
    ['b/flux-2-pro', { negativePrompt: 'fog' }, '"negative_prompt": this model takes none.'],
    ['b/flux-2-pro', { size: '1000x1000' }, '"size": this model takes sides that divide by 32.'],
    [
      'b/flux-2-pro',
      { size: '64x64', resolution: '1k' },
      '"resolution": this model does not take it together with "size".',
    ],
    ['b/flux-2-pro', { referenceImages: Array(9).fill(PICTURE) }, '"reference_images": this model takes at most 8.'],
    ['b/flux-kontext-pro', { outputFormat: 'webp' }, '"output_format": this model takes jpeg, png.'],
    ['b/flux-fill-pro', {}, '"reference_images": this model takes at least 1.'],
    ['b/seedream-4', { size: '512x512' }, '"size": this model takes sides of 1024 to 4096.'],
    ['b/flux-2-dev', { resolution: '2k' }, '"resolution": this model takes 1k.'],
    ['b/any', { extra: { width: 4096 } }, '"width": this model takes none.'],
    ['b/any', { extra: { num_outputs: 4 } }, '"num_outputs": this model takes none.'],
    ['b/any', { watermark: true }, '"watermark": this model takes none.'],
  ];
  for (const [model, fields, message] of REFUSED) {
    test(`${model} refuses ${JSON.stringify(fields).slice(0, 60)}`, () =>
      assert.equal(refusal(replicate.image, model, plainImage(fields)), message));
  }
});

describe('clips', () => {
  const prompt = 'Waves';
  const HD = { resolution: '720p' };
  const ROWS: readonly [model: string, fields: Parameters<typeof plainVideo>[0], input: object][] = [
    [
      'bytedance/seedance-1-pro',
      { seconds: 5, fps: 24, cameraFixed: true },
      { ...HD, duration: 5, fps: 24, camera_fixed: true },
    ],
    [
      'bytedance/seedance-1-pro',
      { firstFrame: PICTURE, lastFrame: PICTURE },
      { ...HD, image: AS_DATA, last_frame_image: AS_DATA },
    ],
    ['bytedance/seedance-1.5-pro', { resolution: '1080p' }, { resolution: '1080p', generate_audio: false }],
    ['google/veo-3.1', { generateAudio: true, seconds: 8 }, { ...HD, generate_audio: true, duration: 8 }],
    [
      'google/veo-3.1',
      { inputReference: PICTURE, referenceImages: [PICTURE] },
      { ...HD, reference_images: [AS_DATA, AS_DATA], generate_audio: false },
    ],
    [
      'kwaivgi/kling-v2.6',
      { firstFrame: PICTURE, aspectRatio: '9:16' },
      { start_image: AS_DATA, aspect_ratio: '9:16', generate_audio: false },
    ],
    ['kwaivgi/kling-v2.5-turbo-pro', { negativePrompt: 'fog', seconds: 10 }, { negative_prompt: 'fog', duration: 10 }],
    ['minimax/hailuo-02', { seconds: 10 }, { duration: 10, resolution: '768p', prompt_optimizer: false }],
  ];
  for (const [model, fields, input] of ROWS) {
    test(`${model} with ${Object.keys(fields ?? {}).join()}`, async () =>
      assert.deepEqual(await sent(replicate.video, model, plainVideo({ prompt, ...fields })), { prompt, ...input }));
  }

  const REFUSED: readonly [model: string, fields: Parameters<typeof plainVideo>[0], message: string][] = [
    ['google/veo-3.1', { seconds: 5 }, '"seconds": this model takes 4, 6, 8.'],
    ['bytedance/seedance-1-pro', { seconds: 2.5 }, '"seconds": this model takes whole seconds.'],
    ['bytedance/seedance-1-pro', { seconds: 20 }, '"seconds": this model takes 2 to 12.'],
    ['bytedance/seedance-1-pro', { generateAudio: true }, '"generate_audio": this model takes none.'],
    // A picture to go by is never a frame.
    ['kwaivgi/kling-v2.6', { inputReference: PICTURE }, '"input_reference": this model takes none.'],
    ['kwaivgi/kling-v2.5-turbo-pro', { lastFrame: PICTURE }, '"first_frame": this model takes at least 1.'],
    ['google/veo-3', { lastFrame: PICTURE, firstFrame: PICTURE }, '"last_frame": this model takes none.'],
    ['kwaivgi/kling-v2.1', { extra: { mode: 'pro' } }, '"mode": this model takes none.'],
    ['kwaivgi/kling-v2.1', {}, '"first_frame": this model takes at least 1.'],
    ['google/veo-3.1', { prompt: undefined, firstFrame: PICTURE }, '"prompt": this model takes at least 1 character.'],
    ['google/veo-3.1', { inputReference: PICTURE, seconds: 4 }, '"seconds": this model takes 8.'],
    ['google/veo-3.1', { inputReference: PICTURE, aspectRatio: '9:16' }, '"aspect_ratio": this model takes 16:9.'],
    [
      'google/veo-3.1',
      { inputReference: PICTURE, firstFrame: PICTURE, lastFrame: PICTURE },
      '"last_frame": this model does not take it together with "reference_image_urls".',
    ],
    ['google/veo-3.1-fast', { inputReference: PICTURE }, '"input_reference": this model takes none.'],
    ['minimax/hailuo-02', { seconds: 10, resolution: '1080p' }, '"seconds": this model takes 6.'],
    [
      'bytedance/seedance-2.0',
      { inputReference: PICTURE, firstFrame: PICTURE },
      '"first_frame": this model does not take it together with "reference_image_urls".',
    ],
    ['bytedance/seedance-2.0', { referenceAudios: [SOUND] }, '"reference_image_urls": this model takes at least 1.'],
    [
      'bytedance/seedance-2.0',
      { referenceAudios: [SOUND, SOUND, SOUND, SOUND] },
      '"reference_audios": this model takes at most 3.',
    ],
  ];
  for (const [model, fields, message] of REFUSED) {
    test(`${model} refuses ${Object.keys(fields ?? {}).join()}`, () =>
      assert.equal(refusal(replicate.video, model, plainVideo({ prompt, ...fields })), message));
  }
});

describe('music', () => {
  const prompt = 'A waltz';
  const [style, lyrics] = ['A slow waltz', 'La la, la la'];
  const ROWS: readonly [model: string, fields: Parameters<typeof plainSound>[0], input: object][] = [
    [
      'minimax/music-1.5',
      { prompt: style, lyrics, format: 'wav', bitrate: 128 },
      { prompt: style, lyrics, audio_format: 'wav', bitrate: 128_000 },
    ],
    [
      'elevenlabs/music',
      { prompt, durationSeconds: 30.5, instrumental: true },
      { prompt, music_length_ms: 30_500, force_instrumental: true },
    ],
    ['elevenlabs/music', { prompt, format: 'mp3' }, { prompt, force_instrumental: false }],
    ['minimax/music-01', { lyrics, referenceAudio: [SOUND] }, { lyrics, song_file: 'data:audio/mpeg;base64,bXAz' }],
    [
      'stability-ai/stable-audio-2.5',
      { input: prompt, durationSeconds: 20, seed: 7, guidanceScale: 2 },
      { prompt, duration: 20, seed: 7, cfg_scale: 2 },
    ],
    [
      versioned('meta/musicgen'),
      { prompt, referenceAudio: [SOUND], format: 'mp3' },
      { prompt, input_audio: 'data:audio/mpeg;base64,bXAz', output_format: 'mp3' },
    ],
  ];
  for (const [model, fields, input] of ROWS) {
    test(`${model.slice(0, 40)} with ${Object.keys(fields ?? {}).join()}`, async () =>
      assert.deepEqual(await sent(replicate.music, model, plainSound(fields)), input));
  }

  test('what is missing or does not fit is refused', () => {
    const refused = (model: string, fields: Parameters<typeof plainSound>[0]) =>
      refusal(replicate.music, model, plainSound(fields));
    assert.equal(refused('google/lyria-2', {}), '"prompt": this model takes at least 1 character.');
    assert.equal(
      refused('google/lyria-2', { prompt, durationSeconds: 5 }),
      '"duration_seconds": this model takes none.',
    );
    assert.equal(
      refused('s/stable-audio-2.5', { prompt, durationSeconds: 191 }),
      '"duration_seconds": this model takes 1 to 190.',
    );
    assert.equal(refused('minimax/music-1.5', { prompt: style }), '"lyrics": this model takes at least 1 character.');
    assert.equal(refused('minimax/music-1.5', { lyrics }), '"prompt": this model takes at least 1 character.');
    assert.equal(
      refused('minimax/music-1.5', { input: 'x', lyrics }),
      '"input": this model takes at least 10 characters.',
    );
    assert.equal(refused('minimax/music-2.5', { lyrics }), 'taken');
    assert.equal(refused('minimax/music-01', { lyrics, prompt }), '"prompt": this model takes none.');
    assert.equal(
      refused('a/b', { prompt, input: 'x' }),
      '"input": this model does not take it together with "prompt".',
    );
  });
});
