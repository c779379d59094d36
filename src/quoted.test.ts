import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newApiKey } from './accounts/api-key.ts';
import { quoted } from './quoted.ts';

test('a name is shown as it is', () => {
  for (const name of ['gpt-4o', 'vendor/model:tag', 'modèle 画', '/v1/chats']) assert.equal(quoted(name), `"${name}"`);
});

test('what is shown is cut after 80 characters', () => {
  assert.equal(quoted('a b '.repeat(20)), `"${'a b '.repeat(20)}"`);
  assert.equal(quoted(`${'a b '.repeat(20)}c`), `"${'a b '.repeat(20)}…"`);
  assert.ok(quoted('é/'.repeat(5_000_000)).length < 100);
  assert.ok(quoted('\0'.repeat(1_000)).length < 100);
});

for (const [what, text, shown] of [
  ['a line break', 'a\r\nb', '"a\\u{d}\\u{a}b"'],
  ['NUL', 'a\0b', '"a\\u{0}b"'],
  ['an escape sequence', '\x1b[31mred', '"\\u{1b}[31mred"'],
  ['a change of direction', 'a\u202eb', '"a\\u{202e}b"'],
  ['a zero-width space', 'a\u200bb', '"a\\u{200b}b"'],
  ['a line separator', 'a\u2028b', '"a\\u{2028}b"'],
  ['half a character', 'a\ud800b', '"a\\u{d800}b"'],
  ['a quotation mark', 'a"b\\', '"a\\"b\\\\"'],
] as const) {
  test(`${what} is escaped`, () => assert.equal(quoted(text), shown));
}

test('R-035: no credential is shown, wherever it stands and wherever the text is cut', () => {
  const key = newApiKey();
  for (const text of [
    key,
    `/v1/${key}/x`,
    `${'a '.repeat(36)}${key}`,
    `%20${key.slice(7)}`,
    `${'x/'.repeat(30)}${key}`,
  ]) {
    assert.ok(!quoted(text).includes(key.slice(7, 15)), text);
  }
});
