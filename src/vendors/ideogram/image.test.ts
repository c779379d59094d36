import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainImage } from '../../../test/support/plain-requests.ts';
import type { Fault } from '../../errors.ts';
import { isFault, isRefused, type Picture } from '../emulator/calls.ts';
import { json } from '../emulator/json.ts';
import { inMemoryMedia } from '../index.ts';
import { draw, KEY, withEmulator } from './emulator/calls.ts';
import { SIZES_3, SIZES_4 } from './sizes.ts';
import { work } from './work.ts';

const [V3, V4, CUT_OUT] = ['ideogram-v3', 'ideogram-v4', 'ideogram-v3-transparent'];
const picture = inMemoryMedia(Buffer.from('a picture'), 'image/jpeg');
const mask = inMemoryMedia(Buffer.from('a mask'), 'image/png');
const USUAL = { prompt: 'A toll gate', rendering_speed: 'DEFAULT', magic_prompt: 'OFF', num_images: 1 };
const PATH = '/v1/ideogram-v3/generate';

describe('in JSON', () => {
  const SENT: readonly (readonly [model: string, fields: Picture, body: object, path?: string])[] = [
    [V3, {}, {}],
    [V3, { size: '1280x800', n: 3 }, { resolution: '1280x800', num_images: 3 }],
    [V3, { size: 'auto', resolution: '1K', aspectRatio: '16:10' }, { aspect_ratio: '16x10' }],
    [V3, { aspectRatio: 'auto', quality: 'auto', background: 'auto', n: 9 }, { num_images: 8 }],
    [V3, { quality: 'low', style: 'realistic' }, { rendering_speed: 'TURBO', style_type: 'REALISTIC' }],
    [V3, { quality: 'standard', seed: 0, outputFormat: 'png' }, { seed: 0 }],
    [V3, { quality: 'hd', negativePrompt: 'fog' }, { rendering_speed: 'QUALITY', negative_prompt: 'fog' }],
    [V3, { watermark: false, background: 'opaque', seed: 2 ** 31 - 1 }, { seed: 2 ** 31 - 1 }],
    // A caller's own keys come before our defaults.
    [
      V3,
      { extra: { magic_prompt: 'ON', style_preset: 'BAUHAUS', color_palette: { name: 'EMBER' } } },
      { magic_prompt: 'ON', style_preset: 'BAUHAUS', color_palette: { name: 'EMBER' } },
    ],
    [CUT_OUT, { background: 'auto' }, {}, `${PATH}-transparent`],
    [CUT_OUT, { background: 'transparent', aspectRatio: '3:1' }, { aspect_ratio: '3x1' }, `${PATH}-transparent`],
  ];
  for (const [model, fields, body, path = PATH] of SENT) {
    test(`${model}: ${JSON.stringify(fields)}`, () =>
      withEmulator(async ({ emulator, at }) => {
        await draw(at(model), fields);
        assert.deepEqual(emulator.accepted, [{ path, body: { ...USUAL, ...body }, isForm: false }]);
        assert.equal(emulator.requests[0]?.headers['api-key'], KEY);
        assert.equal(emulator.requests[0]?.headers['content-type'], 'application/json');
      }));
  }
});

describe('in forms, where each value is a word', () => {
  const words = { ...USUAL, num_images: '1' };
  const SENT: readonly (readonly [model: string, fields: Picture, body: object, path: string])[] = [
    [V3, { referenceImages: [picture] }, { ...words, image: 'a picture' }, '/v1/ideogram-v3/remix'],
    [
      V3,
      { referenceImages: [picture], aspectRatio: '1:3', seed: 7, extra: { image_weight: 80 } },
      { ...words, image: 'a picture', aspect_ratio: '1x3', seed: '7', image_weight: '80' },
      '/v1/ideogram-v3/remix',
    ],
    [
      V3,
      { referenceImages: [picture], mask, quality: 'high', style: 'design', n: 2, size: 'auto', aspectRatio: 'auto' },
      {
        ...words,
        ...{ num_images: '2', rendering_speed: 'QUALITY', style_type: 'DESIGN' },
        ...{ image: 'a picture', mask: 'a mask' },
      },
      '/v1/ideogram-v3/edit',
    ],
    [
      V3,
      { referenceImages: [picture], extra: { color_palette: { name: 'EMBER' }, style_codes: ['0A0B0C0D'] } },
      { ...words, image: 'a picture', color_palette: '{"name":"EMBER"}', style_codes: '0A0B0C0D' },
      '/v1/ideogram-v3/remix',
    ],
    // It has no word for how many, and rewrites every prompt.
    [V4, { n: 3 }, { text_prompt: 'A toll gate', rendering_speed: 'DEFAULT' }, '/v1/ideogram-v4/generate'],
    [
      V4,
      { aspectRatio: '16:9', quality: 'low', resolution: '2k' },
      { text_prompt: 'A toll gate', rendering_speed: 'TURBO', resolution: '2560x1440' },
      '/v1/ideogram-v4/generate',
    ],
    [
      V4,
      { size: '3328x1248', aspectRatio: undefined },
      { text_prompt: 'A toll gate', rendering_speed: 'DEFAULT', resolution: '3328x1248' },
      '/v1/ideogram-v4/generate',
    ],
  ];
  for (const [model, fields, expected, path] of SENT) {
    test(`${path}: ${JSON.stringify(Object.keys(fields ?? {}))}`, () =>
      withEmulator(async ({ emulator, at }) => {
        await draw(at(model), fields);
        const [call] = emulator.accepted;
        const entries = Object.entries(call?.body ?? {}).map(async ([name, value]) => {
          return [name, value instanceof File ? await value.text() : value];
        });
        assert.deepEqual(Object.fromEntries(await Promise.all(entries)), expected);
        assert.deepEqual([call?.path, call?.isForm, emulator.accepted.length], [path, true, 1]);
      }));
  }

  test('files have names and types', () =>
    withEmulator(async ({ emulator, at }) => {
      await draw(at(V3), { referenceImages: [picture], mask });
      const form = emulator.requests[0]?.bytes.toString('latin1') ?? '';
      assert.match(form, /name="image"; filename="image.jpg"\r\ncontent-type: image\/jpeg\r\n/);
      assert.match(form, /name="mask"; filename="mask.png"\r\ncontent-type: image\/png\r\n/);
    }));
});

