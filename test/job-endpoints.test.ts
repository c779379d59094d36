import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { tracesOf } from './support/keeping.ts';
import { MUSIC, musicModel, VIDEOS, videoModel } from './support/media-models.ts';
import { moneyOf, paidCaller, tokenModel } from './support/paid-calls.ts';
import { IMAGES, imageModel, Studio } from './support/studio.ts';

const EDITS = '/v1/images/edits';
const toPicture = [{ upstream: 'queue', model: 'fal-ai/flux/dev' }];
const MODELS = [
  imageModel('only/images', toPicture, { endpoints: ['images'] }),
  imageModel('only/image_edits', [{ upstream: 'queue', model: 'fal-ai/flux-2/edit' }], { endpoints: ['image_edits'] }),
  videoModel('only/videos', [{ upstream: 'queue', model: 'fal-ai/veo3.1' }]),
  musicModel('only/audio_music', [{ upstream: 'queue', model: 'fal-ai/elevenlabs/music' }]),
  tokenModel('only/chat', ['direct']),
];
const ROUTES = { images: IMAGES, image_edits: EDITS, videos: VIDEOS, audio_music: MUSIC };
const PICTURE = 'data:image/png;base64,iVBORw0KGgo=';

const studio = new Studio();
before(async () => {
  await studio.start();
  await studio.gateway.putConfig(studio.document({}, MODELS));
});
after(() => studio.stop());
afterEach(() => studio.gateway.assertBooksBalance());

for (const [endpoint, path] of Object.entries(ROUTES)) {
  test(`R-146, R-147, R-148, R-153, R-155: ${path} knows no model without ${endpoint}`, async () => {
    const caller = await paidCaller(studio.gateway);
    for (const { id } of MODELS) {
      if (id === `only/${endpoint}`) continue;
      const fields = endpoint === 'image_edits' ? { reference_images: [PICTURE] } : {};
      const body = { model: id, prompt: 'a gate', ...fields };
      const answer = await studio.gateway.call('POST', path, { key: caller.key, body });
      assert.deepEqual(
        [answer.status, answer.json.error.code],
        [404, 'model_not_found'],
        `${String(id)} ${answer.text}`,
      );
    }
    assert.deepEqual(await tracesOf(studio.gateway, caller), { jobs: 0, reservations: 0, keys: 0, files: 0 });
    assert.deepEqual(await moneyOf(studio.gateway, caller), { available: 1000, reserved: 0, spent: 0 });
  });
}

test('R-146, R-148, R-153: each route makes a job with the model that has its endpoint', async () => {
  const caller = await paidCaller(studio.gateway);
  for (const [endpoint, path] of [
    ['images', IMAGES],
    ['videos', VIDEOS],
    ['audio_music', MUSIC],
  ] as const) {
    await studio.create(caller, path, { model: `only/${endpoint}`, prompt: 'a gate' });
  }
});
