import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageOf, outcomeOf, soundOf, videoOf } from '../../test/support/media-bodies.ts';
import type { JsonObject } from '../json.ts';
import { PASSTHROUGH_BYTES_MAX, PASSTHROUGH_DEPTH_MAX } from '../limits.ts';
import { passthrough, urlsIn } from './passthrough.ts';

/** Every place from which something is passed on, given the text of the members of the block. */
const PLACES: readonly (readonly [name: string, parse: (members: string) => { extra: JsonObject }])[] = [
  ['an image body', (members) => imageOf(`{"model":"m","prompt":"p",${members}}`)],
  ['a video body', (members) => videoOf(`{"model":"m","prompt":"p",${members}}`)],
  ['the extra of a video body', (members) => videoOf(`{"model":"m","prompt":"p","extra":{${members}}}`)],
  ['a sound body', (members) => soundOf(`{"model":"m","prompt":"p",${members}}`)],
];

const VERBATIM = String.raw`"big":9007199254740993,"one":1.0,"huge":1e400,"nested":{"list":[1.50,{"deep":null}]},"escaped":"\u00e9\ud83d\ude00\n","empty":{},"none":null,"":[]`;

for (const [place, parse] of PLACES) {
  test(`R-319 R-369 R-387: unmodelled keys of ${place} are kept to the letter`, () => {
    const expected = VERBATIM.replace(String.raw`\u00e9\ud83d\ude00`, 'é😀');
    assert.equal(JSON.stringify(parse(VERBATIM).extra), `{${expected}}`);
  });

  test(`R-322: ${place} may pass on 64 KiB of JSON and not a byte more`, () => {
    const filled = (bytes: number) => `"é":"${'x'.repeat(bytes - '{"é":""}'.length - 1)}"`;
    assert.equal(
      outcomeOf(() => parse(filled(PASSTHROUGH_BYTES_MAX))),
      'taken',
    );
    assert.equal(
      outcomeOf(() => parse(filled(PASSTHROUGH_BYTES_MAX + 1))),
      'invalid_parameter',
    );
  });

  test(`R-322: ${place} may be nested ${PASSTHROUGH_DEPTH_MAX} levels deep, the block itself being one`, () => {
    const nested = (levels: number) => `"a":${'['.repeat(levels - 1)}1.0${']'.repeat(levels - 1)}`;
    assert.equal(
      outcomeOf(() => parse(nested(PASSTHROUGH_DEPTH_MAX))),
      'taken',
    );
    assert.equal(
      outcomeOf(() => parse(nested(PASSTHROUGH_DEPTH_MAX + 1))),
      'invalid_parameter',
    );
  });

  test(`R-322: names that mean something to a program are plain data in ${place}`, () => {
    const members = '"__proto__":{"n":5,"polluted":true},"constructor":{"prototype":{"polluted":true}},"prototype":1';
    const request = parse(members);
    assert.equal(JSON.stringify(request.extra), `{${members}}`);
    assert.equal(Object.getPrototypeOf(request.extra), Object.prototype);
    assert.ok(!('polluted' in {}) && !('polluted' in request));
    assert.ok(!('n' in request) || request.n === 1, 'what stands in "__proto__" is not read as a field');
  });
}

test('R-322: the bytes are those of the text without its white space', () => {
  const padded = `"a":${' '.repeat(2 * PASSTHROUGH_BYTES_MAX)}1`;
  assert.deepEqual(imageOf(`{"model":"m","prompt":"p",${padded}}`).extra, { a: 1 });
});

for (const text of [
  'https://pictures.example/a.png',
  'HTTP://pictures.example',
  ' https://pictures.example/a.png\n',
  'https://pictures.example:8443/a?b=c@d#e\\f',
  'https://pictures.example./a\\b',
  'https://bücher.example/',
  'https://xn--bcher-kva.example/',
  'https://192.0.2.7/',
  'https://[2001:DB8:0:0::1]:443/',
  'data:image/png;base64,QUJD',
  'data:,hello',
  'a kitten',
  'see https://pictures.example',
  'http: the protocol',
  'http:',
  '16:9',
  '/a/path',
  'https',
  '',
]) {
  test(`R-320 R-321: ${JSON.stringify(text)} may be passed on`, () => {
    assert.deepEqual(passthrough({ a: { b: [text] } }), { a: { b: [text] } });
  });
}

