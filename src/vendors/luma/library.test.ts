import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import LumaAI from 'lumaai';
import { KEY, RESULTS } from './emulator/calls.ts';
import { LumaEmulator } from './emulator.ts';

const PICTURE = 'https://pictures.example/a.png';

describe('the vendor’s own library takes the emulator for the vendor', () => {
  let emulator: LumaEmulator;
  let library: LumaAI;
  const libraryOf = (authToken: string) => new LumaAI({ authToken, baseURL: emulator.url, maxRetries: 0 });
  beforeEach(async () => {
    emulator = new LumaEmulator(KEY, RESULTS);
    await emulator.start();
    library = libraryOf(KEY);
  });
  afterEach(() => emulator.stop());

  async function assetOf(id = ''): Promise<LumaAI.Generation['assets']> {
    for (;;) {
      const { state, assets } = await library.generations.get(id);
      if (state === 'completed') return assets;
      assert.equal(state, 'dreaming');
    }
  }

  test('a clip with every field, from its submission to its bytes', async () => {
    const begun = await library.generations.video.create({
      model: 'ray-2',
      prompt: 'Waves',
      aspect_ratio: '16:9',
      duration: '9s',
      resolution: '1080p',
      loop: true,
      generation_type: 'video',
      callback_url: 'https://calls.example/back',
      concepts: [{ key: 'dolly_zoom' }],
      keyframes: { frame0: { type: 'image', url: PICTURE }, frame1: { type: 'generation', id: 'generation-0' } },
    });
    assert.deepEqual([begun.state, begun.generation_type, begun.model], ['queued', 'video', 'ray-2']);
    const { video = '' } = (await assetOf(begun.id)) ?? {};
    assert.equal(await (await fetch(video)).text(), RESULTS.video.toString());
  });

  test('a picture with every field, and a clip out of another', async () => {
    const picture = await library.generations.image.create({
      model: 'photon-flash-1',
      prompt: 'A gate',
      aspect_ratio: '1:1',
      format: 'png',
      generation_type: 'image',
      image_ref: [{ url: PICTURE, weight: 0.5 }],
      style_ref: [{ url: PICTURE, weight: 1 }],
      character_ref: { identity0: { images: [PICTURE] } },
      modify_image_ref: { url: PICTURE, weight: 0 },
    });
    assert.match((await assetOf(picture.id))?.image ?? '', /generation-1\.jpg$/);
    const change = { generation_type: 'modify_video', mode: 'flex_2', media: { url: PICTURE } } as const;
    const clip = await library.generations.video.modify({ ...change, model: 'ray-flash-2', prompt: 'Night' });
    assert.match((await assetOf(clip.id))?.video ?? '', /generation-2\.mp4$/);
  });

  test('generations are listed, the newest first, and deleted', async () => {
    for (const prompt of ['One', 'Two', 'Three']) await library.generations.video.create({ model: 'ray-2', prompt });
    const page = await library.generations.list({ limit: 2, offset: 0 });
    assert.deepEqual(
      page.generations.map(({ id, state }) => [id, state]),
      [
        ['generation-3', 'queued'],
        ['generation-2', 'queued'],
      ],
    );
    assert.equal(page.has_more, true);
    await library.generations.delete('generation-3');
    await assert.rejects(library.generations.get('generation-3'), LumaAI.NotFoundError);
    assert.equal((await library.generations.list()).count, 2);
    assert.equal((await library.credits.get()).credit_balance, 1000);
    assert.equal((await library.ping.check()).message, 'pong');
  });

  test('a generation that failed says why', async () => {
    emulator.readsUntilDone = 0;
    emulator.reasons.push('Content moderation failed');
    const { id = '' } = await library.generations.image.create({ model: 'photon-1', prompt: 'x' });
    const { state, failure_reason } = await library.generations.get(id);
    assert.deepEqual([state, failure_reason], ['failed', 'Content moderation failed']);
  });

  test('each refusal is an error of its own kind', async () => {
    const draw = (fields: object = {}, by = library) =>
      by.generations.image.create({ model: 'photon-1', prompt: 'A gate', ...fields });
    await assert.rejects(draw({}, libraryOf('other')), LumaAI.AuthenticationError);
    await assert.rejects(draw({ model: 'photon-9' }), LumaAI.UnprocessableEntityError);
    await assert.rejects(draw({ seed: 7 }), LumaAI.UnprocessableEntityError);
    await assert.rejects(draw({ image_ref: [{ url: 'data:image/png;base64,YQ==' }] }), LumaAI.UnprocessableEntityError);
    emulator.forbidden = /gate/;
    await assert.rejects(draw(), /moderation/);
    emulator.credits = 0;
    await assert.rejects(draw(), /Insufficient credits/);
    emulator.credits = 100;
    emulator.activeMax = 0;
    await assert.rejects(draw({ prompt: 'x' }), LumaAI.RateLimitError);
  });
});
