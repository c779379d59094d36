import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { KEY, MARKER } from './emulator/calls.ts';
import { pictureOf } from './emulator/images.ts';
import { OpenAiEmulator } from './emulator.ts';

const ASKED = { model: 'gpt-image-2', prompt: 'A lighthouse' };
const png = await pictureOf('64x48', 'png');
const mask = await pictureOf('64x48', 'png', true);
const fileOf = (bytes: Buffer, name = 'a.png', type = 'image/png') => toFile(bytes, name, { type });

describe('the vendor’s own library takes the emulator for the vendor', () => {
  const emulator = new OpenAiEmulator({ apiKey: KEY, marker: MARKER });
  let client: OpenAI;
  before(async () => {
    await emulator.start();
    client = new OpenAI({ baseURL: emulator.url, apiKey: KEY, maxRetries: 0 });
  });
  after(() => emulator.stop());

  test('a picture is made', async () => {
    const answer = await client.images.generate({
      ...ASKED,
      n: 2,
      size: '1536x1024',
      output_format: 'webp',
      output_compression: 80,
      quality: 'low',
      background: 'transparent',
      moderation: 'low',
    });
    const pictures = answer.data?.map(({ b64_json: base64 }) => Buffer.from(base64 ?? '', 'base64'));
    assert.deepEqual(pictures, Array(2).fill(await pictureOf('1536x1024', 'webp', true)));
    assert.deepEqual([answer.output_format, answer.size, answer.quality], ['webp', '1536x1024', 'low']);
    assert.deepEqual([answer.usage?.output_tokens, answer._request_id], [2112, `req_${MARKER}`]);
  });

  test('a picture is changed, with one source and with several and a mask', async () => {
    const one = await client.images.edit({ ...ASKED, image: await fileOf(png), n: 1 });
    const images = [await fileOf(png), await fileOf(await pictureOf('32x32', 'jpeg'), 'b.jpg', 'image/jpeg')];
    const several = await client.images.edit({ ...ASKED, image: images, mask: await fileOf(mask), size: '1024x1024' });
    assert.deepEqual([one.data?.length, several.data?.length], [1, 1]);
    const parts = emulator.submissions.slice(-2).map(({ files }) => files.map(({ part }) => part).sort());
    assert.deepEqual(parts, [['image'], ['image[]', 'image[]', 'mask']]);
  });

  test('a picture under an address can be fetched there', async () => {
    emulator.script({ kind: 'pictures', as: 'url' });
    const { data } = await client.images.generate(ASKED);
    const reply = await fetch(data?.[0]?.url ?? '');
    assert.equal(reply.headers.get('content-type'), 'image/png');
    assert.deepEqual(Buffer.from(await reply.arrayBuffer()), await pictureOf('1024x1024', 'png'));
  });

  const REFUSED: readonly [name: string, body: object, expected: object][] = [
    ['a missing prompt', { prompt: undefined }, { param: 'prompt' }],
    ['a prompt that is too long', { prompt: 'a'.repeat(32_001) }, { param: 'prompt' }],
    ['another kind of model', { model: 'gpt-x' }, { param: 'model' }],
    ['a response format', { response_format: 'b64_json' }, { param: 'response_format', code: 'unknown_parameter' }],
    ['a style', { style: 'vivid' }, { param: 'style', code: 'unknown_parameter' }],
    ['a seed', { seed: 1 }, { param: 'seed', code: 'unknown_parameter' }],
    ['a size off the steps', { size: '1000x1000' }, { param: 'size' }],
    ['a size of a newer model', { model: 'gpt-image-1.5', size: '1280x720' }, { param: 'size' }],
    ['a quality of a newer model', { quality: 'max' }, { param: 'quality' }],
    ['no pictures', { n: 0 }, { param: 'n' }],
    ['eleven pictures', { n: 11 }, { param: 'n' }],
    ['a number as text', { n: '1' }, { param: 'n' }],
    ['transparency in a format without', { background: 'transparent', output_format: 'jpeg' }, { param: 'background' }],
  ];
  for (const [name, body, expected] of REFUSED) {
    test(`${name} is refused`, () =>
      assert.rejects(client.post('/images/generations', { body: { ...ASKED, ...body } }), {
        status: 400,
        type: 'invalid_request_error',
        ...expected,
      }));
  }

  const FILES: readonly [name: string, body: () => Promise<object>, expected: object][] = [
    ['no image', async () => ({}), { param: 'image' }],
    ['what is no picture', async () => ({ image: await fileOf(Buffer.from('no')) }), { code: 'invalid_image_file' }],
    [
      'a picture under a wrong type',
      async () => ({ image: await fileOf(png, 'a.png', 'image/webp') }),
      { code: 'unsupported_file_mimetype' },
    ],
    [
      'a picture under a wrong name',
      async () => ({ image: await fileOf(png, 'a.jpg') }),
      { code: 'unsupported_file_mimetype' },
    ],
    [
      'seventeen pictures',
      async () => ({ image: await Promise.all(Array.from({ length: 17 }, () => fileOf(png))) }),
      { param: 'image' },
    ],
    [
      'a mask that shows nothing through',
      async () => ({ image: await fileOf(png), mask: await fileOf(png) }),
      { code: 'invalid_mask_image_format' },
    ],
    [
      'a mask of another size',
      async () => ({ image: await fileOf(png), mask: await fileOf(await pictureOf('64x64', 'png', true)) }),
      { code: 'invalid_image_mask_size_mismatch' },
    ],
    [
      'a mask in another format',
      async () => ({
        image: await fileOf(png),
        mask: await fileOf(await pictureOf('64x48', 'webp', true), 'm.webp', 'image/webp'),
      }),
      { param: 'mask' },
    ],
    ['an unknown field', async () => ({ image: await fileOf(png), seed: 1 }), { code: 'unknown_parameter' }],
    ['eleven pictures', async () => ({ image: await fileOf(png), n: 11 }), { param: 'n' }],
  ];
  for (const [name, body, expected] of FILES) {
    test(`an edit with ${name} is refused`, async () => {
      const fields = { ...ASKED, ...(await body()) } as OpenAI.ImageEditParamsNonStreaming;
      await assert.rejects(client.images.edit(fields), { status: 400, ...expected });
    });
  }

  test('what is at its bound is taken', async () => {
    const image = await Promise.all(Array.from({ length: 16 }, () => fileOf(png)));
    const answer = await client.images.edit({ model: 'gpt-image-2', prompt: 'a'.repeat(32_000), n: 10, image });
    assert.equal(answer.data?.length, 10);
  });

  test('a picture of 50 MB is refused for its length, and one byte less is not', async () => {
    const bytes = Buffer.alloc(50_000_000);
    const edit = async (length: number) =>
      client.images.edit({ ...ASKED, image: await fileOf(bytes.subarray(0, length)) });
    await assert.rejects(edit(bytes.length), { code: 'image_too_large' });
    await assert.rejects(edit(bytes.length - 1), { code: 'invalid_image_file' });
  });

  test('a form where JSON is due, and JSON where a form is, are refused', async () => {
    await assert.rejects(client.post('/images/edits', { body: ASKED }), { status: 415 });
    const reply = await fetch(`${emulator.url}/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
      body: new FormData(),
    });
    assert.equal(reply.status, 415);
  });

  test('a refusal for content carries its code', async () => {
    emulator.script({ kind: 'error', error: 'pictureModerated' });
    await assert.rejects(client.images.generate(ASKED), {
      status: 400,
      type: 'image_generation_user_error',
      code: 'moderation_blocked',
    });
  });
});