for (const text of [
  'ftp://pictures.example/a.png',
  'file:///etc/passwd',
  's3://bucket/key',
  'gopher://pictures.example',
  'JAVASCRIPT://%0aalert(1)',
  '//pictures.example/a.png',
  '// a remark',
  'http://',
  'https://[::1',
  'https://pictures.example:99999',
  'https:\\\\',
  'data:image/png;base64',
  'data:image/png;base64,a!b',
  'data: the new oil',
  ' ftp://pictures.example',
  '\n//pictures.example',
  'f\ntp://pictures.example',
]) {
  test(`R-320 R-321: ${JSON.stringify(text)} is refused at any depth`, () => {
    for (const extra of [{ a: text }, { a: [{ b: text }] }, { a: { b: { c: [[text]] } } }]) {
      assert.equal(
        outcomeOf(() => passthrough(extra)),
        'url_in_extra',
      );
    }
  });
}

for (const text of [
  'http://pictures.example\\@127.0.0.2:9/',
  'http://pictures.example\\.evil.example/',
  'http://pictures.example:80\\@evil.example',
  'http://pictures.example@evil.example/',
  'http://a@pictures.example@evil.example/',
  'http://pictures.example:secret@evil.example/',
  'http://@evil.example/',
  'http:\\\\evil.example\\',
  'http:/\\evil.example/',
  'http:\\/evil.example/',
  'http:/evil.example/',
  'http:///evil.example/',
  'http:evil.example',
  'http:127.0.0.1',
  'https:80',
  'ht\ntp://evil.example/',
  'http:/\t/evil.example/',
  'http://pictures\n.example/',
  'http://pictures.example\t@evil.example/',
  'http://pictures%2eexample/',
  'http://%70ictures.example/',
  'http://pictures.example%2f.evil.example/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f.0.0.1/',
  'http://0177.0.0.1/',
  'http://192.0.2.07/',
  'http://１２７.0.0.1/',
  'http://pictures．example/',
  'http://pictures。example/',
  'http://ｐictures.example/',
  'http://pic\u00adtures.example/',
  'http://①.example/',
]) {
  test(`R-291 R-321: ${JSON.stringify(text)} names different hosts to different readers and is refused`, () => {
    for (const extra of [{ a: text }, { a: [{ b: text }] }, { a: { b: { c: [[text]] } } }]) {
      assert.ok(['invalid_media_url', 'url_in_extra'].includes(String(outcomeOf(() => passthrough(extra)))));
    }
  });
}

test('R-320: each place that passes something on refuses a false URL', () => {
  for (const [, parse] of PLACES) {
    assert.equal(
      outcomeOf(() => parse('"a":["ftp://pictures.example"]')),
      'url_in_extra',
    );
  }
});

test('R-321: every address to be allowed is found, in canonical form', () => {
  const extra = {
    first: 'https://a.example/1',
    list: [' HTTP://B.example:80/x/../2', 'http://10.0.0.1', { deep: 'http://169.254.169.254/latest' }],
    inline: 'data:,hello',
    words: 'see https://c.example',
    count: 3,
  };
  assert.deepEqual(urlsIn(passthrough(extra)), [
    'https://a.example/1',
    'http://b.example/2',
    'http://10.0.0.1/',
    'http://169.254.169.254/latest',
  ]);
});

test('R-322: a number kept as written is a number and no level', () => {
  const { extra } = imageOf('{"model":"m","prompt":"p","a":1.0}');
  assert.deepEqual(urlsIn(extra), []);
  assert.equal(JSON.stringify(passthrough(extra)), '{"a":1.0}');
});
