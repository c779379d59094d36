import assert from 'node:assert/strict';
import { test } from 'node:test';
import { READER_BYTES_PER_SECOND_MIN, READER_WINDOW_MS } from '../../limits.ts';
import { ReaderPace } from './reader-pace.ts';

const START_MS = 1_000_000;
const ENOUGH = (READER_BYTES_PER_SECOND_MIN * READER_WINDOW_MS) / 1000;

/** One whose answer began to wait when `sent` of it had been taken. */
function waitingFrom(sent: number): ReaderPace {
  const pace = new ReaderPace();
  assert.equal(pace.isTooSlow(START_MS, sent, 1), false);
  return pace;
}

test('1 KiB a second over a minute is enough, and a byte less is not', () => {
  assert.equal(ENOUGH, 60 * 1024);
  assert.equal(waitingFrom(500).isTooSlow(START_MS + READER_WINDOW_MS, 500 + ENOUGH, 1), false);
  assert.equal(waitingFrom(500).isTooSlow(START_MS + READER_WINDOW_MS, 500 + ENOUGH - 1, 1), true);
});

test('nothing is asked of a reader before the window has passed', () => {
  const pace = waitingFrom(0);
  assert.equal(pace.isTooSlow(START_MS + READER_WINDOW_MS - 1, 0, 1), false);
  assert.equal(pace.isTooSlow(START_MS + READER_WINDOW_MS, 0, 1), true);
});

test('a reader who has taken everything is not slow, however long ago that was', () => {
  const pace = waitingFrom(0);
  assert.equal(pace.isTooSlow(START_MS + 1, 100, 0), false);
  assert.equal(pace.isTooSlow(START_MS + 10 * READER_WINDOW_MS, 100, 1), false);
  assert.equal(pace.isTooSlow(START_MS + 11 * READER_WINDOW_MS, 100, 1), true);
});

test('each window is judged by what was taken in it', () => {
  const pace = waitingFrom(0);
  assert.equal(pace.isTooSlow(START_MS + READER_WINDOW_MS, 100 * ENOUGH, 1), false);
  assert.equal(pace.isTooSlow(START_MS + 2 * READER_WINDOW_MS, 101 * ENOUGH - 1, 1), true);
});
