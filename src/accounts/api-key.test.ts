import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { apiKeyDigest, apiKeyPrefix, isApiKeyShape, newApiKey } from './api-key.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const DIGITS = BASE62.split('');
const BODY_START = 'sk-tg1-'.length;

const anyKey = fc.integer().map(() => newApiKey());
const place = fc.nat({ max: BODY_START + 48 + 6 - 1 });

test('R-085, R-086: a key is sk-, the marker, 48 base62 characters and 6 of checksum', () => {
  for (let count = 0; count < 100; count++) {
    const key = newApiKey();
    assert.match(key, /^sk-tg1-[0-9A-Za-z]{54}$/);
    assert.ok(isApiKeyShape(key));
  }
});

test('R-086: the checksum is the CRC-32 of everything before it, in base62 with leading zeros', () => {
  for (let count = 0; count < 100; count++) {
    const key = newApiKey();
    const value = key
      .slice(-6)
      .split('')
      .reduce((sum, digit) => sum * 62 + BASE62.indexOf(digit), 0);
    assert.equal(value, crc32(key.slice(0, -6)));
  }
});

test('R-086: the random part has every character at every place, and no two keys are alike', () => {
  const keys = Array.from({ length: 3000 }, newApiKey);
  assert.equal(new Set(keys.map((key) => key.slice(BODY_START, -6))).size, keys.length);
  // One of 62 characters is missing at one of 48 places in 3000 keys once in about 10^18 runs.
  for (let at = BODY_START; at < BODY_START + 48; at++) {
    assert.equal(new Set(keys.map((key) => key[at])).size, 62, `place ${at}`);
  }
});

test('R-086: one wrong character anywhere is noticed', () => {
  const wrong = fc.constantFrom(...DIGITS, '-', ' ', '_', 'é');
  fc.assert(
    fc.property(anyKey, place, wrong, (key, at, character) => {
      fc.pre(key[at] !== character);
      assert.ok(!isApiKeyShape(key.slice(0, at) + character + key.slice(at + 1)));
    }),
    { numRuns: 2000 },
  );
});

test('R-086: two neighbours in the wrong order are noticed', () => {
  fc.assert(
    fc.property(anyKey, place, (key, at) => {
      const [one, other] = [key[at], key[at + 1]];
      fc.pre(one !== undefined && other !== undefined && one !== other);
      assert.ok(!isApiKeyShape(`${key.slice(0, at)}${other}${one}${key.slice(at + 2)}`));
    }),
    { numRuns: 2000 },
  );
});

test('R-086: a character too many or too few is noticed', () => {
  fc.assert(
    fc.property(anyKey, place, fc.constantFrom(...DIGITS), (key, at, character) => {
      assert.ok(!isApiKeyShape(key.slice(0, at) + key.slice(at + 1)));
      assert.ok(!isApiKeyShape(key.slice(0, at) + character + key.slice(at)));
    }),
  );
});

for (const [name, disguise] of [
  ['in upper case', (key: string) => key.toUpperCase()],
  ['with a line end', (key: string) => `${key}\n`],
  ['with another line before it', (key: string) => `x\n${key}`],
  ['with a space before it', (key: string) => ` ${key}`],
  ['twice', (key: string) => key + key],
  ['without its marker', (key: string) => key.slice(BODY_START)],
  ['as nothing', () => ''],
] as const) {
  test(`a key ${name} is no key`, () => {
    assert.ok(!isApiKeyShape(disguise(newApiKey())));
  });
}

test('R-108: 512 characters and 513 are equally no key', () => {
  for (const length of [512, 513]) assert.ok(!isApiKeyShape(newApiKey().padEnd(length, '0')));
});

test('R-088: what is kept of a key to find it is the SHA-256 digest of all of it', () => {
  const key = newApiKey();
  assert.deepEqual(apiKeyDigest(key), createHash('sha256').update(key, 'ascii').digest());
});

test('R-089: what is shown of a key is the first four characters of its random part', () => {
  const key = newApiKey();
  assert.equal(apiKeyPrefix(key), key.slice(7, 11));
});
