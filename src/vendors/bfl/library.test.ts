import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type BlackForestLabsProvider, createBlackForestLabs } from '@ai-sdk/black-forest-labs';
import { KEY, PICTURE } from './emulator/calls.ts';
import { BflEmulator } from './emulator.ts';

const RESULTS = 'https://results.example';
const INPUT = { type: 'file', mediaType: 'image/png', data: new Uint8Array(PICTURE) } as const;
const DRAWING = { n: 1, prompt: 'A gate', size: undefined, mask: undefined } as const;
const CLIP = { n: 1, prompt: 'Waves', aspectRatio: '16:9', fps: undefined, seed: undefined } as const;
const NO_MEDIA = { frameImages: undefined, inputReferences: undefined };

type Options = Record<string, string | number | boolean>;

describe('a library that calls the vendor takes the emulator for it', () => {
  let emulator: BflEmulator;
  let library: BlackForestLabsProvider;
  beforeEach(async () => {
    emulator = new BflEmulator(KEY, PICTURE);
    await emulator.start();
    emulator.resultsAt = RESULTS;
    library = libraryOf(KEY);
  });
  afterEach(() => emulator.stop());

  /** Results have a host of their own, which the library sends no key: the emulator stands for both. */
  function libraryOf(apiKey: string): BlackForestLabsProvider {
    const emulated: typeof fetch = (input, init) =>
      fetch(typeof input === 'string' ? input.replace(RESULTS, emulator.url) : input, init);
    return createBlackForestLabs({ apiKey, baseURL: `${emulator.url}/v1`, fetch: emulated, pollIntervalMillis: 1 });
  }

  async function draw(model: string, blackForestLabs: Options = {}, by = library, files = [INPUT]) {
    const aspectRatio = model.startsWith('flux-2') ? undefined : '16:9';
    const options = { ...DRAWING, seed: 7, aspectRatio, files, providerOptions: { blackForestLabs } } as const;
    return by.image(model).doGenerate(options);
  }

  async function film(blackForestLabs: Options = {}, image?: typeof INPUT) {
    const model = library.video('flux-3-video');
    const options = { ...CLIP, ...NO_MEDIA, duration: 6, resolution: '1280x720', generateAudio: false } as const;
    const made = await model.doGenerate?.({ ...options, image, providerOptions: { blackForestLabs } });
    return made ?? assert.fail('the library makes clips');
  }

  test('pictures of each family, polled to their end and fetched', async () => {
    emulator.readsUntilDone = 2;
    const drawn = [
      await draw('flux-2-pro', { width: 1024, height: 768, outputFormat: 'png', safetyTolerance: 2 }),
      await draw('flux-2-flex', { steps: 20, guidance: 4, promptUpsampling: true }),
      await draw('flux-kontext-max'),
      await draw('flux-pro-1.1-ultra', { raw: true, imagePromptStrength: 0.2 }, library, []),
    ];
    for (const { images } of drawn)
      assert.deepEqual(
        images.map((image) => Buffer.from(image).toString()),
        [PICTURE.toString()],
      );
    assert.deepEqual(drawn[0]?.providerMetadata?.blackForestLabs?.images, [
      { seed: 7, duration: 2.5, cost: 4, inputMegapixels: 0, outputMegapixels: 1 },
    ]);
    assert.equal(emulator.sent('GET', /task-1$/).length, 3);
  });

  test('clips from words, by a frame, and out of a draft', async () => {
    const url = (id: number) => `${RESULTS}/samples/task-${id}?signature=s`;
    const clips = [
      await film({ safetyTolerance: 1, version: 'latest' }),
      await film({ draft: true }, INPUT),
      await film({ draftCache: 'https://results.example/draft.bin' }),
    ];
    assert.deepEqual(
      clips.map(({ videos }) => videos),
      [1, 2, 3].map((id) => [{ type: 'url', url: url(id), mediaType: 'video/mp4' }]),
    );
    const modes = emulator.submissions.map((body) => Object(body).mode);
    assert.deepEqual(modes, ['t2v', 'i2v', 'draft_enhance']);
  });

  test('a task that ended badly is an error', async () => {
    emulator.endings.push('Content Moderated', 'Task not found', 'Error');
    await assert.rejects(film(), /"Content Moderated".*marker/);
    await assert.rejects(film(), /"Task not found"/);
    await assert.rejects(draw('flux-2-pro'), /generation failed/);
  });

  test('refusals are errors with the vendor’s words', async () => {
    await assert.rejects(draw('flux-2-pro', {}, libraryOf('other')), { statusCode: 401, message: 'Invalid API key' });
    await assert.rejects(draw('flux-9'), { statusCode: 404 });
    await assert.rejects(draw('flux-2-pro', { width: 1023 }), { statusCode: 422, message: /multiple of 16/ });
    await assert.rejects(draw('flux-2-pro', { raw: true }), { statusCode: 422, message: /Extra inputs/ });
    emulator.activeMax = 0;
    await assert.rejects(draw('flux-2-pro'), { statusCode: 429, message: 'Too many active tasks' });
    emulator.credits = 0;
    await assert.rejects(draw('flux-2-pro'), { statusCode: 402 });
  });
});