describe('results', () => {
  test('are links, of which those that are not safe are none', () =>
    withEmulator(async ({ emulator, at }) => {
      emulator.withheldPictures = 1;
      const links = [1, 2].map((each) => ({ url: `${emulator.origin}/files/${each}.png?exp=1&sig=s` }));
      assert.deepEqual(await draw(at(V3), { n: 3 }), { state: 'succeeded', outputs: links });
      await assert.rejects(draw(at(V3)), isFault('policy', { isUncertain: false }));
    }));

  for (const data of [[], [{ is_image_safe: true, url: null }], [{ is_image_safe: true, url: '' }], [1], {}]) {
    test(`without a picture are garbled: ${JSON.stringify(data)}`, () =>
      withEmulator(async ({ emulator, at }) => {
        emulator.script({ kind: 'instead', ...json(200, { created: 'x', data }) });
        await assert.rejects(draw(at(V3)), isFault('garbled', { isUncertain: true }));
      }));
  }
});

describe('refusals', () => {
  const FAULTS: readonly (readonly [status: number, body: object, fault: Fault])[] = [
    [400, { detail: 'Invalid input provided' }, 'client'],
    [400, { error: 'Insufficient credits' }, 'account'],
    [400, { detail: '"not enough credits" is not one of the styles' }, 'client'],
    [400, { error: 'Prompt or provided image failed the safety checks' }, 'policy'],
    [400, { detail: '"failed the safety check" is not one of the styles' }, 'client'],
    [400, { is_image_safe: false }, 'policy'],
    [401, { detail: 'Not authorized to generate an image.' }, 'account'],
    [402, { message: 'Payment is required; did you create a subscription?' }, 'account'],
    [403, { error: { message: 'Prompt failed the safety check' } }, 'policy'],
    [404, { detail: 'Not Found' }, 'config'],
    [413, {}, 'unfit'],
    [422, { prompt: 'not enough credits', is_image_safe: false }, 'policy'],
    [422, { error: 'Prompt failed the safety check.' }, 'policy'],
    [422, { error: 'The prompt "out of funds" was refused' }, 'policy'],
    [429, { error: 'Too many requests.' }, 'rate'],
    [429, { error: { message: 'You are out of credits' } }, 'account'],
    [429, { message: 'Monthly spending limit reached' }, 'account'],
    [500, { error: 'The safety check is down' }, 'server'],
    [503, { error: 'Insufficient funds' }, 'server'],
  ];
  for (const [status, body, fault] of FAULTS) {
    test(`${status} ${JSON.stringify(body)} is ${fault}`, () =>
      withEmulator(async ({ emulator, at }) => {
        emulator.script({ kind: 'instead', ...json(status, body) });
        await assert.rejects(draw(at(V3)), isFault(fault, { isUncertain: false }));
      }));
  }

  test('of the vendor itself: a key, a version, a prompt, a throttle, an empty account', () =>
    withEmulator(async ({ emulator, at }) => {
      await assert.rejects(draw({ ...at(V3), apiKey: 'other' }), isFault('account', { isUncertain: false }));
      await assert.rejects(draw(at('ideogram-v9')), isFault('config', { isUncertain: false }));
      await assert.rejects(draw(at(V3), { prompt: emulator.forbidden }), isFault('policy', { isUncertain: false }));
      await assert.rejects(draw(at(V3), { extra: { no_such_field: 1 } }), isFault('client', { isUncertain: false }));
      emulator.isBusy = true;
      await assert.rejects(draw(at(V3)), isFault('rate', { isUncertain: false }));
      emulator.isBroke = true;
      await assert.rejects(draw(at(V3)), isFault('account', { isUncertain: false }));
    }));
});

