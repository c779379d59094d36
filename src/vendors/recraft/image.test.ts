import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainImage } from '../../../test/support/plain-requests.ts';
import { ApiError, type Fault } from '../../errors.ts';
import { isFault, isRefused, type Picture } from '../emulator/calls.ts';
import { json } from '../emulator/json.ts';
import { inMemoryMedia } from '../index.ts';
import { draw, KEY, withEmulator } from './emulator/calls.ts';
import { work } from './work.ts';

const [V2, V3, V4, PRO] = ['recraftv2', 'recraftv3', 'recraftv4_1', 'recraftv4_1_pro'];
const picture = inMemoryMedia(Buffer.from('a picture'), 'image/jpeg');
const mask = inMemoryMedia(Buffer.from('a mask'), 'image/png');
const image_url = `data:image/jpeg;base64,${Buffer.from('a picture').toString('base64')}`;
const mask_url = `data:image/png;base64,${Buffer.from('a mask').toString('base64')}`;
const [GENERATIONS, EDITS, MASKED] = ['generations', 'imageToImage', 'inpaint'].map((name) => `/v1/images/${name}`);

describe('requests', () => {
  const SENT: readonly (readonly [model: string, fields: Picture, body: object, path?: string | undefined])[] = [
    [V3, {}, {}],
    [V3, { size: '1820x1024', n: 4 }, { size: '1820x1024', n: 4 }],
    [V3, { aspectRatio: '16:9', n: 9 }, { size: '1820x1024', n: 6 }],
    [V3, { resolution: '1K' }, { size: '1024x1024' }],
    [V3, { style: 'logo_raster', negativePrompt: 'fog' }, { style: 'logo_raster', negative_prompt: 'fog' }],
    [V3, { seed: 2 ** 32 - 1, outputFormat: 'webp' }, { random_seed: 2 ** 32 - 1, image_format: 'webp' }],
    [V3, { quality: 'auto', size: 'auto', background: 'opaque', aspectRatio: 'auto', watermark: false }, {}],
    [
      V3,
      { extra: { substyle: 'hdr', controls: { colors: [{ rgb: [1, 2, 3] }] } } },
      { substyle: 'hdr', controls: { colors: [{ rgb: [1, 2, 3] }] } },
    ],
    [V2, { aspectRatio: '10:6' }, { size: '1707x1024' }],
    [V4, { aspectRatio: '3:2', prompt: 'x'.repeat(10_000) }, { size: '1280x832', prompt: 'x'.repeat(10_000) }],
    [V4, { aspectRatio: '16:9', resolution: '1k' }, { size: '1344x768' }],
    [PRO, { aspectRatio: '3:2' }, { size: '2560x1664' }],
    [PRO, { aspectRatio: '9:16', resolution: '2k' }, { size: '1536x2688' }],
    ['recraftv4_styles', { extra: { style_id: 's-1' } }, { style_id: 's-1' }],
    [V3, { referenceImages: [picture], aspectRatio: 'auto' }, { image_url, strength: 0.5 }, EDITS],
    [V4, { referenceImages: [picture], extra: { strength: 0.2 } }, { image_url, strength: 0.2 }, EDITS],
    // A form holds words for everything.
    [V4, { referenceImages: [picture], extra: { strength: '0.2' } }, { image_url, strength: 0.2 }, EDITS],
    [V3, { referenceImages: [picture], mask, n: 2, seed: 0 }, { image_url, mask_url, n: 2, random_seed: 0 }, MASKED],
  ];
  for (const [model, fields, body, path = GENERATIONS] of SENT) {
    test(`${model}: ${JSON.stringify(fields).slice(0, 80)}`, () =>
      withEmulator(async ({ emulator, at }) => {
        await draw(at(model), fields);
        const usual = { model, prompt: 'A toll gate', n: 1, image_format: 'png', response_format: 'url' };
        assert.deepEqual(emulator.accepted, [{ path, body: { ...usual, ...body } }]);
        assert.equal(emulator.requests[0]?.headers.authorization, `Bearer ${KEY}`);
      }));
  }

  test('a large picture goes by its address, where it has one', () =>
    withEmulator(async ({ emulator, at }) => {
      const url = 'https://example.com/a.png';
      const large = inMemoryMedia(Buffer.alloc(9 * 1024 * 1024), 'image/png', url);
      await draw(at(V3), { referenceImages: [large] });
      const [sent] = emulator.accepted.map(({ body }) => body as Readonly<Record<string, unknown>>);
      assert.equal(sent?.image_url, url);
    }));
});

