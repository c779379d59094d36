import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { dataUrl, GIF, pngOf, SVG } from './support/asked-forms.ts';
import type { NewCaller } from './support/gateway.ts';
import { picture } from './support/media-samples.ts';
import { MediaStudio, openImage, type Told } from './support/media-studio.ts';
import { moneyOf, paidCaller, tokenModel } from './support/paid-calls.ts';
import { IMAGE_PRICE, IMAGES, imageModel } from './support/studio.ts';

const MIB = 1024 * 1024;
const PNG = pngOf();
const ACCEPTS = {
  sizes: ['1024x1024', '1024x576', 'auto'],
  resolutions: ['1k', '2k'],
  aspect_ratios: ['1:1', '16:9'],
  slots: ['reference_images', 'mask'],
};
const pricing = {
  mode: 'per_image',
  credits: { base: IMAGE_PRICE },
  quality_ratio: { hd: 2, low: 0.5 },
  resolution_ratio: { '2k': 1.5 },
};
const narrow = [
  { upstream: 'queue', model: 'fal-ai/flux/dev', accepts: { resolutions: ['1k'] } },
  { upstream: 'open', model: 'painter', accepts: { resolutions: ['2k'], aspect_ratios: ['16:9'], n_max: 2 } },
];
const studio = new MediaStudio({
  models: [
    openImage('open/image', { accepts: ACCEPTS, pricing }),
    openImage('open/today', {
      accepts: ACCEPTS,
      pricing: { ...pricing, quality_ratio: { low: 0.5, medium: 1, high: 2, auto: 1.5 } },
    }),
    openImage('open/plain', { accepts: {} }),
    openImage('open/edits', { accepts: ACCEPTS, endpoints: ['image_edits'] }),
    imageModel('open/queue', [{ upstream: 'open-queue', model: 'any/painter' }]),
    imageModel('narrow/routes', narrow),
    tokenModel('only/chat', ['direct']),
  ],
});
before(() => studio.start());
after(() => studio.stop());

let caller: NewCaller;
beforeEach(async () => {
  caller = await paidCaller(studio.gateway);
});
afterEach(() => studio.gateway.assertBooksBalance());

const asked = (more: object = {}, model = 'open/image') => ({ body: { model, prompt: 'a gate', ...more } });

async function refused(told: Told, ...fields: readonly object[]): Promise<void> {
  await studio.refuses(
    caller,
    IMAGES,
    fields.map((more) => [asked(more), told]),
  );
}

/** What the upstream was sent for a request that it did. */
async function forwarded(more: object, model?: string) {
  await studio.made(caller, IMAGES, asked(more, model));
  return studio.open.submissions.at(-1) ?? assert.fail('nothing was sent');
}

