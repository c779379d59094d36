// What an upstream or a caller may send in one piece, of the kind that a pattern with two ways to take a character reads in
// quadratic time: some megabytes would then take hours, during which the whole process would answer nobody.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutTrailingSlashes } from '../src/addresses.ts';
import { subtitlesOf } from '../src/http/views/subtitles.ts';
import { textToNul } from '../src/media/ebml.ts';
import { transcriptOf } from '../src/vendors/fish-audio/transcript.ts';
import { parseTranscript } from '../src/vendors/kit/transcripts.ts';

const CHARS = 8 * 2 ** 20;
const SPACES = `x${' '.repeat(CHARS)}x`;

test('an answer of white space that ends in a letter is no transcript', () => {
  assert.equal(parseTranscript(`${' '.repeat(CHARS)}x`), undefined);
  assert.deepEqual(parseTranscript(' '.repeat(CHARS)), {});
});

test('a transcript with a wide gap is shown as subtitles, its lines as one', () => {
  const shown = (text: string) => subtitlesOf({ transcript: { text }, seconds: 1 }, 'srt').split('\n')[2];
  assert.equal(shown(SPACES), SPACES);
  assert.equal(shown(' one \r\n\n two\nthree '), 'one two three');
});

test('a transcript with a wide gap is told without its speakers', () => {
  const told = (text: string) => transcriptOf({ text }, 1).text;
  assert.equal(told(SPACES), SPACES);
  assert.equal(told('<|speaker:0|> One. <|speaker:11|>Two. '), 'One. Two.');
});

test('a text of Matroska ends at its first NUL', () => {
  const filled = Buffer.alloc(CHARS);
  assert.equal(textToNul(filled), '');
  filled.write('A_OPUS');
  filled.write('x', CHARS - 1);
  assert.equal(textToNul(filled), 'A_OPUS');
  assert.equal(textToNul(Buffer.from('webm')), 'webm');
});

test('an address with many slashes loses those at its end', () => {
  const slashes = '/'.repeat(CHARS);
  assert.equal(withoutTrailingSlashes(`${slashes}x`), `${slashes}x`);
  assert.equal(withoutTrailingSlashes(`https://api.test/v1${slashes}`), 'https://api.test/v1');
});
