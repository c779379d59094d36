import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { dataUrl, formOf, GIF, type Part, pngOf, SVG, valuesOf } from './support/asked-forms.ts';
import type { NewCaller } from './support/gateway.ts';
import { picture } from './support/media-samples.ts';
import { type Asking, EDITS, MediaStudio, openImage, type Told } from './support/media-studio.ts';
import { paidCaller } from './support/paid-calls.ts';
import { imageModel } from './support/studio.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const PNG = pngOf();
const accepts = {
  sizes: ['1024x1024'],
  resolutions: ['2k'],
  aspect_ratios: ['1:1'],
  slots: ['reference_images', 'mask'],
};
const studio = new MediaStudio({
  models: [
    openImage('open/image', { accepts }),
    imageModel('open/queue', [{ upstream: 'open-queue', model: 'any/painter' }], { accepts }),
    openImage('open/generations', { accepts, endpoints: ['images'] }),
    imageModel('author/image', [{ upstream: 'direct', model: 'gpt-image-2' }], { accepts }),
  ],
});
before(() => studio.start());
after(() => studio.stop());

let caller: NewCaller;
beforeEach(async () => {
  caller = await paidCaller(studio.gateway);
});
afterEach(() => studio.gateway.assertBooksBalance());

const LEAST = valuesOf({ model: 'open/image', prompt: 'a gate' });
const image = (bytes: Buffer, more: Partial<Part> = {}): Part => ({ name: 'image', bytes, ...more });
const value = (name: string, text: string): Part => ({ name, value: text });
const edit = (...parts: readonly Part[]) => formOf([...LEAST, ...parts]);

async function refused(told: Told, ...askings: readonly Asking[]): Promise<void> {
  await studio.refuses(
    caller,
    EDITS,
    askings.map((asking) => [asking, told]),
  );
}

/** What the upstream was sent for an edit that it did. */
async function forwarded(asking: Asking) {
  await studio.made(caller, EDITS, asking);
  return studio.open.submissions.at(-1) ?? assert.fail('nothing was sent');
}

/** A picture with transparent places, as masks are. */
async function maskOf(width: number, height: number): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  const background = { r: 0, g: 0, b: 0, alpha: 0 };
  return sharp({ create: { width, height, channels: 4, background } })
    .png()
    .toBuffer();
}