describe('what an image request asks for', () => {
  test('R-298: the least that can be asked answers 202 with a job of kind image, and reaches the upstream', async () => {
    const answer = await studio.sent(caller, IMAGES, asked());
    assert.deepEqual([answer.status, answer.json.object, answer.json.kind], [202, 'job', 'image']);
    await studio.ended(caller, answer.json.id);
    assert.deepEqual(studio.open.submissions.at(-1)?.fields, { model: 'painter', prompt: 'a gate', n: 1 });
  });

  test('R-299: a body of 10 MiB is taken, one byte more is too large', async () => {
    const json = JSON.stringify(asked().body);
    const padded = (bytes: number) => ({ raw: json.padEnd(bytes), headers: { 'content-type': 'application/json' } });
    await studio.made(caller, IMAGES, padded(10 * MIB));
    await studio.refuses(caller, IMAGES, [[padded(10 * MIB + 1), '413 body_too_large']]);
  });

  test('R-300, R-301: a model and a prompt are needed', async () => {
    for (const model of [undefined, null, '', 7, ['open/image'], {}]) await refused('400 missing_model', { model });
    for (const prompt of [undefined, null, '', 7, ['a gate']]) await refused('400 missing_prompt', { prompt });
  });

  test('R-302: one to ten pictures can be asked for, and each is one ordinal', async () => {
    await refused('400 invalid_n', { n: 0 }, { n: 11 }, { n: -1 }, { n: 1.5 }, { n: '3' }, { n: true }, { n: 1e21 });
    for (const [n, count] of [
      [undefined, 1],
      [1, 1],
      [10, 10],
    ] as const) {
      const { id } = await studio.made(caller, IMAGES, asked({ n }));
      const ordinals = (await studio.assets(caller, id)).map(({ ordinal }) => ordinal);
      assert.deepEqual(ordinals, [...Array(count).keys()]);
    }
    assert.deepEqual(await moneyOf(studio.gateway, caller), { available: 520, reserved: 0, spent: 480 });
  });

  test('R-303: a size is for models that have it, and never silently another', async () => {
    for (const size of ['1024x1024', 'auto']) assert.equal((await forwarded({ size })).fields.size, size);
    await refused('400 unsupported_parameter', { size: '512x512' }, { size: '1024x1025' });
    await refused('400 invalid_parameter', { size: '1024' }, { size: '0x1024' }, { size: 1024 }, { size: '1024X1024' });
    await studio.refuses(caller, IMAGES, [
      [asked({ size: '1024x1024' }, 'open/plain'), '400 unsupported_parameter'],
      [asked({ size: 'auto' }, 'open/plain'), '400 unsupported_parameter'],
    ]);
  });

  test('R-304, R-316: a tier is one that the model publishes, under either name, whatever the shape', async () => {
    for (const more of [{ resolution: '2k' }, { metadata: { resolution: '2k' } }]) {
      assert.equal((await forwarded({ ...more, aspect_ratio: '16:9' })).fields.resolution, '2k');
    }
    const { fields } = await forwarded({ resolution: '1k', metadata: { resolution: '1k', shelf: 7 } });
    assert.deepEqual([fields.resolution, fields.metadata], ['1k', { shelf: 7 }]);
    await refused(
      '400 unsupported_parameter',
      { resolution: '4k' },
      { resolution: '2K' },
      { metadata: { resolution: '4k' } },
    );
    await refused('400 conflicting_parameters', { resolution: '1k', metadata: { resolution: '2k' } });
    await refused(
      '400 invalid_parameter',
      { resolution: 2 },
      { metadata: 'resolution' },
      { metadata: { resolution: 2 } },
    );
  });

  for (const [model, quality, price, sent] of [
    // It publishes `hd` and `low`: what is the same by another word is sent and charged as the published one.
    ['open/image', 'hd', 80, 'hd'],
    ['open/image', 'high', 80, 'hd'],
    ['open/image', 'low', 20, 'low'],
    ['open/image', 'auto', 40, 'auto'],
    ['open/image', undefined, 40, undefined],
    // It publishes today's words, and what it is left to choose has a price.
    ['open/today', 'hd', 80, 'high'],
    ['open/today', 'high', 80, 'high'],
    ['open/today', 'standard', 40, 'medium'],
    ['open/today', 'auto', 60, 'auto'],
    ['open/today', undefined, 60, undefined],
    // It publishes none, so that every word goes on and costs the same.
    ['open/plain', 'hd', 40, 'hd'],
    ['open/plain', 'xhigh', 40, 'xhigh'],
  ] as const) {
    test(`R-305, R-161: ${model} is sent ${sent} for the quality ${quality}, and that is charged`, async () => {
      const before = studio.open.submissions.length;
      const { body } = asked({ quality }, model);
      const estimate = await studio.gateway.call('POST', '/v1/estimate', {
        key: caller.key,
        body: { ...body, endpoint: 'images' },
      });
      const { usage } = await studio.made(caller, IMAGES, { body });
      assert.deepEqual([usage.credits, studio.open.submissions[before]?.fields.quality], [price, sent]);
      assert.equal(estimate.json.credits, price, estimate.text);
    });
  }

  test('R-167: a quality that the model does not publish is refused before pricing', async () => {
    await refused('400 invalid_parameter', { quality: 1 });
    const unpublished = ['standard', 'medium', 'xhigh', 'max', 'ultra', 'HD', 'constructor'];
    await refused('400 unsupported_parameter', ...unpublished.map((quality) => ({ quality })));
    const body = { ...asked({ quality: 'xhigh' }).body, endpoint: 'images' };
    const estimate = await studio.gateway.call('POST', '/v1/estimate', { key: caller.key, body });
    assert.deepEqual([estimate.status, estimate.json.error.code], [400, 'unsupported_parameter']);
    assert.match(estimate.json.error.message, /takes hd, low, auto/);
  });

  test('R-306, R-308: style, negative prompt, seed, watermark and background go on with their types', async () => {
    const more = { style: 'vivid', negative_prompt: 'fog', seed: -7, watermark: false, background: 'transparent' };
    assert.deepEqual((await forwarded(more)).fields, { model: 'painter', prompt: 'a gate', n: 1, ...more });
    const wrong = [
      { style: 1 },
      { negative_prompt: [] },
      { seed: '7' },
      { seed: 1.5 },
      { watermark: 'true' },
      { background: {} },
    ];
    await refused('400 invalid_parameter', ...wrong);
  });

  test('R-307: a shape and a size must be of one shape', async () => {
    assert.equal((await forwarded({ aspect_ratio: '16:9', size: '1024x576' })).fields.aspect_ratio, '16:9');
    assert.equal((await forwarded({ aspect_ratio: '16:9', size: 'auto' })).fields.size, 'auto');
    await refused('400 conflicting_parameters', { aspect_ratio: '16:9', size: '1024x1024' });
    await refused('400 unsupported_parameter', { aspect_ratio: '4:3' });
    await refused('400 invalid_parameter', { aspect_ratio: 'wide' }, { aspect_ratio: 1.5 });
  });

  test('R-309, R-310: the picture comes in the format that was asked for', async () => {
    for (const format of ['png', 'jpeg', 'webp']) {
      const { id } = await studio.made(caller, IMAGES, asked({ output_format: format }));
      const [asset] = await studio.assets(caller, id);
      assert.equal(asset.mime_type, `image/${format}`);
    }
    await refused(
      '400 invalid_output_format',
      { output_format: 'gif' },
      { output_format: 'PNG' },
      { output_format: 1 },
    );
  });

  test('R-311, R-312: the response format is checked and forwarded, and changes nothing of the delivery', async () => {
    for (const format of ['url', 'b64_json']) {
      const job = await studio.made(caller, IMAGES, asked({ response_format: format }));
      assert.equal(studio.open.submissions.at(-1)?.fields.response_format, format);
      assert.equal(JSON.stringify(job).includes('b64'), false);
      const [asset] = await studio.assets(caller, job.id);
      assert.deepEqual((await studio.fetched(asset.url)).bytes.length, asset.bytes);
    }
    await refused('400 invalid_response_format', { response_format: 'base64' }, { response_format: 1 });
  });
});

