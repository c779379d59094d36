import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { imageOf, JPEG, outcomeOf, PNG, videoOf, WEBP } from '../../test/support/media-bodies.ts';
import { IMAGE_BYTES_MAX, REFERENCES_MAX, URL_CHARS_MAX } from '../limits.ts';
import { decodeBase64, readDataUrl } from './references.ts';

const base64 = (bytes: Buffer) => bytes.toString('base64');
const dataUrl = (bytes: Buffer, type = 'image/png') => `data:${type};base64,${base64(bytes)}`;
const URL_TEXT = 'https://pictures.example/a.png';

const image = (reference: unknown) => imageOf({ model: 'm', prompt: 'p', reference_images: [reference] });
const mask = (given: unknown) => imageOf({ model: 'm', prompt: 'p', mask: given });
const video = (reference: unknown) => videoOf({ model: 'm', prompt: 'p', input_reference: reference });

const FROM_URL = { from: 'url', url: URL_TEXT };
const FROM_BYTES = { from: 'bytes', bytes: PNG };

for (const [name, given, source] of [
  ['a URL', URL_TEXT, FROM_URL],
  ['a data URL', dataUrl(PNG), FROM_BYTES],
  ['{url}', { url: URL_TEXT }, FROM_URL],
  ['{url} with a data URL', { url: dataUrl(PNG) }, FROM_BYTES],
  ['{b64}', { b64: base64(PNG), mime_type: 'image/png', filename: 'a.png' }, FROM_BYTES],
  ['{b64} and an empty {url}', { b64: base64(PNG), url: null }, FROM_BYTES],
] as const) {
  test(`R-313 R-315 R-365: ${name} is a reference, a mask and a picture for a video`, () => {
    assert.deepEqual(image(given).referenceImages, [source]);
    assert.deepEqual(mask(given).mask, source);
    assert.deepEqual(video(given).inputReference, source);
  });
}

for (const [name, picture] of Object.entries({ PNG, JPEG, WebP: WEBP })) {
  test(`R-365: bare base64 of a ${name} is a picture for a video and nowhere else`, () => {
    assert.deepEqual(video(base64(picture)).inputReference, { from: 'bytes', bytes: picture });
    assert.equal(
      outcomeOf(() => image(base64(picture))),
      'invalid_media_url',
    );
    assert.equal(
      outcomeOf(() => mask(base64(picture))),
      'invalid_mask',
    );
  });
}

const GIF = Buffer.from('GIF89a\x01\x00\x01\x00\x00\x00\x00');