describe('what an edit is made of', () => {
  test('R-327: a form and a JSON body both answer 202 with a job of kind image', async () => {
    const json = { body: { model: 'open/image', prompt: 'a gate', reference_images: [dataUrl(PNG)] } };
    for (const asking of [edit(image(PNG)), json]) {
      const answer = await studio.sent(caller, EDITS, asking);
      assert.deepEqual([answer.status, answer.json.object, answer.json.kind], [202, 'job', 'image'], answer.text);
      await studio.ended(caller, answer.json.id);
      const { route, fields, files } = studio.open.submissions.at(-1) ?? assert.fail();
      assert.deepEqual([route, fields], ['edits', { model: 'painter', prompt: 'a gate', n: 1 }]);
      assert.deepEqual(
        files.map(({ bytes }) => bytes),
        [PNG],
      );
    }
  });

  for (const [what, given] of [
    ['one picture', { image: dataUrl(PNG) }],
    ['an object', { image: { b64: PNG.toString('base64') } }],
    ['a list', { image: [dataUrl(PNG)] }],
    ['the same under both names', { image: dataUrl(PNG), reference_images: [dataUrl(PNG)] }],
  ] as const) {
    test(`R-327: JSON takes ${what} as image, as the form does`, async () => {
      const { fields, files } = await forwarded({ body: { model: 'open/image', prompt: 'a gate', ...given } });
      assert.deepEqual(fields, { model: 'painter', prompt: 'a gate', n: 1 });
      assert.deepEqual(
        files.map(({ bytes }) => bytes),
        [PNG],
      );
    });
  }

  test('R-327: image and reference_images in JSON must not contradict each other', async () => {
    const body = { model: 'open/image', prompt: 'a gate', image: [dataUrl(PNG)], reference_images: [dataUrl(GIF)] };
    await refused('400 conflicting_parameters', { body });
    await refused('400 missing_image', { body: { ...body, image: null, reference_images: undefined } });
  });

  test('R-328: without a source image there is nothing to edit, in either form', async () => {
    const body = { model: 'open/image', prompt: 'a gate' };
    const mask = dataUrl(PNG);
    await refused(
      '400 missing_image',
      edit(),
      edit({ name: 'mask', bytes: PNG }),
      { body },
      { body: { ...body, mask } },
    );
    await refused('400 missing_image', { body: { ...body, reference_images: [] } });
    await refused('400 missing_model', formOf([image(PNG)]), formOf([value('model', ''), image(PNG)]));
    await refused('400 missing_prompt', formOf([value('model', 'open/image'), image(PNG)]));
  });

  test('R-329: images keep the order in which they were sent, under both names mixed', async () => {
    const sides = [3, 4, 5, 6, 7];
    const parts = sides.map((width, at) => image(pngOf({ width }), { name: at % 2 === 0 ? 'image[]' : 'image' }));
    const { files } = await forwarded(formOf([...parts.slice(0, 3), ...LEAST, ...parts.slice(3)]));
    assert.deepEqual(
      files.map(({ bytes }) => bytes.readUInt32BE(16)),
      sides,
    );
    const sixteen = Array.from({ length: 16 }, () => image(PNG));
    assert.equal((await forwarded(edit(...sixteen))).files.length, 16);
    await refused('400 invalid_parameter', edit(...sixteen, image(PNG)));
  });

  test('R-330, R-338: one mask goes with the images, a second is refused, and an empty one', async () => {
    const mask: Part = { name: 'mask', bytes: await maskOf(2, 2) };
    const { files } = await forwarded(edit(mask, image(PNG)));
    assert.deepEqual(
      files.map(({ part, bytes }) => [part, bytes]),
      [
        ['image', PNG],
        ['mask', mask.bytes],
      ],
    );
    await refused(
      '400 invalid_mask',
      edit(image(PNG), mask, mask),
      edit(image(PNG), mask, value('mask', dataUrl(PNG))),
    );
    await refused('400 empty_mask', edit(image(PNG), { name: 'mask', bytes: Buffer.alloc(0) }));
  });

  test('a mask reaches a model that is particular about masks, and another kind of picture is told to be wrong', async () => {
    const parts = [...valuesOf({ model: 'author/image', prompt: 'a gate' }), image(pngOf())];
    const mask = await maskOf(2, 2);
    await studio.made(caller, EDITS, formOf([...parts, { name: 'mask', bytes: mask }]));
    assert.deepEqual(studio.direct.submissions.at(-1)?.files.at(-1)?.bytes, mask);
    const jpeg = await picture('jpeg', { width: 2, height: 2 });
    await refused('400 unsupported_parameter', formOf([...parts, { name: 'mask', bytes: jpeg }]));
  });

  test('R-331: value parts mean what they mean in JSON', async () => {
    const texts = { size: '1024x1024', resolution: '2k', quality: 'hd', style: 'vivid', response_format: 'b64_json' };
    const more = { background: 'opaque', output_format: 'webp', negative_prompt: 'fog', aspect_ratio: '1:1' };
    const words = valuesOf({ ...texts, ...more, n: '2', seed: '-7', watermark: 'true' });
    const { fields } = await forwarded(edit(...words, image(PNG)));
    const asked = { model: 'painter', prompt: 'a gate', ...texts, ...more, n: 2, seed: '-7', watermark: 'true' };
    assert.deepEqual(fields, asked);
    await refused('400 invalid_n', ...['0', '11', '1.5', 'two', '0x1'].map((n) => edit(value('n', n), image(PNG))));
    const wrong = [value('seed', '1.5'), value('seed', 'x'), value('watermark', 'yes'), value('size', '1024')];
    await refused('400 invalid_parameter', ...wrong.map((part) => edit(part, image(PNG))));
    await refused('400 invalid_output_format', edit(value('output_format', 'gif'), image(PNG)));
    await refused('400 invalid_response_format', edit(value('response_format', 'json'), image(PNG)));
    await refused('400 unsupported_parameter', edit(value('resolution', '4k'), image(PNG)));
  });

  test('R-323, R-332: the bytes tell what a file is, whatever its part says', async () => {
    const jpeg = await picture('jpeg', { width: 4, height: 4 });
    const odd = [image(PNG, { type: 'text/plain', fileName: 'a.txt' }), image(jpeg, { type: 'image/gif' })];
    const { files } = await forwarded(edit(...odd));
    assert.deepEqual(
      files.map(({ type }) => type),
      ['image/png', 'image/jpeg'],
    );
    await refused(
      '400 unsupported_image_format',
      ...[GIF, SVG, Buffer.from('text')].map((bytes) => edit(image(bytes))),
    );
    await refused('400 empty_image', edit(image(Buffer.alloc(0))), edit(image(PNG), image(Buffer.alloc(0))));
    await refused('400 unreadable_image', edit(image(PNG.subarray(0, 40))), edit(image(pngOf({ width: 16_385 }))));
  });

  test('R-333: no other file is expected, and a mask by any other name is none', async () => {
    for (const name of ['picture', 'images', 'image[0]', 'mask[]', 'Image', '', '__proto__']) {
      await refused('400 unexpected_file', edit(image(PNG), { name, bytes: PNG }));
    }
  });

  test('R-325: a model that serves no edits is not there', async () => {
    const of = (model: string) => formOf([...valuesOf({ model, prompt: 'a gate' }), image(PNG)]);
    await refused('404 model_not_found', of('open/generations'), of('none'));
  });

  test('R-338: a repeated value must be the same, and unknown values go on as texts', async () => {
    const twice = (text: string) => edit(value('quality', 'hd'), value('quality', text), image(PNG));
    assert.equal((await forwarded(twice('hd'))).fields.quality, 'hd');
    await refused('400 conflicting_parameters', twice('low'), edit(value('model', 'other'), image(PNG)));
    const { fields } = await forwarded(
      edit(...valuesOf({ strength: '0.50', deep: 'true', note: 'é{"a":1}' }), image(PNG)),
    );
    assert.deepEqual([fields.strength, fields.deep, fields.note], ['0.50', 'true', 'é{"a":1}']);
    await refused('400 url_in_extra', edit(value('logo', 'ftp://example.com/a'), image(PNG)));
    await refused('400 invalid_media_url', edit(value('logo', 'http://127.0.0.1/a'), image(PNG)));
  });
});

