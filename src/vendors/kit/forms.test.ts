import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rawNumber } from '../../../test/support/raw-number.ts';
import type { JsonValue } from '../../json.ts';
import { parseDataUrl } from './data-url.ts';
import { dialectOf } from './dialects.ts';
import { formWithMedia, toParts, withQuery } from './forms.ts';
import { inMemoryMedia } from './in-memory-media.ts';
import { Peeked } from './peek.ts';

const FIELDS = {
  a: 'x',
  b: [1, true],
  c: { d: ['y'], e: null },
  f: null,
  g: undefined,
  h: rawNumber('1.50') as JsonValue,
};

test('a form with brackets names every value by its place', () => {
  const pairs = toParts(FIELDS, 'brackets').map(({ name, value }) => `${name}=${value}`);
  assert.deepEqual(pairs, ['a=x', 'b[]=1', 'b[]=true', 'c[d][]=y', 'h=1.50']);
});

test('a form with repeated names holds what nests deeper as JSON', () => {
  const pairs = toParts(FIELDS, 'repeated').map(({ name, value }) => `${name}=${value}`);
  assert.deepEqual(pairs, ['a=x', 'b=1', 'b=true', 'c={"d":["y"],"e":null}', 'h=1.50']);
});

test('a form with media has a file for each, named by its field and its type', () => {
  const [png, jpeg, mp3] = ['image/png', 'image/jpeg', 'audio/mpeg'].map((type) =>
    inMemoryMedia(Buffer.from('x'), type),
  );
  assert.ok(png !== undefined && jpeg !== undefined && mp3 !== undefined);
  assert.deepEqual(formWithMedia({ a: 'x', image: [png, jpeg], audio: mp3, none: [], odd: { read: [1] } }), [
    { name: 'a', value: 'x' },
    { name: 'image', fileName: 'image.png', file: png },
    { name: 'image', fileName: 'image.jpg', file: jpeg },
    { name: 'audio', fileName: 'audio.mp3', file: mp3 },
    { name: 'odd', value: '{"read":[1]}' },
  ]);
});

test('a query has no place for what is not given', () => {
  assert.equal(withQuery('/x', { a: undefined, b: null }), '/x');
  assert.equal(withQuery('/x', { a: 'ä&', n: 1 }), '/x?a=%C3%A4%26&n=1');
});

const DATA_URLS: readonly [address: string, mimeType: string | undefined][] = [
  ['data:image/png;base64,QUJD', 'image/png'],
  ['DATA:Image/PNG;name=x;BASE64,QUJD', 'image/png'],
  ['data:;base64,QUJD', ''],
  ['data:image/png,QUJD', undefined],
  ['data:image/png;base64', undefined],
  ['https://x.test/;base64,QUJD', undefined],
];
for (const [address, mimeType] of DATA_URLS) {
  test(`${address} is ${mimeType === undefined ? 'no data URL with base64' : `a data URL of "${mimeType}"`}`, () =>
    assert.deepEqual(parseDataUrl(address), mimeType === undefined ? undefined : { mimeType, data: 'QUJD' }));
}

const KNOWN = { plain: [], ours: ['acme.test'] };
const DIALECTS: readonly [address: string, dialect: string | undefined, found: string | undefined][] = [
  ['https://api.acme.test/v1', undefined, 'ours'],
  ['https://ACME.test:8443', undefined, 'ours'],
  ['https://notacme.test', undefined, undefined],
  ['https://acme.test.evil.example', undefined, undefined],
  ['http://10.0.0.7/v1', 'ours', 'ours'],
  ['https://api.acme.test/v1', 'plain', 'plain'],
  ['https://api.acme.test/v1', 'constructor', undefined],
];
for (const [address, dialect, found] of DIALECTS) {
  test(`${address} with the dialect ${dialect} speaks ${found}`, () =>
    assert.equal(dialectOf({ address, dialect }, KNOWN), found));
}

test('a stream that was peeked at is whole, and releases its source even before it is read', async () => {
  let isReleased = false;
  async function* source() {
    try {
      yield* ['b', 'c'];
    } finally {
      isReleased = true;
    }
  }
  assert.deepEqual(await Array.fromAsync(new Peeked(['a'], source())), ['a', 'b', 'c']);
  isReleased = false;
  const begun = source();
  await begun.next();
  for await (const _piece of new Peeked(['b'], begun)) break;
  assert.ok(isReleased);
});
