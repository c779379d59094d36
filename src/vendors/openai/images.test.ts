import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson } from '../../json.ts';
import { KEY, withEmulator } from './emulator/calls.ts';
import { pictureOf } from './emulator/images.ts';
import { type ImageCall, image, mediaOf, pictures, withImages } from './emulator/images-calls.ts';
import type { Script } from './emulator.ts';

const PNG = mediaOf(await pictureOf('64x48', 'png'), 'image/png');
const JPEG = mediaOf(await pictureOf('64x48', 'jpeg'), 'image/jpeg');
const WEBP = mediaOf(await pictureOf('32x32', 'webp'), 'image/webp');
const MASK = mediaOf(await pictureOf('64x48', 'png', true), 'image/png');

test('there is nothing to ask after, and nothing to find again', () => {
  assert.deepEqual(Object.keys(image), ['check', 'perCall', 'submit']);
});

test('a prompt is sent as JSON, and the picture comes back as its bytes', () =>
  withImages(
    async (emulator, upstream) => {
      const fields = { size: '1024x640', quality: 'hd', outputFormat: 'jpeg', extra: { moderation: 'low' } } as const;
      assert.deepEqual(await pictures(fields, upstream), [await pictureOf('1024x640', 'jpeg')]);
      const [request] = emulator.requests;
      assert.equal(`${request?.method} ${request?.path}`, 'POST /v1/images/generations');
      assert.equal(
        request?.bytes.toString(),
        '{"moderation":"low","model":"gpt-image-2","prompt":"A lighthouse","n":1,"size":"1024x640","quality":"high","output_format":"jpeg"}',
      );
      const { authorization, accept, 'content-type': type, 'user-agent': agent } = request?.headers ?? {};
      assert.deepEqual(
        [authorization, accept, type, agent],
        [`Bearer ${KEY}`, 'application/json', 'application/json', undefined],
      );
    },
    { apiKey: KEY },
  ));

test('a server without a key is sent no authorization', () =>
  withImages(async (emulator, upstream) => {
    await pictures({}, upstream);
    await pictures({ referenceImages: [PNG] }, upstream);
    assert.deepEqual(
      emulator.requests.map(({ headers }) => headers.authorization),
      [undefined, undefined],
    );
  }));

test('several pictures are asked for in one call', () =>
  withImages(async (emulator, upstream) => {
    const got = await pictures({ aspectRatio: '16:9', resolution: '2k' }, upstream, 3);
    assert.deepEqual(got, Array(3).fill(await pictureOf('2560x1440', 'png')));
    assert.deepEqual(emulator.submissions[0]?.fields, {
      model: 'gpt-image-2',
      prompt: 'A lighthouse',
      n: 3,
      size: '2560x1440',
    });
  }));

test('one picture to go by is sent as a form, letter by letter', () =>
  withImages(async (emulator, upstream) => {
    await pictures({ referenceImages: [JPEG], size: 'auto', extra: { user: 'u"1' } }, upstream, 2);
    const [request] = emulator.requests;
    const [, boundary = ''] =
      /^multipart\/form-data; boundary=(\S+)$/.exec(request?.headers['content-type'] ?? '') ?? [];
    const value = (name: string, text: string) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
    const head =
      value('user', 'u"1') +
      value('model', 'gpt-image-2') +
      value('prompt', 'A lighthouse') +
      value('n', '2') +
      value('size', 'auto') +
      `--${boundary}\r\ncontent-disposition: form-data; name="image"; filename="image-1.jpg"\r\ncontent-type: image/jpeg\r\n\r\n`;
    const end = `\r\n--${boundary}--\r\n`;
    const body = Buffer.concat([Buffer.from(head), await JPEG.read(), Buffer.from(end)]);
    assert.equal(`${request?.method} ${request?.path}`, 'POST /v1/images/edits');
    assert.equal(request?.headers['content-length'], String(body.length));
    assert.equal(request?.bytes.toString('latin1'), body.toString('latin1'));
  }));

