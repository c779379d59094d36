import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, test } from 'node:test';
import { plainImage } from '../../../test/support/plain-requests.ts';
import type { ImageRequest } from '../../schemas/index.ts';
import { inMemoryMedia, type Media, type Upstream, UpstreamPools } from '../index.ts';
import { BedrockEmulator } from './emulator.ts';
import { work } from './work.ts';

const { image } = work;
assert.ok(image);

const KEY = 'bearer-key';
const ACCESS_KEY = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI' };
const MODEL = 'stability.stable-image-core-v1:1';
const ORDER = { id: 'order', count: 1, startWithinMs: 60_000 };
const PICTURE = Buffer.alloc(200_000, 'a picture of some size. ');
const pools = new UpstreamPools();
let emulator: BedrockEmulator;
beforeEach(async () => {
  emulator = new BedrockEmulator({ apiKey: KEY, accessKey: ACCESS_KEY, picture: PICTURE });
  await emulator.start();
});
afterEach(() => emulator.stop());
after(() => pools.close());

async function draw(fields: Partial<ImageRequest<Media>> = {}, more: Partial<Upstream> = {}) {
  const request = plainImage({ prompt: 'a gate', ...fields });
  image?.check(request, MODEL);
  const { signal } = new AbortController();
  const upstream = { model: MODEL, address: emulator.url, apiKey: KEY, timeoutMs: 10_000, signal, pools, ...more };
  return image?.submit(request, ORDER, upstream);
}

test('a picture is asked for with all that the vendor takes, and comes with the answer', async () => {
  const fields = { negativePrompt: 'fog', aspectRatio: '16:9', outputFormat: 'jpeg', seed: 7 } as const;
  const drawn = await draw({ ...fields, extra: { style_preset: 'anime' } });
  assert.deepEqual(drawn, { state: 'succeeded', outputs: [{ data: PICTURE }] });
  const { path, bytes } = emulator.requests[0] ?? assert.fail();
  assert.equal(path, '/model/stability.stable-image-core-v1%3A1/invoke');
  assert.deepEqual(JSON.parse(bytes.toString()), {
    prompt: 'a gate',
    negative_prompt: 'fog',
    aspect_ratio: '16:9',
    output_format: 'jpeg',
    seed: 7,
    style_preset: 'anime',
  });
});

test('a call for a picture is signed', async () => {
  const credential = { kind: 'access_key', access_key_id: ACCESS_KEY.id, region: 'us-east-1' };
  assert.equal((await draw({}, { apiKey: ACCESS_KEY.secret, credential }))?.state, 'succeeded');
});

const medium = inMemoryMedia(Buffer.from('x'), 'image/png');
const REFUSED: readonly (readonly [Partial<ImageRequest<Media>>, string])[] = [
  [{ size: '1024x1024' }, 'size'],
  [{ resolution: '2k' }, 'resolution'],
  [{ aspectRatio: '4:3' }, 'aspect_ratio'],
  [{ quality: 'high' }, 'quality'],
  [{ style: 'anime' }, 'style'],
  [{ background: 'transparent' }, 'background'],
  [{ outputFormat: 'webp' }, 'output_format'],
  [{ seed: 0 }, 'seed'],
  [{ watermark: true }, 'watermark'],
  [{ referenceImages: [medium] }, 'reference_images'],
  [{ mask: medium }, 'mask'],
  [{ extra: { image: 'AAAA' } }, 'image'],
  [{ extra: { mode: 'image-to-image' } }, 'mode'],
];
for (const [fields, param] of REFUSED) {
  test(`${param} is refused before anything is held: ${JSON.stringify(Object.keys(fields))}`, () => {
    assert.throws(() => image.check(plainImage(fields), MODEL), { code: 'unsupported_parameter', param });
  });
}

const FAULTS = [
  ['a filtered prompt', { images: [], seeds: [], finish_reasons: ['Filter reason: prompt'] }, 'policy'],
  ['a filtered picture', { images: ['AAAA'], seeds: [1], finish_reasons: ['Filter reason: output image'] }, 'policy'],
  ['a fault of its own', { images: [], seeds: [], finish_reasons: ['Inference error'] }, 'server'],
  ['no picture', { images: [], seeds: [], finish_reasons: [null] }, 'garbled'],
  ['no list', { seeds: [1] }, 'garbled'],
] as const;
for (const [name, body, fault] of FAULTS) {
  test(`${name} is ${fault}`, async () => {
    const headers = { 'content-type': 'application/json' };
    emulator.script({ kind: 'instead', status: 200, headers, body: JSON.stringify(body) });
    await assert.rejects(draw(), { fault });
  });
}

test('of several pictures the first is taken', async () => {
  const body = JSON.stringify({ images: ['b25l', 'dHdv'], seeds: [1, 2], finish_reasons: [null, null] }, null, 1);
  emulator.script({ kind: 'instead', status: 200, body });
  assert.deepEqual(await draw(), { state: 'succeeded', outputs: [{ data: Buffer.from('one') }] });
});
