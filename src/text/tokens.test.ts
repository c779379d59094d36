import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateTokens } from './tokens.ts';

/** The two figures that every estimate is made of. */
const tokens = (ascii: number, others: number) => Math.ceil(ascii / 3.5 + others * 1.2);

for (const [name, text, ascii, others] of [
  ['nothing', '', 0, 0],
  ['letters', 'word '.repeat(100), 500, 0],
  ['another script', '\u4e16\u754c'.repeat(100), 0, 200],
  ['letters up to the limit', 'a'.repeat(65_536), 65_536, 0],
  ['letters one above it', 'a'.repeat(65_537), 65_537, 0],
  ['25 MB of letters', 'word '.repeat(5_000_000), 25_000_000, 0],
  ['a long text of another script', '\u4e16'.repeat(1_000_000), 0, 1_000_000],
  ['a long text of accented letters', '\u00e9'.repeat(1_000_000), 0, 1_000_000],
] as const) {
  test(`${name} is estimated exactly`, () => assert.equal(estimateTokens(text), tokens(ascii, others)));
}

test('a long text of two scripts is estimated by samples, within two percent', () => {
  const text = 'Every gate \u4e16\u754c'.repeat(50_000);
  const exact = tokens(11 * 50_000, 2 * 50_000);
  assert.ok(Math.abs(estimateTokens(text) / exact - 1) < 0.02);
});

test('what samples do not see is bounded by the length in bytes', () => {
  const hidden = `${'a'.repeat(20_000)}${'\u4e16'.repeat(20_000)}`.repeat(3) + 'a'.repeat(20_000);
  assert.ok(estimateTokens(hidden) >= tokens(80_000, 60_000) * 0.9);
});