describe('how an edit is written', () => {
  const written = (text: string, type = 'multipart/form-data; boundary=b'): Asking => ({
    raw: Buffer.from(text),
    headers: { 'content-type': type },
  });
  const line = (name: string) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\nx\r\n`;

  test('R-334: what is no form, or only the beginning of one, is refused', async () => {
    const whole = formOf([...LEAST, image(PNG)]);
    assert.ok(Buffer.isBuffer(whole.raw));
    const headers = whole.headers ?? {};
    const cut = [10, 60, 200, whole.raw.length - 60, whole.raw.length - 8].map((bytes) => ({
      raw: whole.raw?.slice(0, bytes) ?? '',
      headers,
    }));
    await refused('400 invalid_multipart', ...cut);
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary=""']) {
      await refused('400 invalid_multipart', written(`${line('model')}--b--\r\n`, type));
    }
    await refused(
      '400 invalid_multipart',
      written(''),
      written('nothing of the kind'),
      written(`${line('model')}--c--\r\n`),
      written('--b\r\nno colon here\r\n\r\nx\r\n--b--\r\n'),
      written(`--b\r\ncontent-disposition: form-data; name="model"\r\nx\r\n--b--\r\n`),
      written(`--b\r\ncontent-type: text/plain\r\n\r\nx\r\n--b--\r\n`),
      written(`--b\r\ncontent-disposition: form-data\r\n\r\nx\r\n--b--\r\n`),
      written(`--b\r\nx: ${'y'.repeat(100 * KIB)}\r\n\r\nx\r\n--b--\r\n`),
    );
  });

  test('R-335: a value of 64 KiB is taken, one byte more is too large, in bytes and not in characters', async () => {
    const of = (text: string) => edit(value('negative_prompt', text), image(PNG));
    const limit = 64 * KIB;
    for (const text of ['x'.repeat(limit), 'é'.repeat(limit / 2)]) {
      await studio.made(caller, EDITS, of(text));
    }
    await refused(
      '413 form_field_too_large',
      of('x'.repeat(limit + 1)),
      of(`${'é'.repeat(limit / 2)}x`),
      of('x'.repeat(MIB)),
    );
  });

  test('R-324, R-336: a file of 25 MiB is taken, one byte more is too large', async () => {
    const { files } = await forwarded(edit(image(pngOf({ bytes: 25 * MIB }))));
    assert.equal(files[0]?.bytes.length, 25 * MIB);
    const larger = pngOf({ bytes: 25 * MIB + 1 });
    await refused('413 image_too_large', edit(image(larger)), edit(image(PNG), { name: 'mask', bytes: larger }));
  });

  test('R-336: a form of 100 MiB is taken, one byte more is too large', async () => {
    const parts = [...LEAST, image(PNG)];
    const used = Buffer.from(formOf(parts).raw ?? '').length;
    const of = (bytes: number) => formOf(parts, { after: Buffer.alloc(bytes - used) });
    await studio.made(caller, EDITS, of(100 * MIB));
    await refused('413 body_too_large', of(100 * MIB + 1), of(130 * MIB));
  });

  test('R-337: a JSON body of 10 MiB is taken, one byte more is too large', async () => {
    const json = JSON.stringify({ model: 'open/image', prompt: 'a gate', images: [dataUrl(PNG)] });
    const padded = (bytes: number) => ({ raw: json.padEnd(bytes), headers: { 'content-type': 'application/json' } });
    await studio.made(caller, EDITS, padded(10 * MIB));
    await refused('413 body_too_large', padded(10 * MIB + 1));
  });

  test('R-338: 64 parts are taken, one more is refused', async () => {
    const notes = Array.from({ length: 62 }, (_, at) => value(`note${at}`, 'x'));
    await forwarded(edit(...notes.slice(1), image(PNG)));
    await refused('400 invalid_multipart', edit(...notes, image(PNG)), edit(image(PNG), ...notes, ...notes));
  });

  test('R-339: other content types are refused', async () => {
    const { raw = '' } = edit(image(PNG));
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/mixed; boundary=b',
      'image/png',
      'nonsense',
    ];
    await refused('400 unsupported_content_type', ...types.map((type) => ({ raw, headers: { 'content-type': type } })));
  });

  test('R-341: a boundary has at most 70 characters', async () => {
    const of = (length: number) => formOf([...LEAST, image(PNG)], { boundary: 'b'.repeat(length) });
    await forwarded(of(70));
    await refused('400 invalid_multipart', of(71), of(5000));
  });

  test('R-341: part names that mean something to a program are plain data', async () => {
    const names = ['__proto__', 'constructor', 'prototype', 'a[__proto__][b]', 'toString'];
    const model = valuesOf({ model: 'open/queue', prompt: 'a gate' });
    await studio.made(caller, EDITS, formOf([...model, ...names.map((name) => value(name, 'x')), image(PNG)]));
    assert.ok(studio.openQueue.last.text.startsWith('{"__proto__":"x","constructor":"x",'), studio.openQueue.last.text);
    assert.equal('polluted' in {}, false);
  });

  test('a form that is refused half way does not hold up what follows it on the connection', async () => {
    const unread = Array.from({ length: 5 }, () => image(pngOf({ bytes: 4 * MIB })));
    await refused('400 unexpected_file', edit(image(PNG, { name: 'other' }), ...unread));
    await refused('400 unsupported_image_format', edit(image(GIF), ...unread), edit(image(GIF), ...unread));
    await refused('413 form_field_too_large', edit(value('note', 'x'.repeat(MIB)), ...unread));
    await forwarded(edit(image(PNG)));
  });
});