describe('results', () => {
  test('are links, and the vendor tells what it took', () =>
    withEmulator(async ({ emulator, at }) => {
      emulator.missingPictures = 1;
      const outputs = [0, 1].map((each) => ({ url: `${emulator.origin}/files/${each}.png?signature=s` }));
      assert.deepEqual(await draw(at(V3), { n: 3 }), { state: 'succeeded', outputs, usage: { credits: 80 } });
    }));

  for (const data of [[], [{ image_id: 'i' }], [{ url: '' }], [null], {}]) {
    test(`without a picture are garbled: ${JSON.stringify(data)}`, () =>
      withEmulator(async ({ emulator, at }) => {
        emulator.script({ kind: 'instead', ...json(200, { created: 1, credits: 1, data }) });
        await assert.rejects(draw(at(V3)), isFault('garbled', { isUncertain: true }));
      }));
  }
});

describe('refusals', () => {
  const FAULTS: readonly (readonly [status: number, body: object, fault: Fault])[] = [
    [400, {}, 'client'],
    [400, { code: 'invalid_parameter', message: 'not enough credits' }, 'client'],
    [400, { code: 'not_enough_credits', message: 'x' }, 'account'],
    [400, { error: { code: 'not_enough_credits' } }, 'account'],
    [422, { code: 'api_units_exhausted' }, 'account'],
    [400, { code: 'nsfw_content' }, 'policy'],
    [403, { code: 'prompt_moderation_failed' }, 'policy'],
    [400, { message: 'Not enough API units' }, 'account'],
    [400, { message: 'prompt "no credits" is too long' }, 'client'],
    [400, { message: 'Your prompt was rejected by moderation' }, 'policy'],
    [400, { error: { message: 'unknown field nsfw' } }, 'client'],
    [401, { code: 'unauthorized' }, 'account'],
    [402, {}, 'account'],
    [403, { message: 'the image is NSFW' }, 'policy'],
    [404, { code: 'not_found' }, 'config'],
    [413, {}, 'unfit'],
    [429, { code: 'too_many_requests' }, 'rate'],
    [429, { error: 'You are out of credits' }, 'account'],
    [500, { message: 'moderation is down' }, 'server'],
    [503, { message: 'Not enough units of power' }, 'server'],
  ];
  for (const [status, body, fault] of FAULTS) {
    test(`${status} ${JSON.stringify(body)} is ${fault}`, () =>
      withEmulator(async ({ emulator, at }) => {
        emulator.script({ kind: 'instead', ...json(status, body) });
        await assert.rejects(draw(at(V3)), isFault(fault, { isUncertain: false }));
      }));
  }

  test('of the vendor itself: a key, a prompt, a field, a throttle, an empty account', () =>
    withEmulator(async ({ emulator, at }) => {
      await assert.rejects(draw({ ...at(V3), apiKey: 'other' }), isFault('account', { isUncertain: false }));
      await assert.rejects(draw(at(V3), { prompt: emulator.forbidden }), isFault('policy', { isUncertain: false }));
      await assert.rejects(draw(at(V3), { extra: { no_such_field: 1 } }), isFault('client', { isUncertain: false }));
      emulator.isBusy = true;
      await assert.rejects(draw(at(V3)), isFault('rate', { isUncertain: false }));
      emulator.isBroke = true;
      await assert.rejects(draw(at(V3)), isFault('account', { isUncertain: false }));
    }));
});

