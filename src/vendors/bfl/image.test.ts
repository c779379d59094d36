import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainImage } from '../../../test/support/plain-requests.ts';
import { ApiError } from '../../errors.ts';
import { INLINE_MEDIA_BYTES_MAX } from '../../limits.ts';
import type { ImageRequest } from '../../schemas/index.ts';
import { inMemoryMedia } from '../kit/in-memory-media.ts';
import type { Media } from '../vendor.ts';
import { KEY, PICTURE, submit, withEmulator, work } from './emulator/calls.ts';

type Asked = Partial<ImageRequest<Media>>;

const media = inMemoryMedia(PICTURE, 'image/png');
const base64 = PICTURE.toString('base64');
const ADDRESS = 'https://pictures.example/large.png';
const large = inMemoryMedia(Buffer.alloc(INLINE_MEDIA_BYTES_MAX + 1), 'image/png', ADDRESS);

const PRO = 'flux-2-pro';
const FLEX = 'flux-2-flex';
const FLUX_1 = 'flux-pro-1.1';
const ULTRA = 'flux-pro-1.1-ultra';
const KONTEXT = 'flux-kontext-max';
const FILL = 'flux-pro-1.0-fill';

const SENT: readonly { model: string; asked: Asked; wire: object }[] = [
  { model: PRO, asked: {}, wire: {} },
  { model: PRO, asked: { seed: 7, outputFormat: 'png' }, wire: { seed: 7, output_format: 'png' } },
  { model: PRO, asked: { size: '1024x768' }, wire: { width: 1024, height: 768 } },
  { model: PRO, asked: { size: '2048x2048' }, wire: { width: 2048, height: 2048 } },
  { model: PRO, asked: { size: '1024x768', aspectRatio: '16:9' }, wire: { width: 1024, height: 768 } },
  { model: PRO, asked: { size: 'auto' }, wire: {} },
  { model: PRO, asked: { size: 'auto', resolution: '2K' }, wire: { width: 2048, height: 2048 } },
  { model: PRO, asked: { resolution: '1k' }, wire: { width: 1024, height: 1024 } },
  { model: PRO, asked: { aspectRatio: '16:9' }, wire: { width: 1360, height: 752 } },
  { model: PRO, asked: { aspectRatio: '9:16', resolution: '2k' }, wire: { width: 1520, height: 2720 } },
  { model: PRO, asked: { aspectRatio: '2.33:1' }, wire: { width: 1552, height: 656 } },
  { model: PRO, asked: { aspectRatio: 'auto' }, wire: {} },
  { model: PRO, asked: { referenceImages: [media] }, wire: { input_image: base64 } },
  {
    model: PRO,
    asked: { referenceImages: [media, large, media] },
    wire: { input_image: base64, input_image_2: ADDRESS, input_image_3: base64 },
  },
  { model: PRO, asked: { watermark: false, extra: { safety_tolerance: 5 } }, wire: { safety_tolerance: 5 } },
  { model: 'flux-2-klein-4b', asked: { size: '64x64' }, wire: { width: 64, height: 64 } },
  { model: FLEX, asked: {}, wire: { prompt_upsampling: false } },
  { model: FLEX, asked: { extra: { prompt_upsampling: true } }, wire: { prompt_upsampling: true } },
  {
    model: FLEX,
    asked: { extra: { steps: 50, guidance: 1.5 } },
    wire: { prompt_upsampling: false, steps: 50, guidance: 1.5 },
  },
  { model: FLUX_1, asked: { size: '1440x256' }, wire: { width: 1440, height: 256 } },
  { model: FLUX_1, asked: { aspectRatio: '21:9' }, wire: { width: 1440, height: 608 } },
  { model: FLUX_1, asked: { aspectRatio: '3:4', resolution: '1k' }, wire: { width: 864, height: 1152 } },
  { model: FLUX_1, asked: { referenceImages: [media] }, wire: { image_prompt: base64 } },
  { model: ULTRA, asked: { aspectRatio: '21:9', extra: { raw: true } }, wire: { aspect_ratio: '21:9', raw: true } },
  { model: ULTRA, asked: { size: 'auto', aspectRatio: 'auto' }, wire: {} },
  {
    model: KONTEXT,
    asked: { aspectRatio: '9:21', referenceImages: [media, media] },
    wire: { aspect_ratio: '9:21', input_image: base64, input_image_2: base64 },
  },
  { model: FILL, asked: { referenceImages: [media], mask: media }, wire: { image: base64, mask: base64 } },
  { model: 'flux-pro-1.0-expand', asked: { referenceImages: [media] }, wire: { image: base64 } },
];

describe('the exact request', () => {
  for (const { model, asked, wire } of SENT) {
    test(`${model} with ${JSON.stringify(asked)}`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        work.check(plainImage(asked), model);
        await submit({ ...upstream, model }, asked);
        assert.deepEqual(emulator.submissions, [{ prompt: 'A toll gate', ...wire }]);
        const [{ path, headers } = assert.fail()] = emulator.requests;
        assert.equal(path, `/v1/${model}`);
        assert.deepEqual([headers['x-key'], headers['content-type']], [KEY, 'application/json']);
      }));
  }

  test('a picture to be filled goes as bytes, however large, since that field takes no address', () =>
    withEmulator(async ({ emulator, upstream }) => {
      await submit({ ...upstream, model: FILL }, { referenceImages: [large], mask: large });
      const [sent] = emulator.submissions as { image: string; mask: string }[];
      assert.equal(Buffer.from(sent?.image ?? '', 'base64').length, large.bytes);
      assert.equal(sent?.mask, sent?.image);
    }));
});

