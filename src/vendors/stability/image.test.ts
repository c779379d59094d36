import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainImage } from '../../../test/support/plain-requests.ts';
import { type JsonObject, parseJson } from '../../json.ts';
import type { ImageRequest } from '../../schemas/index.ts';
import { isFault } from '../emulator/calls.ts';
import { inMemoryMedia } from '../kit/in-memory-media.ts';
import type { Media } from '../vendor.ts';
import { draw, image, isRefused, KEY, MADE, withEmulator } from './emulator/calls.ts';

type Fields = Partial<ImageRequest<Media>>;

const png = inMemoryMedia(Buffer.from('a png'), 'image/png');
const jpeg = inMemoryMedia(Buffer.from('a jpeg'), 'image/jpeg');
const tiff = inMemoryMedia(Buffer.from('a tiff'), 'image/tiff');
const SD3 = { model: 'sd3.5-large', mode: 'text-to-image' };
const needed: Fields = { referenceImages: [png] };
const IMAGE = { image: 'image.png image/png' };

const REQUESTS: readonly { model: string; path: string; fields: Fields; wire: object }[] = [
  { model: 'core', path: 'generate/core', fields: {}, wire: {} },
  { model: 'stable-image-core', path: 'generate/core', fields: { size: 'auto' }, wire: {} },
  { model: 'generate/core', path: 'generate/core', fields: { aspectRatio: 'auto' }, wire: {} },
  {
    model: 'core',
    path: 'generate/core',
    fields: { seed: 7, outputFormat: 'webp', aspectRatio: '9:21', negativePrompt: 'fog', style: 'pixel-art' },
    wire: { seed: '7', output_format: 'webp', aspect_ratio: '9:21', negative_prompt: 'fog', style_preset: 'pixel-art' },
  },
  { model: 'ultra', path: 'generate/ultra', fields: { size: '1024x1024' }, wire: { aspect_ratio: '1:1' } },
  {
    model: 'ultra',
    path: 'generate/ultra',
    fields: { size: '1024x1024', aspectRatio: '1:1', watermark: false },
    wire: { aspect_ratio: '1:1' },
  },
  {
    model: 'ultra',
    path: 'generate/ultra',
    fields: { referenceImages: [png] },
    wire: { ...IMAGE, strength: '0.5' },
  },
  {
    model: 'ultra',
    path: 'generate/ultra',
    fields: { referenceImages: [jpeg], aspectRatio: 'auto', extra: { strength: 0.25 } },
    wire: { image: 'image.jpg image/jpeg', strength: '0.25' },
  },
  { model: 'sd3.5-large', path: 'generate/sd3', fields: {}, wire: SD3 },
  {
    model: 'sd3.5-large',
    path: 'generate/sd3',
    fields: { negativePrompt: 'fog', outputFormat: 'jpeg', size: '1024x1024', extra: { cfg_scale: 4.5 } },
    wire: { ...SD3, negative_prompt: 'fog', output_format: 'jpeg', aspect_ratio: '1:1', cfg_scale: '4.5' },
  },
  {
    model: 'sd3.5-large-turbo',
    path: 'generate/sd3',
    fields: { referenceImages: [png], style: 'anime' },
    wire: { model: 'sd3.5-large-turbo', mode: 'image-to-image', strength: '0.5', ...IMAGE, style_preset: 'anime' },
  },
  {
    model: 'inpaint',
    path: 'edit/inpaint',
    fields: { referenceImages: [png], mask: jpeg, extra: { grow_mask: 0 } },
    wire: { ...IMAGE, mask: 'mask.jpg image/jpeg', grow_mask: '0' },
  },
  {
    model: 'edit/outpaint',
    path: 'edit/outpaint',
    fields: { referenceImages: [png], size: 'auto', aspectRatio: 'auto', extra: { left: 0, up: '200' } },
    wire: { ...IMAGE, left: '0', up: '200' },
  },
  {
    model: 'search-and-replace',
    path: 'edit/search-and-replace',
    fields: { referenceImages: [png], extra: { search_prompt: 'a hat' } },
    wire: { ...IMAGE, search_prompt: 'a hat' },
  },
  {
    model: 'search-and-recolor',
    path: 'edit/search-and-recolor',
    fields: { referenceImages: [png], extra: { select_prompt: 'a hat' } },
    wire: { ...IMAGE, select_prompt: 'a hat' },
  },
  { model: 'conservative', path: 'upscale/conservative', fields: { referenceImages: [png] }, wire: IMAGE },
  { model: 'sketch', path: 'control/sketch', fields: { referenceImages: [png] }, wire: IMAGE },
  {
    model: 'structure',
    path: 'control/structure',
    fields: { referenceImages: [png], extra: { control_strength: 0.9 } },
    wire: { ...IMAGE, control_strength: '0.9' },
  },
  {
    model: 'style',
    path: 'control/style',
    fields: { referenceImages: [png], aspectRatio: '16:9' },
    wire: { ...IMAGE, aspect_ratio: '16:9' },
  },
  {
    model: 'style-transfer',
    path: 'control/style-transfer',
    fields: { referenceImages: [png, jpeg] },
    wire: { init_image: 'init_image.png image/png', style_image: 'style_image.jpg image/jpeg' },
  },
];

