import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainImage } from '../../../test/support/plain-requests.ts';
import type { Fault } from '../../errors.ts';
import type { ImageRequest } from '../../schemas/index.ts';
import { json } from '../emulator/json.ts';
import { inMemoryMedia, type Media } from '../index.ts';
import { draw, image, isFault, KEY, ORDER, withEmulator } from './emulator/calls.ts';

const PRO = 'dola-seedream-5-0-pro-260628';
const LITE = 'seedream-5-0-260128';
const FOUR = 'seedream-4-0-250828';
const picture = inMemoryMedia(Buffer.from('abc'), 'image/png');
const large = { ...picture, bytes: 6 * 1024 * 1024, url: 'https://files.example/a.png' };

test('a picture is asked for without a mark, and is told by its link', () =>
  withEmulator(async (emulator, upstream) => {
    const { outputs, usage } = await draw(upstream, { extra: { optimize_prompt_options: { mode: 'fast' } } });
    assert.deepEqual(outputs, [{ url: `${emulator.origin}/files/picture?sign=s` }]);
    assert.deepEqual(usage, { outputTokens: 16384 });
    const [sent] = emulator.requests;
    assert.equal(`${sent?.method} ${sent?.path}`, 'POST /api/v3/images/generations');
    assert.equal(sent?.headers.authorization, `Bearer ${KEY}`);
    assert.equal(sent?.headers['x-client-request-id'], ORDER.id);
    assert.deepEqual(emulator.submissions, [
      {
        optimize_prompt_options: { mode: 'fast' },
        model: FOUR,
        watermark: false,
        prompt: 'A toll gate',
        response_format: 'url',
      },
    ]);
  }, FOUR));

test('there is nothing to ask after, and nothing to find again', () => {
  assert.deepEqual(Object.keys(image), ['check', 'perCall', 'submit']);
  assert.equal(image.perCall(plainImage({ n: 4 }), FOUR), 1);
});

type Sent = readonly [model: string, fields: Partial<ImageRequest<Media>>, sent: object];
const SENT: readonly Sent[] = [
  [FOUR, { resolution: '4k' }, { size: '4K' }],
  [FOUR, { resolution: '1K', aspectRatio: '16:9' }, { size: '1360x768' }],
  [FOUR, { aspectRatio: '1:1' }, { size: '2048x2048' }],
  [FOUR, { aspectRatio: '9:16', resolution: '2k' }, { size: '1536x2720' }],
  [FOUR, { size: '1536x1024' }, { size: '1536x1024' }],
  [FOUR, { size: 'auto', aspectRatio: 'auto' }, {}],
  [FOUR, { watermark: true, outputFormat: 'jpeg' }, { watermark: true }],
  [
    FOUR,
    { referenceImages: [picture, large] },
    { image: ['data:image/png;base64,YWJj', 'https://files.example/a.png'] },
  ],
  ['seedream-3-0-t2i-250415', { seed: 7, resolution: '1k' }, { seed: 7, size: '1K' }],
  ['seedream-4-5-251128', { resolution: '2k' }, { size: '2K' }],
  [LITE, { resolution: '3k', outputFormat: 'png' }, { size: '3K', output_format: 'png' }],
  [PRO, { resolution: '1k', aspectRatio: '1:1' }, { size: '1024x1024' }],
  [PRO, { resolution: '2k', aspectRatio: '21:9', outputFormat: 'jpeg' }, { size: '3120x1344', output_format: 'jpeg' }],
];
for (const [model, fields, sent] of SENT) {
  test(`${model}: ${JSON.stringify(fields).slice(0, 90)} is sent as the vendor wants it`, () =>
    withEmulator(async (emulator, upstream) => {
      await draw(upstream, fields);
      const rest = { model, watermark: false, prompt: 'A toll gate', response_format: 'url' };
      assert.deepEqual(emulator.submissions, [{ ...rest, ...sent }]);
    }, model));
}

type Refused = readonly [model: string, fields: Partial<ImageRequest<Media>>, param: string];
const REFUSED: readonly Refused[] = [
  [FOUR, { mask: picture }, 'mask'],
  [FOUR, { negativePrompt: 'fog' }, 'negative_prompt'],
  [FOUR, { quality: 'high' }, 'quality'],
  [FOUR, { style: 'vivid' }, 'style'],
  [FOUR, { background: 'transparent' }, 'background'],
  [FOUR, { seed: 7 }, 'seed'],
  [FOUR, { outputFormat: 'png' }, 'output_format'],
  [FOUR, { resolution: '3k' }, 'resolution'],
  [FOUR, { resolution: '2k', size: '2048x2048' }, 'resolution'],
  [FOUR, { size: '512x512' }, 'size'],
  [FOUR, { size: '8192x4096' }, 'size'],
  [FOUR, { size: '16400x960' }, 'size'],
  [FOUR, { aspectRatio: '17:1' }, 'aspect_ratio'],
  [FOUR, { referenceImages: Array(15).fill(picture) }, 'reference_images'],
  [FOUR, { extra: { sequential_image_generation: 'auto' } }, 'sequential_image_generation'],
  [FOUR, { extra: { image: 'https://files.example/a' } }, 'image'],
  [PRO, { resolution: '1k', aspectRatio: '16:9' }, 'resolution'],
  [PRO, { referenceImages: Array(11).fill(picture) }, 'reference_images'],
  [PRO, { outputFormat: 'webp' }, 'output_format'],
  ['seedream-4-5-251128', { resolution: '1k' }, 'resolution'],
  ['seedream-3-0-t2i-250415', { referenceImages: [picture] }, 'reference_images'],
  ['seedream-3-0-t2i-250415', { seed: 2 ** 31 }, 'seed'],
];
for (const [model, fields, param] of REFUSED) {
  test(`${model} refuses ${JSON.stringify(fields).slice(0, 80)}`, () => {
    assert.throws(() => image.check(plainImage(fields), model), { code: 'unsupported_parameter', param });
  });
}

describe('what comes in place of a picture', () => {
  const code = (name: string) => ({ code: name, message: 'marker' });
  const ANSWERS: readonly (readonly [body: object, fault: Fault])[] = [
    [{ data: [{ error: code('OutputImageSensitiveContentDetected') }] }, 'policy'],
    [{ data: [{ error: code('InternalServiceError') }] }, 'server'],
    [{ data: [], error: code('OutputImageSensitiveContentDetected.PolicyViolation') }, 'policy'],
    [{ error: code('AccountOverdueError') }, 'account'],
    [{ data: [{ size: '1x1' }], error: code('ServerOverloaded') }, 'rate'],
    [{ data: [] }, 'garbled'],
    [{}, 'garbled'],
  ];
  for (const [body, fault] of ANSWERS) {
    test(`${JSON.stringify(body)} is ${fault}`, () =>
      withEmulator(async (emulator, upstream) => {
        emulator.script({ kind: 'instead', ...json(200, body) });
        await assert.rejects(draw(upstream), isFault(fault));
      }, FOUR));
  }

  test('a picture counts although another failed beside it', () =>
    withEmulator(async (emulator, upstream) => {
      const data = [{ error: code('InternalServiceError') }, { url: 'https://files.example/a' }];
      emulator.script({ kind: 'instead', ...json(200, { data, error: code('InternalServiceError') }) });
      assert.deepEqual((await draw(upstream)).outputs, [{ url: 'https://files.example/a' }]);
    }, FOUR));
});