describe('the pictures of an image request', () => {
  test('R-313: a URL, {url} and {b64} each reach the upstream, in order, under either name', async () => {
    const [first, second, third] = [
      pngOf({ width: 3 }),
      await picture('jpeg', { width: 8, height: 8 }),
      pngOf({ width: 5 }),
    ];
    const host = studio.queue.files;
    const given = [
      host.add('first.png', first, 'image/png'),
      { url: host.add('second', second, 'text/plain') },
      { b64: third.toString('base64'), mime_type: 'image/webp', filename: 'third.webp' },
      dataUrl(PNG),
    ];
    for (const name of ['reference_images', 'images']) {
      const { files, fields } = await forwarded({ [name]: given });
      assert.deepEqual(
        files.map(({ bytes }) => bytes),
        [first, second, third, PNG],
      );
      assert.deepEqual(
        files.map(({ type }) => type),
        ['image/png', 'image/jpeg', 'image/png', 'image/png'],
      );
      assert.deepEqual(Object.keys(fields).sort(), ['model', 'n', 'prompt']);
    }
  });

  test('R-314: the two names must agree, and sixteen references are the most', async () => {
    const url = dataUrl(PNG);
    assert.equal((await forwarded({ reference_images: [url], images: [url] })).files.length, 1);
    assert.equal((await forwarded({ images: Array(16).fill(url) })).files.length, 16);
    await refused('400 conflicting_parameters', { reference_images: [url], images: [url, url] });
    await refused('400 invalid_parameter', { images: Array(17).fill(url) }, { reference_images: Array(17).fill(url) });
    await refused(
      '400 invalid_input_reference',
      { images: url },
      { images: [7] },
      { images: [{}] },
      { images: [[url]] },
    );
  });

  test('R-315: a mask is a URL, a data URL or the object form', async () => {
    const mask = await picture('webp-alpha', { width: 2, height: 2 });
    const { default: sharp } = await import('sharp');
    const png = await sharp(mask).png().toBuffer();
    const url = studio.queue.files.add('mask.png', png, 'image/png');
    for (const given of [url, dataUrl(png), { url }, { b64: png.toString('base64') }]) {
      const { files } = await forwarded({ reference_images: [dataUrl(PNG)], mask: given });
      assert.deepEqual(files.find(({ part }) => part === 'mask')?.bytes, png);
    }
    await refused(
      '400 invalid_mask',
      { mask: 7 },
      { mask: [] },
      { mask: {} },
      { mask: 'not a url' },
      { mask: { url, b64: '' } },
    );
    await refused('400 empty_mask', { mask: '' }, { mask: 'data:image/png;base64,' }, { mask: { b64: '' } });
  });

  test('R-323: only PNG, JPEG and WebP are pictures', async () => {
    for (const format of ['png', 'jpeg', 'webp', 'webp-lossless'] as const) {
      const bytes = await picture(format, { width: 4, height: 4 });
      assert.deepEqual((await forwarded({ images: [dataUrl(bytes, 'image/gif')] })).files[0]?.bytes, bytes);
    }
    const given = (bytes: Buffer) => [{ images: [dataUrl(bytes)] }, { images: [{ b64: bytes.toString('base64') }] }];
    const other = [GIF, SVG, Buffer.from('BM000000000000'), Buffer.from('II*\0'), Buffer.from('text')];
    await refused('400 unsupported_image_format', ...other.flatMap(given));
    await refused('400 empty_image', { images: [''] }, ...given(Buffer.alloc(0)));
    await refused('400 unreadable_image', ...given(PNG.subarray(0, 40)), ...given(PNG.subarray(0, -12)));
    await refused('400 unreadable_image', { images: [{ b64: 'no base64!' }] });
  });

  test('R-324: a picture behind a URL may have 25 MiB; one byte more cannot be fetched', async () => {
    const whole = pngOf({ bytes: 25 * MIB });
    const { files } = await forwarded({ images: [studio.queue.files.add('whole.png', whole, 'image/png')] });
    assert.equal(files[0]?.bytes.length, 25 * MIB);
    const larger = studio.queue.files.add('larger.png', pngOf({ bytes: 25 * MIB + 1 }), 'image/png');
    const before = await moneyOf(studio.gateway, caller);
    const { status, json } = await studio.sent(caller, IMAGES, asked({ images: [larger] }));
    assert.deepEqual([status, json.error.code], [400, 'invalid_input_url']);
    assert.deepEqual(await moneyOf(studio.gateway, caller), before);
  });

  test('R-326: a header may announce 100 megapixels and sides of 16 384, and no more', async () => {
    const of = (width: number, height: number) => ({ images: [dataUrl(pngOf({ width, height }))] });
    for (const [width, height] of [
      [10_000, 10_000],
      [16_384, 1],
      [1, 16_384],
    ] as const)
      await forwarded(of(width, height));
    await refused(
      '400 unreadable_image',
      of(10_000, 10_001),
      of(16_385, 1),
      of(1, 16_385),
      of(0, 5),
      of(2 ** 31, 2 ** 31),
    );
  });

  test('R-326: files are judged by their leading bytes', async () => {
    const { default: sharp } = await import('sharp');
    const frames = await sharp({ create: { width: 4, height: 8, channels: 3, background: 'red' } })
      .raw()
      .toBuffer();
    const raw = { width: 4, height: 8, channels: 3, pageHeight: 4 } as const;
    const animated = await sharp(frames, { raw }).webp({ loop: 0 }).toBuffer();
    const polyglot = Buffer.concat([PNG, Buffer.from('<script>alert(1)</script>')]);
    for (const bytes of [animated, polyglot]) {
      assert.deepEqual((await forwarded({ images: [dataUrl(bytes)] })).files[0]?.bytes, bytes);
    }
    await refused('400 unsupported_image_format', {
      images: [dataUrl(Buffer.concat([Buffer.from('<svg/>'), PNG]), 'image/svg+xml')],
    });
  });
});