/** Operations without words: a prompt that asks for nothing is not sent. */
const WORDLESS: typeof REQUESTS = [
  {
    model: 'erase',
    path: 'edit/erase',
    fields: { mask: png, seed: 1 },
    wire: { mask: 'mask.png image/png', seed: '1' },
  },
  {
    model: 'remove-background',
    path: 'edit/remove-background',
    fields: { outputFormat: 'webp' },
    wire: { output_format: 'webp' },
  },
  { model: 'fast', path: 'upscale/fast', fields: { outputFormat: 'jpeg' }, wire: { output_format: 'jpeg' } },
];

describe('the exact request, and the picture out of its answer', () => {
  for (const { model, path, fields, wire } of REQUESTS) {
    test(`${model} with ${JSON.stringify(fields)}`, () =>
      exact(model, path, fields, { prompt: 'A toll gate', ...wire }));
  }
  for (const { model, path, fields, wire } of WORDLESS) {
    test(`${model} with ${JSON.stringify(fields)}`, () =>
      exact(model, path, { prompt: ' ', referenceImages: [png], ...fields }, { ...IMAGE, ...wire }));
  }

  function exact(model: string, path: string, fields: Fields, wire: object): Promise<void> {
    return withEmulator(async (emulator, upstream) => {
      const outputs = [{ data: MADE.image }];
      assert.deepEqual(await draw({ ...upstream, model }, fields), { state: 'succeeded', outputs });
      assert.deepEqual(emulator.submissions, [wire]);
      const [{ method, path: sent, headers } = assert.fail()] = emulator.requests;
      assert.equal(`${method} ${sent}`, `POST /v2beta/stable-image/${path}`);
      assert.deepEqual([headers.authorization, headers.accept], [`Bearer ${KEY}`, 'application/json']);
      assert.match(headers['content-type'] ?? '', /^multipart\/form-data; boundary=/);
    });
  }

  test('the bytes of files go as they came', () =>
    withEmulator(async (emulator, upstream) => {
      await draw({ ...upstream, model: 'inpaint' }, { referenceImages: [png], mask: jpeg });
      const [{ bytes } = assert.fail()] = emulator.requests;
      for (const content of ['a png', 'a jpeg']) assert.ok(bytes.includes(`\r\n\r\n${content}\r\n`), content);
    }));

  test('unmodelled keys go as they were written, whatever is in them', () =>
    withEmulator(async (emulator, upstream) => {
      const extra = parseJson('{"left": 200.0, "creativity": 0.50, "odd": {"pieces": [1.0]}, "none": null}');
      const sent = draw({ ...upstream, model: 'outpaint' }, { ...needed, extra: extra.exact() as JsonObject });
      await assert.rejects(sent, isFault('client'));
      const written = { left: '200.0', creativity: '0.50', odd: '{"pieces":[1.0]}' };
      assert.deepEqual(emulator.submissions, [{ ...IMAGE, prompt: 'A toll gate', ...written }]);
    }));

  test('one call makes one picture', () => assert.equal(image.perCall(plainImage({ n: 5 }), 'core'), 1));
});

const EVERY = ['core', 'ultra', 'sd3.5-large', 'inpaint', 'creative', 'style-transfer'];