test('R-313 several pictures and a mask keep their order, kinds and bytes', () =>
  withImages(async (emulator, upstream) => {
    const referenceImages = [PNG, WEBP, JPEG];
    await pictures({ referenceImages, mask: MASK }, upstream);
    const [submission] = emulator.submissions;
    assert.deepEqual(
      submission?.files.map(({ part, name, type }) => `${part} ${name} ${type}`),
      [
        'image[] image-1.png image/png',
        'image[] image-2.webp image/webp',
        'image[] image-3.jpg image/jpeg',
        'mask mask.png image/png',
      ],
    );
    const sent = await Promise.all([...referenceImages, MASK].map((media) => media.read()));
    assert.deepEqual(
      submission?.files.map(({ bytes }) => bytes),
      sent,
    );
  }));

test('R-319 in a form, fields that are not modelled keep their numbers, and lists and objects their members', () =>
  withImages(
    async (emulator, upstream) => {
      const text = `{"big":9007199254740993,"one":1.0,"yes":true,"none":null,"words":["a","b"],"deep":{"x":{"y":[1e400]}},
        "image":"no","image[]":"no","mask":{"a":1},"image_size":"kept","model":"no"}`;
      const extra = parseJson(text).exact() as ImageCall['extra'];
      await pictures({ referenceImages: [PNG], extra, seed: 7, watermark: false }, { ...upstream, model: 'sdxl' });
      const [request] = emulator.requests;
      const type = String(request?.headers['content-type']);
      const form = await new Response(new Uint8Array(request?.bytes ?? []), {
        headers: { 'content-type': type },
      }).formData();
      assert.deepEqual(
        [...form.entries()].filter(([, value]) => typeof value === 'string'),
        [
          ['big', '9007199254740993'],
          ['one', '1.0'],
          ['yes', 'true'],
          ['words[]', 'a'],
          ['words[]', 'b'],
          ['deep[x][y][]', '1e400'],
          ['image_size', 'kept'],
          ['model', 'sdxl'],
          ['prompt', 'A lighthouse'],
          ['n', '1'],
          ['seed', '7'],
          ['watermark', 'false'],
        ],
      );
    },
    { isLenient: true },
  ));

const WAYS: readonly { name: string; script: Script; outputs: (origin: string) => Promise<(Buffer | string)[]> }[] = [
  {
    name: 'under addresses',
    script: { kind: 'pictures', as: 'url' },
    outputs: async (origin) => [`${origin}/generated/0`, `${origin}/generated/1`],
  },
  {
    name: 'inside addresses',
    script: { kind: 'pictures', as: 'data url' },
    outputs: async () => Array(2).fill(await pictureOf('1024x1024', 'png')),
  },
  {
    name: 'fewer than asked for',
    script: { kind: 'pictures', count: 1 },
    outputs: async () => [await pictureOf('1024x1024', 'png')],
  },
  {
    name: 'beside broken ones',
    script: {
      kind: 'raw',
      body: '{"data":[null,{"b64_json":""},{"url":""},{"b64_json":null,"url":"https://x.test/1"},7]}',
    },
    outputs: async () => ['https://x.test/1'],
  },
  {
    name: 'beside withheld ones',
    script: { kind: 'raw', body: '{"data":[{"b64_json":"eHg=","respect_moderation":false},{"b64_json":"eXk="}]}' },
    outputs: async () => [Buffer.from('yy')],
  },
];

for (const { name, script, outputs } of WAYS) {
  test(`pictures that come ${name} are handed on`, () =>
    withImages(async (emulator, upstream) => {
      emulator.script(script);
      assert.deepEqual(await pictures({}, upstream, 2), await outputs(emulator.origin));
    }));
}

test('a server that only speaks the format is taken at its word', () =>
  withEmulator({ speaks: 'xai' }, async (emulator, upstream) => {
    emulator.script({ kind: 'pictures', as: 'url', beside: { respect_moderation: true } });
    const given = { aspectRatio: '1:1', resolution: '1k', responseFormat: 'url' } as const;
    assert.deepEqual(await pictures(given, { ...upstream, model: 'grok-imagine-image' }), [
      `${emulator.origin}/generated/0`,
    ]);
    assert.deepEqual(emulator.submissions[0]?.fields, {
      model: 'grok-imagine-image',
      prompt: 'A lighthouse',
      n: 1,
      resolution: '1k',
      aspect_ratio: '1:1',
      response_format: 'url',
    });
  }));