describe('refused before anything is sent', () => {
  const two = [picture, picture];
  const edit = { referenceImages: [picture], mask };
  const REFUSED: readonly (readonly [model: string, fields: Picture, field: string, why: string])[] = [
    [V3, { size: '1000x1000' }, 'size', 'takes 512x1536, 576x1408'],
    [V3, { size: '2048x2048' }, 'size', 'takes 512x1536, 576x1408'],
    [V3, { size: '1024x1024', resolution: '1k' }, 'resolution', 'does not take it together with "size"'],
    [V3, { size: '1024x1024', aspectRatio: '1:1' }, 'aspect_ratio', 'does not take it together with "size"'],
    [V3, { resolution: '2k' }, 'resolution', 'takes 1k'],
    [V3, { aspectRatio: '21:9' }, 'aspect_ratio', 'takes 1:1, 16:9'],
    [V3, { quality: 'ultra' }, 'quality', 'takes low, medium, high'],
    [V3, { style: 'vivid' }, 'style', 'takes auto, general, realistic, design, fiction'],
    [V3, { background: 'transparent' }, 'background', 'takes auto, opaque'],
    [V3, { outputFormat: 'webp' }, 'output_format', 'takes png'],
    [V3, { seed: -1 }, 'seed', 'takes 0 to 2147483647'],
    [V3, { watermark: true }, 'watermark', 'takes none'],
    [V3, { referenceImages: two }, 'reference_images', 'takes at most 1'],
    [V3, { mask }, 'reference_images', 'takes at least 1'],
    [V3, { mask, referenceImages: two }, 'reference_images', 'takes at most 1'],
    [V3, { ...edit, size: '1024x1024' }, 'size', 'takes none'],
    [V3, { ...edit, resolution: '1k' }, 'resolution', 'takes none'],
    [V3, { ...edit, aspectRatio: '1:1' }, 'aspect_ratio', 'takes none'],
    [V3, { ...edit, negativePrompt: 'fog' }, 'negative_prompt', 'takes none'],
    [CUT_OUT, { background: 'opaque' }, 'background', 'takes auto, transparent'],
    [CUT_OUT, { size: '1024x1024' }, 'size', 'takes none'],
    [CUT_OUT, { resolution: '1k' }, 'resolution', 'takes none'],
    [CUT_OUT, { style: 'design' }, 'style', 'takes none'],
    [CUT_OUT, { referenceImages: [picture] }, 'reference_images', 'takes none'],
    [V4, { size: '1024x1024' }, 'size', 'takes 2048x2048'],
    [V4, { resolution: '1k' }, 'resolution', 'takes 2k'],
    [V4, { aspectRatio: '7:5' }, 'aspect_ratio', 'takes 1:1, 1:2'],
    [V4, { size: '2048x2048', aspectRatio: '1:1' }, 'aspect_ratio', 'does not take it together with "size"'],
    [V4, { seed: 7 }, 'seed', 'takes none'],
    [V4, { style: 'design' }, 'style', 'takes none'],
    [V4, { negativePrompt: 'fog' }, 'negative_prompt', 'takes none'],
    [V4, { referenceImages: [picture] }, 'reference_images', 'takes none'],
    [V4, { mask }, 'mask', 'takes none'],
    ...[
      ...['num_images', 'rendering_speed', 'text_prompt', 'json_prompt', 'custom_model_uri', 'upscale_factor', 'image'],
      ...['style_reference_images', 'character_reference_images', 'character_reference_images_mask'],
    ].map((name) => [V3, { extra: { [name]: 'x' } }, name, 'takes none'] as const),
  ];
  for (const [model, fields, field, why] of REFUSED) {
    test(`${model}: ${field} ${why}`, () => {
      assert.throws(() => work.image?.check(plainImage(fields), model), isRefused(field, why));
    });
  }
});

test('no size has more pixels than its tier', () => {
  const pixels = (size: string) => size.split('x').reduce((area, side) => area * Number(side), 1);
  for (const size of SIZES_3) assert.ok(pixels(size) <= 1024 ** 2, size);
  for (const size of Object.values(SIZES_4)) assert.ok(pixels(size) <= 2048 ** 2, size);
});

test('a key is proved by a list of datasets', () =>
  withEmulator(async ({ emulator, at }) => {
    await work.check?.run(at(V3));
    assert.equal(emulator.requests[0]?.path, '/datasets');
    await assert.rejects(work.check?.run({ ...at(V3), apiKey: 'other' }) ?? Promise.resolve(), isFault('account'));
  }));