const REFUSED: readonly { model: string; fields: Fields; field: string }[] = [
  ...EVERY.flatMap((model) => [
    { model, fields: { size: '1536x1024' }, field: 'size' },
    { model, fields: { resolution: '1k' }, field: 'resolution' },
    { model, fields: { aspectRatio: '4:3' }, field: 'aspect_ratio' },
    { model, fields: { quality: 'high' }, field: 'quality' },
    { model, fields: { style: 'vivid' }, field: 'style' },
    { model, fields: { background: 'transparent' }, field: 'background' },
    { model, fields: { watermark: true }, field: 'watermark' },
    { model, fields: { seed: 0 }, field: 'seed' },
    { model, fields: { seed: 4_294_967_295 }, field: 'seed' },
    { model, fields: { referenceImages: [png, png, png] }, field: 'reference_images' },
    { model, fields: { referenceImages: [tiff] }, field: 'reference_images' },
    ...['image', 'init_image', 'mode', 'style_preset'].map((name) => ({
      model,
      fields: { extra: { [name]: 'x' } },
      field: name,
    })),
  ]),
  ...['core', 'ultra', 'sd3.5-large'].map((model) => ({ model, fields: { mask: png }, field: 'mask' })),
  { model: 'core', fields: { prompt: 'x'.repeat(10_001) }, field: 'prompt' },
  { model: 'core', fields: { negativePrompt: 'x'.repeat(10_001) }, field: 'negative_prompt' },
  { model: 'core', fields: needed, field: 'reference_images' },
  { model: 'core', fields: { size: '1024x1024' }, field: 'size' },
  { model: 'ultra', fields: { size: '1024x1024', aspectRatio: '16:9' }, field: 'aspect_ratio' },
  { model: 'ultra', fields: { ...needed, aspectRatio: '16:9' }, field: 'aspect_ratio' },
  { model: 'ultra', fields: { ...needed, size: '1024x1024' }, field: 'size' },
  { model: 'sd3.5-large', fields: { outputFormat: 'webp' }, field: 'output_format' },
  { model: 'sd3.5-large-turbo', fields: { negativePrompt: 'fog' }, field: 'negative_prompt' },
  { model: 'inpaint', fields: {}, field: 'reference_images' },
  { model: 'inpaint', fields: { ...needed, mask: tiff }, field: 'mask' },
  { model: 'outpaint', fields: { ...needed, extra: { left: 0, right: '0' } }, field: 'left' },
  { model: 'outpaint', fields: { ...needed, negativePrompt: 'fog' }, field: 'negative_prompt' },
  { model: 'search-and-replace', fields: needed, field: 'search_prompt' },
  { model: 'search-and-replace', fields: { ...needed, extra: { search_prompt: '' } }, field: 'search_prompt' },
  { model: 'search-and-recolor', fields: needed, field: 'select_prompt' },
  { model: 'remove-background', fields: { ...needed, prompt: ' ', outputFormat: 'jpeg' }, field: 'output_format' },
  ...['erase', 'remove-background', 'fast'].map((model) => ({ model, fields: needed, field: 'prompt' })),
  { model: 'style-transfer', fields: needed, field: 'reference_images' },
];

for (const { model, fields, field } of REFUSED) {
  test(`${model} with ${JSON.stringify(fields).slice(0, 60)} is refused for "${field}"`, () => {
    assert.throws(() => image.check(plainImage(fields), model), isRefused(field));
  });
}

describe('the emulator refuses what the vendor refuses', () => {
  const FORMS: readonly [name: string, fields: Readonly<Record<string, string>>][] = [
    ['an unknown field', { prompt: 'x', steps: '5' }],
    ['no prompt', { seed: '1' }],
    ['a shape that it does not make', { prompt: 'x', aspect_ratio: '4:3' }],
    ['a seed that is no number', { prompt: 'x', seed: 'one' }],
    ['a text in place of a picture', { prompt: 'x', image: 'x', strength: '1' }],
    ['a strength without a picture', { prompt: 'x', strength: '1' }],
  ];
  for (const [name, fields] of FORMS) {
    test(name, () =>
      withEmulator(async ({ url }) => {
        const answer = await posted(url, form(fields));
        assert.equal(answer.status, 400);
        assert.match(await answer.text(), /^\{"id":"marker","name":"bad_request","errors":\["/);
      }),
    );
  }

  test('a wrong key, another type, another answer, too large a request and an address that there is not', () =>
    withEmulator(async ({ url }) => {
      const whole = form({ prompt: 'x' });
      const statuses = [
        await posted(url, whole, { authorization: 'Bearer x' }),
        await posted(url, 'prompt=x'),
        await posted(url, whole, { accept: 'text/plain' }),
        await posted(url, form({ prompt: 'x'.repeat(11_000_000) })),
        await posted(`${url}/v9`, whole),
      ].map(({ status }) => status);
      assert.deepEqual(statuses, [401, 400, 400, 413, 404]);
    }));

  function form(fields: Readonly<Record<string, string>>): FormData {
    const made = new FormData();
    for (const [name, value] of Object.entries(fields)) made.set(name, value);
    return made;
  }

  function posted(url: string, body: FormData | string, headers: Record<string, string> = {}): Promise<Response> {
    const sent = { authorization: `Bearer ${KEY}`, accept: 'application/json', ...headers };
    return fetch(`${url}/v2beta/stable-image/generate/ultra`, { method: 'POST', body, headers: sent });
  }
});
