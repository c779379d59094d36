import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countCharacters } from '../../../text/index.ts';
import { cutText } from './cut-text.ts';

const CASES: readonly [name: string, text: string, charsMax: number, pieces: readonly string[]][] = [
  ['one that fits', 'One. Two.', 9, ['One. Two.']],
  ['one without its edges', '  One. Two.\n', 9, ['One. Two.']],
  ['behind sentences', 'One. Two. Three.', 10, ['One. Two. ', 'Three.']],
  ['behind sentences of other scripts', '一二三。四五六。七八九。', 8, ['一二三。四五六。', '七八九。']],
  ['behind lines', 'One\nTwo\nThree', 8, ['One\nTwo\n', 'Three']],
  ['a sentence that is too long, between its words', 'One two three four', 8, ['One two ', 'three ', 'four']],
  ['a word that is too long, between its letters', 'abcdefgh', 3, ['abc', 'def', 'gh']],
  ['never inside what is read as one letter', 'e\u0301e\u0301e\u0301', 3, ['e\u0301', 'e\u0301', 'e\u0301']],
  ['nor between the halves of a character', '🎈🎈🎈', 2, ['🎈🎈', '🎈']],
  ['unless that letter alone is too long', `e${'\u0301'.repeat(4)}`, 3, ['e\u0301\u0301', '\u0301\u0301']],
  ['a long sentence between short ones', 'Ab. Abcde fghij. Kl.', 8, ['Ab. ', 'Abcde ', 'fghij. ', 'Kl.']],
];
for (const [name, text, charsMax, pieces] of CASES) {
  test(`cuts ${name}`, () => assert.deepEqual(cutText(text, charsMax), pieces));
}

test('the pieces of the longest text are all of it, and none is too long', () => {
  const text = 'Some words, and some more: 語 and 🎈! '.repeat(1200).trim();
  const pieces = cutText(text, 4096);
  assert.equal(pieces.join(''), text);
  for (const piece of pieces) assert.ok(countCharacters(piece) <= 4096);
  assert.ok(pieces.length <= Math.ceil(countCharacters(text) / 4096) + 1, `${pieces.length} pieces`);
});
