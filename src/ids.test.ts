import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { firstUuidAt, newId, randomBase62, timedUuid, toBase62 } from './ids.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

test('an id is its prefix and 24 base62 characters', () => {
  assert.match(newId('acct'), /^acct_[0-9A-Za-z]{24}$/);
  assert.match(newId('req'), /^req_[0-9A-Za-z]{24}$/);
});

test('no two ids are the same', () => {
  const ids = Array.from({ length: 20_000 }, () => newId('key'));
  assert.equal(new Set(ids).size, ids.length);
});

test('ids of requests, jobs, results and files made later sort behind those made before', () => {
  for (const prefix of ['req', 'job', 'ast', 'file'] as const) {
    const first = newId(prefix);
    const madeAt = Number.parseInt(first.slice(prefix.length + 1, prefix.length + 10), 36);
    assert.ok(madeAt <= Date.now() && madeAt > Date.now() - 3_600_000);
    const second = newId(prefix);
    assert.ok(first.slice(0, prefix.length + 10) <= second.slice(0, prefix.length + 10));
    assert.notEqual(first, second);
  }
});

test('random text has the length asked for, also when the pool of bytes runs out in it', () => {
  fc.assert(fc.property(fc.nat(20_000), (length) => assert.equal(randomBase62(length).length, length)));
});

test('every character of random text is as likely as every other', () => {
  const expected = 2000;
  const counts = new Map<string, number>();
  for (const char of randomBase62(expected * BASE62.length)) counts.set(char, (counts.get(char) ?? 0) + 1);
  assert.deepEqual([...counts.keys()].sort(), BASE62.split('').sort());
  const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  // Of 61 degrees of freedom: chance passes 200 less than once in 10^15 runs, `byte % 62` alone reaches 800.
  assert.ok(chiSquare < 200, `chi-square ${chiSquare}`);
});

test('a number in base62 has leading zeros and can be read back', () => {
  const readBack = (text: string) => text.split('').reduce((sum, char) => sum * 62 + BASE62.indexOf(char), 0);
  fc.assert(
    fc.property(fc.nat(2 ** 32 - 1), (value) => {
      const text = toBase62(value, 6);
      assert.equal(text.length, 6);
      assert.equal(readBack(text), value);
    }),
  );
  assert.equal(toBase62(0, 6), '000000');
  assert.equal(toBase62(62, 6), '000010');
  assert.equal(toBase62(2 ** 32 - 1, 6), '4gfFC3');
});

test('ids made for a moment are in the order of time, and within it in the order in which they were made', () => {
  const ms = Date.UTC(2030, 0, 15);
  const later = timedUuid(ms + 1);
  const made = Array.from({ length: 50 }, () => timedUuid(ms));
  // The counter wraps after 4096, so that at most one of these follows a larger one.
  const falls = made.filter((id, place) => place > 0 && id < (made[place - 1] ?? ''));
  assert.ok(falls.length <= 1);
  for (const id of made) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.ok(firstUuidAt(ms) <= id && id < firstUuidAt(ms + 1) && id < later);
  }
  assert.equal(new Set(made).size, made.length);
});
