import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageOf, outcomeOf, PNG, refusalOf } from '../../test/support/media-bodies.ts';
import { plainImage } from '../../test/support/plain-requests.ts';

const LEAST = { model: 'studio/photo', prompt: 'a cat' };
const outcome = (more: object, endpoint?: 'images' | 'image_edits') =>
  outcomeOf(() => imageOf({ ...LEAST, ...more }, endpoint));

test('R-298: the least that can be asked becomes a whole request', () => {
  assert.deepEqual(imageOf(LEAST), plainImage(LEAST));
});

test('R-305 R-306 R-308 R-309 R-311 R-313: everything that can be asked is kept with its type', () => {
  const body = {
    ...LEAST,
    n: 3,
    size: '1024x576',
    resolution: '2k',
    aspect_ratio: '16:9',
    quality: 'high',
    style: 'vivid',
    negative_prompt: 'dogs',
    background: 'transparent',
    output_format: 'webp',
    response_format: 'b64_json',
    seed: -7,
    watermark: false,
    reference_images: ['https://pictures.example/a', { b64: PNG.toString('base64') }],
    mask: 'https://pictures.example/mask',
    guidance: 3.5,
  };
  assert.deepEqual(imageOf(body), {
    kind: 'image',
    ...LEAST,
    n: 3,
    size: '1024x576',
    resolution: '2k',
    aspectRatio: '16:9',
    quality: 'high',
    style: 'vivid',
    negativePrompt: 'dogs',
    background: 'transparent',
    outputFormat: 'webp',
    responseFormat: 'b64_json',
    seed: -7,
    watermark: false,
    referenceImages: [
      { from: 'url', url: 'https://pictures.example/a' },
      { from: 'bytes', bytes: PNG },
    ],
    mask: { from: 'url', url: 'https://pictures.example/mask' },
    extra: { guidance: 3.5 },
  });
});

for (const [body, code] of [
  [{}, 'missing_model'],
  [{ prompt: 'p' }, 'missing_model'],
  [{ model: '', prompt: 'p' }, 'missing_model'],
  [{ model: 5, prompt: 'p' }, 'missing_model'],
  [{ model: null, n: 99 }, 'missing_model'],
  [{ model: 'm' }, 'missing_prompt'],
  [{ model: 'm', prompt: '' }, 'missing_prompt'],
  [{ model: 'm', prompt: 5 }, 'missing_prompt'],
  [{ model: 'm', prompt: null, n: 99 }, 'missing_prompt'],
] as const) {
  test(`R-300 R-301: ${JSON.stringify(body)} is refused as ${code}`, () => {
    assert.equal(
      outcomeOf(() => imageOf(body)),
      code,
    );
  });
}

for (const [more, code] of [
  [{ n: 1 }, 'taken'],
  [{ n: 10 }, 'taken'],
  [{ n: null }, 'taken'],
  [{ n: 0 }, 'invalid_n'],
  [{ n: 11 }, 'invalid_n'],
  [{ n: -1 }, 'invalid_n'],
  [{ n: 1.5 }, 'invalid_n'],
  [{ n: '3' }, 'invalid_n'],
] as const) {
  test(`R-302: ${JSON.stringify(more)} is ${code}`, () => assert.equal(outcome(more), code));
}

for (const [more, code] of [
  [{ size: 'auto' }, 'taken'],
  [{ size: '1x99999' }, 'taken'],
  [{ size: '1x100000' }, 'invalid_parameter'],
  [{ size: '0x10' }, 'invalid_parameter'],
  [{ size: 'large' }, 'invalid_parameter'],
  [{ size: 1024 }, 'invalid_parameter'],
  [{ aspect_ratio: '21:9' }, 'taken'],
  [{ aspect_ratio: '2.35:1' }, 'taken'],
  [{ aspect_ratio: 'auto' }, 'taken'],
  [{ aspect_ratio: '16x9' }, 'invalid_parameter'],
  [{ aspect_ratio: 'wide' }, 'invalid_parameter'],
  [{ resolution: 2 }, 'invalid_parameter'],
  [{ quality: 1 }, 'invalid_parameter'],
  [{ style: [] }, 'invalid_parameter'],
  [{ negative_prompt: {} }, 'invalid_parameter'],
  [{ background: true }, 'invalid_parameter'],
  [{ seed: 0 }, 'taken'],
  [{ seed: Number.MAX_SAFE_INTEGER }, 'taken'],
  [{ seed: Number.MAX_SAFE_INTEGER + 1 }, 'invalid_parameter'],
  [{ seed: 1.5 }, 'invalid_parameter'],
  [{ seed: '7' }, 'invalid_parameter'],
  [{ watermark: 'true' }, 'invalid_parameter'],
  [{ watermark: 1 }, 'invalid_parameter'],
  [{ metadata: 'x' }, 'invalid_parameter'],
  [{ reference_images: 'https://pictures.example/a' }, 'invalid_input_reference'],
  [{ reference_images: {} }, 'invalid_input_reference'],
] as const) {
  test(`R-303 R-306 R-307: ${JSON.stringify(more)} is ${code}`, () => assert.equal(outcome(more), code));
}