// What each of the three places calls it.
for (const [name, given, ofImage, ofMask, ofVideo] of [
  ['a number', 5, 'invalid_input_reference', 'invalid_mask', 'invalid_input_reference'],
  ['a list', [URL_TEXT], 'invalid_input_reference', 'invalid_mask', 'invalid_input_reference'],
  ['true', true, 'invalid_input_reference', 'invalid_mask', 'invalid_input_reference'],
  ['an empty object', {}, 'invalid_input_reference', 'invalid_mask', 'invalid_input_reference'],
  ['{file_id}', { file_id: 'f' }, 'invalid_input_reference', 'invalid_mask', 'invalid_input_reference'],
  ['{url: 5}', { url: 5 }, 'invalid_input_reference', 'invalid_mask', 'invalid_input_reference'],
  ['{b64: 5}', { b64: 5 }, 'invalid_input_reference', 'invalid_mask', 'invalid_input_reference'],
  [
    'both forms at once',
    { url: URL_TEXT, b64: 'QQ==' },
    'invalid_input_reference',
    'invalid_mask',
    'invalid_input_reference',
  ],
  ['an empty text', '', 'empty_image', 'empty_mask', 'invalid_input_reference'],
  ['only spaces', '  ', 'empty_image', 'empty_mask', 'invalid_input_reference'],
  ['{url} of nothing', { url: '' }, 'empty_image', 'empty_mask', 'invalid_input_reference'],
  ['{b64} of nothing', { b64: '' }, 'empty_image', 'empty_mask', 'invalid_input_reference'],
  ['a data URL of nothing', 'data:image/png;base64,', 'empty_image', 'empty_mask', 'invalid_input_reference'],
  ['a word', 'kitten', 'invalid_media_url', 'invalid_mask', 'invalid_input_reference'],
  ['base64 of a text', base64(Buffer.from('a kitten')), 'invalid_media_url', 'invalid_mask', 'invalid_input_reference'],
  ['base64 of a GIF', base64(GIF), 'invalid_media_url', 'invalid_mask', 'invalid_input_reference'],
  ['{b64} that is no base64', { b64: 'a!b' }, 'unreadable_image', 'invalid_mask', 'invalid_input_reference'],
  ['a relative URL', '/a.png', 'invalid_media_url', 'invalid_mask', 'invalid_input_reference'],
  [
    'a URL without its scheme',
    '//pictures.example/a.png',
    'invalid_media_url',
    'invalid_mask',
    'invalid_input_reference',
  ],
  ['{url} with base64', { url: base64(PNG) }, 'invalid_media_url', 'invalid_mask', 'invalid_input_reference'],
] as const) {
  test(`R-313 R-315 R-366: ${name} is refused as ${ofImage}, ${ofMask} and ${ofVideo}`, () => {
    const outcomes = [image, mask, video].map((parse) => outcomeOf(() => parse(given)));
    assert.deepEqual(outcomes, [ofImage, ofMask, ofVideo]);
  });
}

for (const [given, code] of [
  ['ftp://pictures.example/a.png', 'unsupported_media_url_scheme'],
  ['file:///etc/passwd', 'unsupported_media_url_scheme'],
  ['blob:https://pictures.example/1', 'unsupported_media_url_scheme'],
  ['javascript:alert(1)', 'unsupported_media_url_scheme'],
  ['FILE:///etc/passwd', 'unsupported_media_url_scheme'],
  ['localhost:8080/a.png', 'unsupported_media_url_scheme'],
  ['http://', 'invalid_media_url'],
  ['https://[::1', 'invalid_media_url'],
  ['https://pictures.example:99999/', 'invalid_media_url'],
  [`https://pictures.example/${'a'.repeat(URL_CHARS_MAX)}`, 'invalid_media_url'],
  ['data:image/png;base64', 'invalid_media_url'],
  ['data:image/png;base64,a!b', 'invalid_media_url'],
] as const) {
  test(`R-284 R-294: ${given.slice(0, 40)} is refused as ${code} everywhere, also as {url}`, () => {
    for (const parse of [image, mask, video]) {
      assert.equal(
        outcomeOf(() => parse(given)),
        code,
      );
      assert.equal(
        outcomeOf(() => parse({ url: given })),
        code,
      );
    }
  });
}

test('R-284: whether an address may be visited is left to whoever visits it', () => {
  for (const url of ['http://127.0.0.1/a.png', 'http://169.254.169.254/', 'https://user:secret@pictures.example/']) {
    assert.deepEqual(image(url).referenceImages, [{ from: 'url', url }]);
  }
});

test('a URL is kept in its canonical form', () => {
  assert.deepEqual(image(' HTTPS://Pictures.Example:443/a/../b ').referenceImages, [
    { from: 'url', url: 'https://pictures.example/b' },
  ]);
});

test('a URL may have exactly the most characters', () => {
  const start = 'https://pictures.example/';
  const longest = start + 'a'.repeat(URL_CHARS_MAX - start.length);
  assert.deepEqual(image(longest).referenceImages, [{ from: 'url', url: longest }]);
  assert.equal(
    outcomeOf(() => image(`${longest}a`)),
    'invalid_media_url',
  );
});

