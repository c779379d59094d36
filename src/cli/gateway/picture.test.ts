import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pictureProtocol, pictureSequence } from './picture.ts';

const TERMINALS: readonly (readonly [environment: Record<string, string>, protocol: string | undefined])[] = [
  [{ TERM: 'xterm-kitty' }, 'kitty'],
  [{ TERM: 'xterm-256color', KITTY_WINDOW_ID: '1' }, 'kitty'],
  [{ TERM_PROGRAM: 'ghostty' }, 'kitty'],
  [{ TERM_PROGRAM: 'iTerm.app' }, 'iterm2'],
  [{ TERM_PROGRAM: 'WezTerm' }, 'iterm2'],
  [{ LC_TERMINAL: 'iTerm2' }, 'iterm2'],
  [{ TERM: 'xterm-256color' }, undefined],
  [{ TERM: 'xterm-kitty', TMUX: 'default,1,0' }, undefined],
  [{ TERM: 'screen-256color', LC_TERMINAL: 'iTerm2' }, undefined],
  [{}, undefined],
];

for (const [environment, protocol] of TERMINALS) {
  test(`a terminal with ${JSON.stringify(environment)} shows pictures by ${protocol ?? 'no protocol'}`, () => {
    assert.equal(pictureProtocol(environment), protocol);
  });
}

test('a picture for kitty comes in pieces that together are the picture, and only the last says so', () => {
  const picture = Buffer.alloc(10_000, 7);
  const sequence = pictureSequence('kitty', picture, 'image/png') ?? '';
  const pieces = sequence
    .trimEnd()
    .split('\u001b\\')
    .slice(0, -1)
    .map((piece) => /_G([^;]*);(.*)$/.exec(piece) ?? []);
  assert.deepEqual(
    pieces.map(([, control]) => control),
    ['a=T,f=100,m=1', 'm=1', 'm=1', 'm=0'],
  );
  assert.ok(pieces.every(([, , piece = '']) => piece.length <= 4096));
  assert.deepEqual(Buffer.from(pieces.map(([, , piece]) => piece).join(''), 'base64'), picture);
  assert.equal(pictureSequence('kitty', picture, 'image/webp'), undefined);
});

test('a picture for iTerm2 is one sequence with its size', () => {
  const sequence = pictureSequence('iterm2', Buffer.from('abc'), 'image/webp');
  assert.equal(sequence, '\u001b]1337;File=inline=1;size=3:YWJj\u0007\n');
});
