import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseJson } from '../../../json.ts';
import { type ImageCall, image, imageRequest, mediaOf } from '../../openai/emulator/images-calls.ts';
import { fieldsOf } from './image-fields.ts';

/** Fields as they go over the wire, without what is always there. */
function wireOf(fields: Partial<ImageCall>, model = 'gpt-image-2'): string {
  const { model: _model, prompt: _prompt, n: _n, ...rest } = fieldsOf(imageRequest(fields), 1, model);
  return JSON.stringify(rest);
}

const WIRES: readonly { name: string; fields: Partial<ImageCall>; wire: string; model?: string }[] = [
  { name: 'nothing is added', fields: {}, wire: '{}' },
  { name: 'a size goes as given', fields: { size: '1536x864' }, wire: '{"size":"1536x864"}' },
  { name: 'auto is a size', fields: { size: 'auto' }, wire: '{"size":"auto"}' },
  { name: 'a tier becomes a size', fields: { resolution: '2k' }, wire: '{"size":"2048x2048"}' },
  { name: 'a shape becomes a size', fields: { aspectRatio: '16:9' }, wire: '{"size":"1280x720"}' },
  {
    name: 'a tier and a shape become one size',
    fields: { resolution: '4k', aspectRatio: '9:16' },
    wire: '{"size":"2160x3840"}',
  },
  {
    name: 'a size wins over its own shape and tier',
    fields: { size: '2048x1152', aspectRatio: '16:9', resolution: '2k' },
    wire: '{"size":"2048x1152"}',
  },
  {
    name: 'a tier and a shape win over a size that is left to the model',
    fields: { size: 'auto', aspectRatio: '9:16', resolution: '4k' },
    wire: '{"size":"2160x3840"}',
  },
  {
    name: 'an older model is asked for one of its sizes',
    fields: { aspectRatio: '3:2' },
    model: 'gpt-image-1.5',
    wire: '{"size":"1536x1024"}',
  },
  { name: 'hd is high', fields: { quality: 'hd' }, wire: '{"quality":"high"}' },
  { name: 'standard is medium', fields: { quality: 'standard' }, wire: '{"quality":"medium"}' },
  ...['auto', 'low', 'medium', 'high', 'xhigh', 'max'].map((quality) => ({
    name: `the quality ${quality} goes as given`,
    fields: { quality },
    wire: JSON.stringify({ quality }),
  })),
  {
    name: 'background and format go as given',
    fields: { background: 'transparent', outputFormat: 'webp' },
    wire: '{"background":"transparent","output_format":"webp"}',
  },
  {
    name: 'what these models would refuse is left out',
    fields: { responseFormat: 'b64_json', watermark: false },
    wire: '{}',
  },
];

describe('to a model of the format’s author', () => {
  for (const { name, fields, wire, model } of WIRES) {
    test(`${name}`, () => assert.equal(wireOf(fields, model), wire));
  }
});

test('R-306 a server that only speaks the format is sent all that was given, as it was given', () => {
  const given: Partial<ImageCall> = {
    size: '1000x1000',
    resolution: '1k',
    aspectRatio: '1:1',
    quality: 'hd',
    style: 'vivid',
    negativePrompt: 'fog',
    background: 'white',
    outputFormat: 'jpeg',
    responseFormat: 'b64_json',
    seed: 7,
    watermark: true,
  };
  image.check(imageRequest(given), 'flux-schnell');
  assert.equal(
    wireOf(given, 'flux-schnell'),
    '{"size":"1000x1000","resolution":"1k","aspect_ratio":"1:1","quality":"hd","style":"vivid","negative_prompt":"fog",' +
      '"background":"white","output_format":"jpeg","response_format":"b64_json","seed":7,"watermark":true}',
  );
});

test('whose model it is, is told by its name behind any path', () => {
  const authors = ['gpt-image-2', 'gpt-image-2.6-flare', 'chatgpt-image-latest', 'dall-e-3', 'openai/gpt-image-2'];
  const others = ['flux', 'my-gpt-image', 'grok-imagine-image', 'gpt-image-2/flux', 'GPT-Image'];
  const isRefused = (model: string) => {
    try {
      image.check(imageRequest({ seed: 1 }), model);
      return false;
    } catch {
      return true;
    }
  };
  assert.deepEqual(authors.filter(isRefused), authors);
  assert.deepEqual(others.filter(isRefused), []);
});