test('R-324: a picture of 25 MiB is taken, one byte more is too large, in each place and form', () => {
  const fitting = Buffer.concat([PNG, Buffer.alloc(IMAGE_BYTES_MAX - PNG.length)]);
  const larger = Buffer.concat([fitting, Buffer.alloc(1)]);
  for (const [parse, wrap] of [
    [image, dataUrl],
    [mask, (bytes: Buffer) => ({ b64: base64(bytes) })],
    [video, base64],
  ] as const) {
    assert.equal(
      outcomeOf(() => parse(wrap(fitting))),
      'taken',
    );
    assert.equal(
      outcomeOf(() => parse(wrap(larger))),
      'image_too_large',
    );
  }
});

for (const [parse, name] of [
  [(list: unknown[]) => imageOf({ model: 'm', prompt: 'p', reference_images: list }), 'reference_images'],
  [(list: unknown[]) => imageOf({ model: 'm', prompt: 'p', images: list }), 'images'],
  [(list: unknown[]) => videoOf({ model: 'm', prompt: 'p', reference_image_urls: list }), 'reference_image_urls'],
  [(list: unknown[]) => videoOf({ model: 'm', prompt: 'p', reference_videos: list }), 'reference_videos'],
  [(list: unknown[]) => videoOf({ model: 'm', prompt: 'p', reference_audios: list }), 'reference_audios'],
] as const) {
  test(`R-314: ${name} takes ${REFERENCES_MAX} references and no more`, () => {
    const list = Array.from({ length: REFERENCES_MAX }, () => URL_TEXT);
    assert.equal(
      outcomeOf(() => parse(list)),
      'taken',
    );
    assert.equal(
      outcomeOf(() => parse([...list, URL_TEXT])),
      'invalid_parameter',
    );
  });
}

test('R-297: the declared type of a data URL counts for nothing', () => {
  for (const type of ['text/html', '', 'image/svg+xml;charset=utf-8', 'IMAGE/PNG']) {
    assert.deepEqual(image(dataUrl(PNG, type)).referenceImages, [FROM_BYTES]);
  }
});

for (const text of [
  'data:,plain%20text',
  'data:text/plain,%C3%A9 é',
  'data:text/plain,a%2',
  'data:text/plain,100%zz%41',
  'data:text/plain;charset=utf-8;base64,QUJD',
  'DATA:text/plain;BASE64,QUJD',
  'data:text/plain; base64 ,QUJD',
  'data:text/plain;base64,QUI',
  'data:text/plain;base64,QUI%3D',
  'data:text/plain;base64,Q U\nJ D',
  'data:text/plain;base64,QUJDQQ==',
  'data:text/plain,before#after',
  'data:text/plain;base64,QUJD#after',
]) {
  test(`a browser and we read the same bytes from ${JSON.stringify(text)}`, async () => {
    const expected = Buffer.from(await (await fetch(text)).arrayBuffer());
    assert.deepEqual(readDataUrl(text)?.bytes, expected);
  });
}

for (const text of [
  'data:text/plain',
  'data:text/plain;base64,A',
  'data:;base64,AA=',
  'data:;base64,A$==',
  'data:#,a',
]) {
  test(`neither a browser nor we read anything from ${text}`, async () => {
    await assert.rejects(fetch(text));
    assert.equal(readDataUrl(text), undefined);
  });
}

test('whatever base64 was made from comes out again, padded or not, broken into lines or not', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (array) => {
      const bytes = Buffer.from(array);
      const text = base64(bytes);
      for (const form of [
        text,
        text.replaceAll('=', ''),
        bytes.toString('base64url'),
        text.replace(/.{1,76}/g, '$&\r\n'),
      ]) {
        assert.deepEqual(decodeBase64(form), bytes);
      }
    }),
  );
});

test('one foreign character anywhere makes it no base64', () => {
  const foreign = fc.constantFrom('!', '*', '$', '.', '\0', 'é', '𝄞', 'Ł');
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 60 }), foreign, fc.nat(), (array, character, at) => {
      const text = base64(Buffer.from(array));
      const place = at % (text.length + 1);
      assert.equal(decodeBase64(text.slice(0, place) + character + text.slice(place)), undefined);
    }),
  );
});
