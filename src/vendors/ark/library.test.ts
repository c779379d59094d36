import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type ByteDanceProvider, createByteDance } from '@ai-sdk/bytedance';
import { KEY } from './emulator/calls.ts';
import { ArkEmulator } from './emulator.ts';

const files = { clip: Buffer.from('a clip'), picture: Buffer.from('a picture') };
const PICTURE = { type: 'file', mediaType: 'image/png', data: new Uint8Array(files.picture) } as const;
const DRAWING = { n: 1, prompt: 'A gate', aspectRatio: undefined, seed: undefined, mask: undefined } as const;
const CLIP = { n: 1, prompt: 'Waves', aspectRatio: '16:9', fps: undefined, seed: 7 } as const;
const NOTHING_MORE = { frameImages: undefined, inputReferences: undefined, generateAudio: undefined };
const POLLING = { pollIntervalMs: 1 };

describe('a library that calls the vendor takes the emulator for it', () => {
  let emulator: ArkEmulator;
  let library: ByteDanceProvider;
  beforeEach(async () => {
    emulator = new ArkEmulator(KEY, files);
    await emulator.start();
    library = libraryOf(KEY);
  });
  afterEach(() => emulator.stop());
  const libraryOf = (apiKey: string) => createByteDance({ apiKey, baseURL: emulator.url });

  async function draw(bytedance: Record<string, string | number | boolean> = {}, by = library) {
    const options = { ...DRAWING, files: [PICTURE, PICTURE], providerOptions: { bytedance } };
    return by.image('seedream-5-0-260128').doGenerate({ ...options, size: '2048x2048' });
  }

  async function film(bytedance: Record<string, string | number | boolean> = {}, image?: typeof PICTURE) {
    const options = { ...CLIP, ...NOTHING_MORE, duration: 5, resolution: '1280x720', image } as const;
    return library
      .video('seedance-1-5-pro-251215')
      .doGenerate({ ...options, providerOptions: { bytedance: { ...POLLING, ...bytedance } } });
  }

  test('pictures by pictures, alone and as a series', async () => {
    const base64 = files.picture.toString('base64');
    const { images, warnings } = await draw({ watermark: false, outputFormat: 'png', optimizePromptMode: 'fast' });
    assert.deepEqual([images, warnings], [[base64], []]);
    const series = await draw({ sequentialImageGeneration: 'auto', maxImages: 3 });
    assert.deepEqual(series.images, [base64, base64, base64]);
  });

  test('a clip from words, and one between two frames, are polled to their end', async () => {
    emulator.readsUntilDone = 2;
    const { videos, providerMetadata } = await film({ generateAudio: false, watermark: false, serviceTier: 'flex' });
    assert.deepEqual(videos, [{ type: 'url', url: `${emulator.origin}/files/clip?sign=s`, mediaType: 'video/mp4' }]);
    assert.deepEqual(providerMetadata?.bytedance, { taskId: 'cgt-1', usage: { completion_tokens: 108_900 } });
    assert.equal(emulator.sent('GET', /cgt-1$/).length, 3);
    // The library names no role for a picture that is alone.
    await film({}, PICTURE);
    await film({ lastFrameImage: 'https://pictures.example/end.png', draft: true }, PICTURE);
    assert.equal(emulator.tasks.length, 3);
  });

  test('a task that failed is an error', async () => {
    emulator.endings.push({ code: 'OutputVideoSensitiveContentDetected' });
    await assert.rejects(film(), { name: 'BYTEDANCE_VIDEO_GENERATION_FAILED' });
  });

  test('refusals are errors with the vendor’s words', async () => {
    await assert.rejects(draw({}, libraryOf('other')), /API key in the request is missing or invalid/);
    await assert.rejects(draw({ odd: 1 }), { statusCode: 400, message: /parameter `odd`/ });
    await assert.rejects(film({ lastFrameImage: 'nowhere' }, PICTURE), { statusCode: 400, message: /`content`/ });
    const unknown = library
      .image('seedream-9')
      .doGenerate({ ...DRAWING, size: undefined, files: [], providerOptions: {} });
    await assert.rejects(async () => unknown, { statusCode: 404 });
    emulator.activeMax = 0;
    await assert.rejects(film(), { statusCode: 429 });
    emulator.isOverdue = true;
    await assert.rejects(draw(), { statusCode: 403, message: /overdue/ });
  });
});