test('R-319 fields that are not modelled go as they were written, and modelled ones win', () => {
  const text =
    '{"moderation":"low","user":"u","big":9007199254740993,"one":1.0,"deep":{"__proto__":[1e400]},"__proto__":2}';
  const extra = parseJson(text).exact() as ImageCall['extra'];
  assert.equal(wireOf({ extra }), text);
  assert.equal(wireOf({ extra: { prompt: 'no', n: 9, size: 'no', model: 'no' }, size: 'auto' }), '{"size":"auto"}');
  const { model, prompt, n } = fieldsOf(imageRequest({ extra: { model: 'x', prompt: 'x', n: 9 } }), 2, 'gpt-image-2');
  assert.deepEqual([model, prompt, n], ['gpt-image-2', 'A lighthouse', 2]);
});

const PNG = mediaOf(Buffer.from('x'), 'image/png');
const masks = { small: { ...PNG, bytes: 4 * 1024 * 1024 - 1 }, large: { ...PNG, bytes: 4 * 1024 * 1024 } };

const REFUSED: readonly [field: string, fields: Partial<ImageCall>, model?: string][] = [
  ['negative_prompt', { negativePrompt: 'fog' }],
  ['seed', { seed: 0 }],
  ['style', { style: 'vivid' }],
  ['watermark', { watermark: true }],
  ['quality', { quality: 'ultra' }],
  ['background', { background: 'white' }],
  ['background', { background: 'transparent', outputFormat: 'jpeg' }],
  ['size', { size: '1000x1000' }],
  ['size', { size: '1280x720' }, 'gpt-image-1-mini'],
  ['resolution', { resolution: '8k' }],
  ['resolution', { resolution: '2k' }, 'chatgpt-image-latest'],
  ['resolution', { resolution: '1k', size: '2048x2048' }],
  ['resolution', { resolution: '2k', size: '1024x1024' }],
  ['aspect_ratio', { aspectRatio: '4:1' }],
  ['aspect_ratio', { aspectRatio: '4:1', size: 'auto' }],
  ['aspect_ratio', { aspectRatio: '16:9' }, 'gpt-image-1.5'],
  ['mask', { mask: PNG }],
  ['mask', { mask: { ...PNG, mimeType: 'image/webp' }, referenceImages: [PNG] }],
  ['mask', { mask: masks.large, referenceImages: [PNG] }],
  ['stream', { extra: { stream: true } }],
  ['stream', { extra: { stream: 'true' } }],
  ['stream', { extra: { stream: true } }, 'flux'],
];

for (const [field, fields, model = 'gpt-image-2'] of REFUSED) {
  test(`R-318 ${JSON.stringify(fields)} is refused for ${model}, naming ${field}`, () => {
    assert.throws(() => image.check(imageRequest(fields), model), {
      code: 'unsupported_parameter',
      message: new RegExp(`^"${field}": this model `),
      param: field,
    });
  });
}

const TAKEN: readonly Partial<ImageCall>[] = [
  { watermark: false, responseFormat: 'url', quality: 'standard', background: 'auto' },
  { background: 'transparent', outputFormat: 'webp', size: '2048x1152' },
  { aspectRatio: '16:9', size: '1280x720' },
  { mask: masks.small, referenceImages: [PNG] },
  { extra: { stream: false, moderation: 'low' } },
];

for (const fields of TAKEN) {
  test(`${JSON.stringify(fields)} is taken`, () => image.check(imageRequest(fields), 'gpt-image-2'));
}

const PER_CALL: readonly [count: number, fields: Partial<ImageCall>][] = [
  [1, { n: 1 }],
  [10, { n: 10 }],
  [10, { n: 10, size: 'auto' }],
  [10, { n: 10, size: '1536x1024' }],
  [6, { n: 10, resolution: '2k' }],
  [3, { n: 10, resolution: '4k' }],
  [2, { n: 2, resolution: '4k' }],
  [1, { n: 10, size: '16384x16384' }],
];

for (const [count, fields] of PER_CALL) {
  test(`one call for ${JSON.stringify(fields)} asks for ${count}, so that its answer can be read`, () => {
    assert.equal(image.perCall(imageRequest(fields), 'gpt-image-2'), count);
  });
}