describe('whether anybody can do it', () => {
  test('R-317: a route that cannot do it is passed over, and the one that can is asked', async () => {
    const before = studio.queue.requests.length;
    await studio.made(caller, IMAGES, asked({ resolution: '2k', aspect_ratio: '16:9', n: 2 }, 'narrow/routes'));
    assert.equal(studio.queue.requests.length, before);
    assert.equal(studio.open.submissions.at(-1)?.fields.resolution, '2k');
  });

  test('R-317, R-318: what no single route can do is refused before anything is held or anybody asked', async () => {
    const rows = [
      { resolution: '2k', aspect_ratio: '1:1' },
      { resolution: '2k', n: 3 },
      { resolution: '4k' },
      { size: '1024x576' },
      { resolution: '1k', quality: 'hd' },
      { resolution: '1k', images: [dataUrl(PNG)] },
    ];
    const told: Told = '400 unsupported_parameter';
    await studio.refuses(
      caller,
      IMAGES,
      rows.map((more) => [asked(more, 'narrow/routes'), told] as const),
    );
    assert.deepEqual(await moneyOf(studio.gateway, caller), { available: 1000, reserved: 0, spent: 0 });
    await studio.refuses(caller, IMAGES, [
      [asked({ images: [dataUrl(PNG)] }, 'open/plain'), told],
      [asked({ mask: dataUrl(PNG) }, 'open/plain'), told],
      [asked({ style: 'vivid' }, 'studio/direct'), told],
    ]);
  });

  test('R-325: a model that nobody serves for images is not there', async () => {
    const rows = ['none', 'only/chat', 'open/edits', 'x'.repeat(201), 'open/image\0'];
    await studio.refuses(
      caller,
      IMAGES,
      rows.map((model) => [asked({}, model), '404 model_not_found'] as const),
    );
    await studio.gateway.putConfig(studio.document({ open: { enabled: false } }));
    await studio.refuses(caller, IMAGES, [[asked(), '404 model_not_found']]);
    await studio.gateway.putConfig(studio.document({ open: { groups: ['partners'] } }));
    await studio.refuses(caller, IMAGES, [[asked(), '404 model_not_found']]);
    await studio.gateway.putConfig(studio.document());
  });
});