for (const [more, code] of [
  [{ output_format: 'png' }, 'taken'],
  [{ output_format: 'jpeg' }, 'taken'],
  [{ output_format: 'webp' }, 'taken'],
  [{ output_format: 'jpg' }, 'invalid_output_format'],
  [{ output_format: 'gif' }, 'invalid_output_format'],
  [{ output_format: 1 }, 'invalid_output_format'],
  [{ response_format: 'url' }, 'taken'],
  [{ response_format: 'b64_json' }, 'taken'],
  [{ response_format: 'json' }, 'invalid_response_format'],
  [{ response_format: '' }, 'invalid_response_format'],
  [{ response_format: 1 }, 'invalid_response_format'],
] as const) {
  test(`R-310 R-311: ${JSON.stringify(more)} is ${code}`, () => assert.equal(outcome(more), code));
}

test('R-314: the two names of the reference list must agree', () => {
  const [a, b] = [{ url: 'https://pictures.example/a' }, 'https://pictures.example/b'];
  assert.equal(outcome({ reference_images: [a], images: [b] }), 'conflicting_parameters');
  assert.equal(outcome({ reference_images: [a, b], images: [b, a] }), 'conflicting_parameters');
  assert.equal(imageOf({ ...LEAST, reference_images: [a, b], images: [a, b] }).referenceImages.length, 2);
  assert.equal(imageOf({ ...LEAST, images: [a] }).referenceImages.length, 1);
  assert.equal(imageOf({ ...LEAST, images: [a], reference_images: [] }).referenceImages.length, 1);
});

test('R-316: metadata.resolution is resolution, and a contradiction is told by name', () => {
  assert.equal(imageOf({ ...LEAST, metadata: { resolution: '2k' } }).resolution, '2k');
  assert.equal(imageOf({ ...LEAST, resolution: '2k', metadata: { resolution: '2k' } }).resolution, '2k');
  const refusal = refusalOf(() => imageOf({ ...LEAST, resolution: '1k', metadata: { resolution: '2k' } }));
  assert.equal(refusal?.code, 'conflicting_parameters');
  assert.equal(refusal.message, '"resolution" and "metadata.resolution" differ.');
});

test('R-316 R-319: what else is in metadata is passed on, and only that', () => {
  const { extra } = imageOf('{"model":"m","prompt":"p","metadata":{"resolution":"2k","scene":1.0,"__proto__":2}}');
  assert.equal(JSON.stringify(extra), '{"metadata":{"scene":1.0,"__proto__":2}}');
  assert.deepEqual(imageOf({ ...LEAST, metadata: { resolution: '2k' } }).extra, {});
  assert.deepEqual(imageOf({ ...LEAST, metadata: null }).extra, {});
});

test('an empty text counts as left out', () => {
  const { style, quality } = imageOf({ ...LEAST, style: '', quality: '' });
  assert.deepEqual([style, quality], [undefined, undefined]);
});

test('R-327 R-328: an edit needs a source image, and a mask is none', () => {
  assert.equal(outcome({}, 'image_edits'), 'missing_image');
  assert.equal(outcome({ reference_images: [] }, 'image_edits'), 'missing_image');
  assert.equal(outcome({ mask: 'https://pictures.example/mask' }, 'image_edits'), 'missing_image');
  assert.equal(outcome({ reference_images: ['https://pictures.example/a'] }, 'image_edits'), 'taken');
  assert.equal(outcome({ images: ['https://pictures.example/a'] }, 'image_edits'), 'taken');
});