const REFUSED: readonly { model: string; asked: Asked; field: string }[] = [
  ...[PRO, FLUX_1, ULTRA, KONTEXT].flatMap((model) => [
    { model, asked: { quality: 'high' }, field: 'quality' },
    { model, asked: { style: 'vivid' }, field: 'style' },
    { model, asked: { negativePrompt: 'fog' }, field: 'negative_prompt' },
    { model, asked: { background: 'opaque' }, field: 'background' },
    { model, asked: { watermark: true }, field: 'watermark' },
    { model, asked: { outputFormat: 'webp' as const }, field: 'output_format' },
    { model, asked: { mask: media }, field: 'mask' },
    { model, asked: { resolution: '4k' }, field: 'resolution' },
    { model, asked: { aspectRatio: '22:9' }, field: 'aspect_ratio' },
    { model, asked: { aspectRatio: '0:0' }, field: 'aspect_ratio' },
    { model, asked: { aspectRatio: 'adaptive' }, field: 'aspect_ratio' },
    { model, asked: { size: '1000x1000' }, field: 'size' },
    ...[
      'width',
      'height',
      'image',
      'image_prompt',
      'input_image',
      'input_image_9',
      'webhook_url',
      'webhook_secret',
    ].map((name) => ({ model, asked: { extra: { [name]: 'x' } }, field: name })),
  ]),
  { model: PRO, asked: { size: '48x1024' }, field: 'size' },
  { model: PRO, asked: { size: '2048x2064' }, field: 'size' },
  { model: PRO, asked: { size: '1024x1024', resolution: '1k' }, field: 'resolution' },
  { model: PRO, asked: { referenceImages: Array.from({ length: 9 }, () => media) }, field: 'reference_images' },
  { model: FLUX_1, asked: { size: '1472x1024' }, field: 'size' },
  { model: FLUX_1, asked: { size: '1040x1024' }, field: 'size' },
  { model: FLUX_1, asked: { resolution: '2k' }, field: 'resolution' },
  { model: FLUX_1, asked: { referenceImages: [media, media] }, field: 'reference_images' },
  { model: ULTRA, asked: { size: '1024x1024' }, field: 'size' },
  { model: ULTRA, asked: { aspectRatio: '2.33:1' }, field: 'aspect_ratio' },
  { model: FILL, asked: {}, field: 'reference_images' },
  { model: FILL, asked: { referenceImages: [media, media] }, field: 'reference_images' },
  { model: FILL, asked: { referenceImages: [media], size: '1024x1024' }, field: 'size' },
  { model: 'flux-pro-1.0-expand', asked: { referenceImages: [media], mask: media }, field: 'mask' },
  { model: 'flux-tools/erase-v1', asked: { referenceImages: [media], mask: media }, field: 'prompt' },
];

for (const { model, asked, field } of REFUSED) {
  test(`${model} with ${JSON.stringify(asked).slice(0, 60)} is refused for "${field}"`, () => {
    assert.throws(
      () => work.check(plainImage(asked), model),
      (error) => {
        assert.ok(error instanceof ApiError && error.code === 'unsupported_parameter', String(error));
        assert.ok(error.message.startsWith(`"${field}": this model `), error.message);
        assert.doesNotMatch(error.message, /bfl|flux/i);
        return error.param === field;
      },
    );
  });
}

describe('the emulator refuses what the vendor refuses', () => {
  const BODIES: readonly [name: string, body: string][] = [
    ['an unknown field', '{"prompt":"x","steps":5}'],
    ['no prompt', '{"seed":1}'],
    ['a prompt that is no text', '{"prompt":5}'],
    ['a size that does not divide', '{"prompt":"x","width":1000,"height":1000}'],
    ['more pixels than it makes', '{"prompt":"x","width":4096,"height":2048}'],
    ['a data URL', `{"prompt":"x","input_image":"data:image/png;base64,${base64}"}`],
    ['a tolerance that it does not have', '{"prompt":"x","safety_tolerance":6}'],
    ['what is no JSON', '{"prompt":'],
  ];
  for (const [name, body] of BODIES) {
    test(name, () =>
      withEmulator(async ({ emulator }) => {
        const answer = await posted(`${emulator.url}/v1/${PRO}`, body);
        assert.equal(answer.status, 422);
        assert.match(await answer.text(), /^\{"detail":\[\{"loc":\["body"/);
      }),
    );
  }

  test('a missing key, a wrong one, another type and a model that there is not', () =>
    withEmulator(async ({ emulator }) => {
      const url = `${emulator.url}/v1/${PRO}`;
      const statuses = [
        await posted(url, '{"prompt":"x"}', { 'x-key': '' }),
        await posted(url, '{"prompt":"x"}', { 'content-type': 'text/plain' }),
        await posted(`${emulator.url}/v1/flux-9`, '{"prompt":"x"}'),
        await fetch(url, { method: 'POST', body: '{"prompt":"x"}' }),
      ].map(({ status }) => status);
      assert.deepEqual(statuses, [401, 422, 404, 403]);
    }));

  function posted(url: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(url, {
      method: 'POST',
      body,
      headers: { 'x-key': KEY, 'content-type': 'application/json', ...headers },
    });
  }
});
