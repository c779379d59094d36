import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainImage } from '../../../test/support/plain-requests.ts';
import { ApiError } from '../../errors.ts';
import { INLINE_MEDIA_BYTES_MAX } from '../../limits.ts';
import type { ImageRequest } from '../../schemas/index.ts';
import { inMemoryMedia } from '../kit/in-memory-media.ts';
import type { Media } from '../vendor.ts';
import { KEY, PICTURE, submit, withEmulator, work } from './emulator/calls.ts';

type Fields = Partial<ImageRequest<Media>>;

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

const REQUESTS: readonly { model: string; fields: Fields; wire: object }[] = [
  { model: PRO, fields: {}, wire: {} },
  { model: PRO, fields: { seed: 7, outputFormat: 'png' }, wire: { seed: 7, output_format: 'png' } },
  { model: PRO, fields: { size: '1024x768' }, wire: { width: 1024, height: 768 } },
  { model: PRO, fields: { size: '2048x2048' }, wire: { width: 2048, height: 2048 } },
  { model: PRO, fields: { size: '1024x768', aspectRatio: '16:9' }, wire: { width: 1024, height: 768 } },
  { model: PRO, fields: { size: 'auto' }, wire: {} },
  { model: PRO, fields: { size: 'auto', resolution: '2K' }, wire: { width: 2048, height: 2048 } },
  { model: PRO, fields: { resolution: '1k' }, wire: { width: 1024, height: 1024 } },
  { model: PRO, fields: { aspectRatio: '16:9' }, wire: { width: 1360, height: 768 } },
  { model: PRO, fields: { aspectRatio: '9:16', resolution: '2k' }, wire: { width: 1536, height: 2720 } },
  { model: PRO, fields: { aspectRatio: '2.33:1' }, wire: { width: 1552, height: 672 } },
  { model: PRO, fields: { aspectRatio: 'auto' }, wire: {} },
  { model: PRO, fields: { referenceImages: [media] }, wire: { input_image: base64 } },
  {
    model: PRO,
    fields: { referenceImages: [media, large, media] },
    wire: { input_image: base64, input_image_2: ADDRESS, input_image_3: base64 },
  },
  { model: PRO, fields: { watermark: false, extra: { safety_tolerance: 5 } }, wire: { safety_tolerance: 5 } },
  { model: 'flux-2-klein-4b', fields: { size: '64x64' }, wire: { width: 64, height: 64 } },
  { model: FLEX, fields: {}, wire: { prompt_upsampling: false } },
  { model: FLEX, fields: { extra: { prompt_upsampling: true } }, wire: { prompt_upsampling: true } },
  {
    model: FLEX,
    fields: { extra: { steps: 50, guidance: 1.5 } },
    wire: { prompt_upsampling: false, steps: 50, guidance: 1.5 },
  },
  { model: FLUX_1, fields: { size: '1440x256' }, wire: { width: 1440, height: 256 } },
  { model: FLUX_1, fields: { aspectRatio: '21:9' }, wire: { width: 1440, height: 608 } },
  { model: FLUX_1, fields: { aspectRatio: '3:4', resolution: '1k' }, wire: { width: 864, height: 1152 } },
  { model: FLUX_1, fields: { referenceImages: [media] }, wire: { image_prompt: base64 } },
  { model: ULTRA, fields: { aspectRatio: '21:9', extra: { raw: true } }, wire: { aspect_ratio: '21:9', raw: true } },
  { model: ULTRA, fields: { size: 'auto', aspectRatio: 'auto' }, wire: {} },
  {
    model: KONTEXT,
    fields: { aspectRatio: '9:21', referenceImages: [media, media] },
    wire: { aspect_ratio: '9:21', input_image: base64, input_image_2: base64 },
  },
  { model: FILL, fields: { referenceImages: [media], mask: media }, wire: { image: base64, mask: base64 } },
  { model: 'flux-pro-1.0-expand', fields: { referenceImages: [media] }, wire: { image: base64 } },
];

describe('the exact request', () => {
  for (const { model, fields, wire } of REQUESTS) {
    test(`${model} with ${JSON.stringify(fields)}`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        work.check(plainImage(fields), model);
        await submit({ ...upstream, model }, fields);
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

const REFUSED: readonly { model: string; fields: Fields; field: string }[] = [
  ...[PRO, FLUX_1, ULTRA, KONTEXT].flatMap((model) => [
    { model, fields: { quality: 'high' }, field: 'quality' },
    { model, fields: { style: 'vivid' }, field: 'style' },
    { model, fields: { negativePrompt: 'fog' }, field: 'negative_prompt' },
    { model, fields: { background: 'opaque' }, field: 'background' },
    { model, fields: { watermark: true }, field: 'watermark' },
    { model, fields: { outputFormat: 'webp' as const }, field: 'output_format' },
    { model, fields: { mask: media }, field: 'mask' },
    { model, fields: { resolution: '4k' }, field: 'resolution' },
    { model, fields: { aspectRatio: '22:9' }, field: 'aspect_ratio' },
    { model, fields: { aspectRatio: '0:0' }, field: 'aspect_ratio' },
    { model, fields: { aspectRatio: 'adaptive' }, field: 'aspect_ratio' },
    { model, fields: { size: '1000x1000' }, field: 'size' },
    ...[
      'width',
      'height',
      'image',
      'image_prompt',
      'input_image',
      'input_image_9',
      'webhook_url',
      'webhook_secret',
    ].map((name) => ({ model, fields: { extra: { [name]: 'x' } }, field: name })),
  ]),
  { model: PRO, fields: { size: '48x1024' }, field: 'size' },
  { model: PRO, fields: { size: '2048x2064' }, field: 'size' },
  { model: PRO, fields: { size: '1024x1024', resolution: '1k' }, field: 'resolution' },
  { model: PRO, fields: { referenceImages: Array.from({ length: 9 }, () => media) }, field: 'reference_images' },
  { model: FLUX_1, fields: { size: '1472x1024' }, field: 'size' },
  { model: FLUX_1, fields: { size: '1040x1024' }, field: 'size' },
  { model: FLUX_1, fields: { resolution: '2k' }, field: 'resolution' },
  { model: FLUX_1, fields: { referenceImages: [media, media] }, field: 'reference_images' },
  { model: ULTRA, fields: { size: '1024x1024' }, field: 'size' },
  { model: ULTRA, fields: { aspectRatio: '2.33:1' }, field: 'aspect_ratio' },
  { model: FILL, fields: {}, field: 'reference_images' },
  { model: FILL, fields: { referenceImages: [media, media] }, field: 'reference_images' },
  { model: FILL, fields: { referenceImages: [media], size: '1024x1024' }, field: 'size' },
  { model: 'flux-pro-1.0-expand', fields: { referenceImages: [media], mask: media }, field: 'mask' },
  { model: 'flux-tools/erase-v1', fields: { referenceImages: [media], mask: media }, field: 'prompt' },
];

for (const { model, fields, field } of REFUSED) {
  test(`${model} with ${JSON.stringify(fields).slice(0, 60)} is refused for "${field}"`, () => {
    assert.throws(
      () => work.check(plainImage(fields), model),
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