describe('what is passed on unread', () => {
  const sentAs = (fields: string, model = 'open/image') => ({
    raw: `{"model":"${model}","prompt":"a gate",${fields}}`,
    headers: { 'content-type': 'application/json' },
  });

  test('R-319: unmodelled keys arrive to the letter', async () => {
    const numbers = '"big":12345678901234567891234,"one":1.0,"tiny":-0,"power":1e400,"exponent":1E5';
    const nested = '"nested":{"a":[1,{"b":null,"c":[true,2.50]}],"":{}}';
    await studio.made(caller, IMAGES, sentAs(`${numbers},${nested}`));
    assert.ok(studio.open.requests.at(-1)?.bytes.toString().startsWith(`{${numbers},${nested},`));
    const texts = String.raw`"text":"\u0041\u00e9\ud83d\ude00\n\"\\\/\u0000\ud800","\u006bey":"\u2028"`;
    await studio.made(caller, IMAGES, sentAs(texts));
    const { text, key } = JSON.parse(studio.open.requests.at(-1)?.bytes.toString() ?? '');
    assert.deepEqual({ text, key }, JSON.parse(`{${texts}}`));
  });

  test('R-320, R-321: what looks like a URL must be one, and one that may be visited', async () => {
    const wrong = [
      'ftp://example.com/a',
      '//example.com/a',
      'file:///etc/passwd',
      'http://',
      'data:image/png',
      'a+b://c',
    ];
    const places = (text: string) => [
      { logo: text },
      { deep: [{ er: { logo: [text] } }] },
      { metadata: { logo: text } },
    ];
    await refused('400 url_in_extra', ...wrong.flatMap(places));
    const internal = ['http://127.0.0.1/', 'https://[::1]:8080/a', ' http://10.0.0.1/', 'http:/169.254.169.254/'];
    await refused('400 invalid_media_url', ...internal.flatMap(places));
    const fine = {
      logo: 'https://example.com/a.png',
      data: dataUrl(PNG),
      path: '/a/b',
      words: 'see http://127.0.0.1/',
    };
    const { fields } = await forwarded(fine);
    assert.deepEqual(fields, { ...fine, model: 'painter', prompt: 'a gate', n: 1 });
  });

  test('R-322: 64 KiB and sixteen levels are passed on, and not one more', async () => {
    const block = (bytes: number) => ({ note: 'x'.repeat(bytes - '{"note":""}'.length) });
    const levels = (count: number): object => (count === 1 ? {} : { a: levels(count - 1) });
    assert.equal(String((await forwarded(block(65_536))).fields.note).length, 65_525);
    assert.deepEqual((await forwarded(levels(16))).fields.a, levels(15));
    await refused('400 invalid_parameter', block(65_537), levels(17));
  });

  test('R-322: names that mean something to a program are plain data', async () => {
    const fields = '"__proto__":{"polluted":1},"constructor":{"prototype":{"a":1}},"prototype":2';
    await studio.made(caller, IMAGES, sentAs(fields, 'open/queue'));
    assert.ok(studio.openQueue.last.text.startsWith(`{${fields},`), studio.openQueue.last.text);
    assert.equal('polluted' in {}, false);
  });
});