describe('refused before anything is sent', () => {
  const one = { referenceImages: [picture] };
  const REFUSED: readonly (readonly [model: string, fields: Picture, field: string, why: string])[] = [
    [V3, { prompt: 'x'.repeat(1001) }, 'prompt', 'takes at most 1000 characters'],
    [V4, { prompt: 'x'.repeat(10_001) }, 'prompt', 'takes at most 10000 characters'],
    [V3, { size: '1344x768' }, 'size', 'takes 1024x1024, 2048x1024'],
    [V4, { size: '1820x1024' }, 'size', 'takes 1024x1024, 1536x768'],
    [PRO, { size: '1024x1024' }, 'size', 'takes 2048x2048, 3072x1536'],
    [V3, { size: '1024x1024', resolution: '1k' }, 'resolution', 'does not take it together with "size"'],
    [V3, { size: '1024x1024', aspectRatio: '1:1' }, 'aspect_ratio', 'does not take it together with "size"'],
    [V3, { resolution: '2k' }, 'resolution', 'takes 1k'],
    [PRO, { resolution: '1k' }, 'resolution', 'takes 2k'],
    [V3, { aspectRatio: '21:9' }, 'aspect_ratio', 'takes 1:1, 2:1'],
    // They would have more pixels than the tier that is paid.
    [V3, { aspectRatio: '16:9', resolution: '1k' }, 'aspect_ratio', 'takes 1:1.'],
    [V4, { aspectRatio: '2:1', resolution: '1k' }, 'aspect_ratio', 'takes 1:1, 5:4, 4:5, 16:9, 9:16.'],
    [PRO, { aspectRatio: '3:2', resolution: '2k' }, 'aspect_ratio', 'takes 1:1, 5:4, 4:5, 16:9, 9:16.'],
    [V3, { quality: 'high' }, 'quality', 'takes none'],
    // These are drawn in SVG, and cost more.
    [V3, { style: 'vector_illustration' }, 'style', 'takes realistic_image, digital_illustration, logo_raster'],
    [V4, { style: 'realistic_image' }, 'style', 'takes none'],
    [V4, { negativePrompt: 'fog' }, 'negative_prompt', 'takes none'],
    [V3, { background: 'transparent' }, 'background', 'takes auto, opaque'],
    [V3, { outputFormat: 'jpeg' }, 'output_format', 'takes png, webp'],
    [V3, { seed: -1 }, 'seed', 'takes 0 to 4294967295'],
    [V3, { watermark: true }, 'watermark', 'takes none'],
    [V3, { referenceImages: [picture, picture] }, 'reference_images', 'takes at most 1'],
    [V3, { mask }, 'reference_images', 'takes at least 1'],
    [V3, { ...one, size: '1024x1024' }, 'size', 'takes none'],
    [V3, { ...one, resolution: '1k' }, 'resolution', 'takes none'],
    [V3, { ...one, aspectRatio: '1:1' }, 'aspect_ratio', 'takes none'],
    [V4, { ...one, mask }, 'mask', 'takes none'],
    [V2, one, 'reference_images', 'takes none'],
    ['recraftv4_styles_pro', {}, 'style_id', 'takes at least 1'],
    ...['image', 'image_url', 'mask_url', 'style_reference_urls', 'image_format', 'random_seed'].map(
      (name) => [V3, { extra: { [name]: 'x' } }, name, 'takes none'] as const,
    ),
  ];
  for (const [model, fields, field, why] of REFUSED) {
    test(`${model}: ${field} ${why}`, () => {
      assert.throws(() => work.image?.check(plainImage(fields), model), isRefused(field, why));
    });
  }

  for (const model of ['recraftv3_vector', 'recraftv4_1_pro_vector']) {
    test(`${model} draws in SVG`, () => {
      assert.throws(
        () => work.image?.check(plainImage(), model),
        (error) => error instanceof ApiError && error.code === 'unsupported_parameter' && error.param === 'model',
      );
    });
  }
});

test('a key is proved by its account', () =>
  withEmulator(async ({ emulator, at }) => {
    await work.check?.run(at(V3));
    assert.equal(emulator.requests[0]?.path, '/v1/users/me');
    await assert.rejects(work.check?.run({ ...at(V3), apiKey: 'other' }) ?? Promise.resolve(), isFault('account'));
  }));
