import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UPLOAD_BYTES_PER_SECOND_MIN, UPLOAD_GRACE_MS, UPLOAD_WINDOW_MS } from '../../limits.ts';
import { UploadPace } from './upload-pace.ts';

const START_MS = 1_000_000;
const FIRST_MS = START_MS + UPLOAD_GRACE_MS + UPLOAD_WINDOW_MS;
const ENOUGH = (UPLOAD_BYTES_PER_SECOND_MIN * UPLOAD_WINDOW_MS) / 1000;
const HEADERS = 300;

test('1 KiB a second over 30 s is enough, and a byte less is not', () => {
  assert.equal(ENOUGH, 30 * 1024);
  assert.equal(new UploadPace(START_MS, HEADERS).isTooSlow(FIRST_MS, HEADERS + ENOUGH, false), false);
  assert.equal(new UploadPace(START_MS, HEADERS).isTooSlow(FIRST_MS, HEADERS + ENOUGH - 1, false), true);
});

test('nothing is asked of it before 10 s and a window of 30 s have passed', () => {
  const pace = new UploadPace(START_MS, HEADERS);
  assert.equal(pace.isTooSlow(FIRST_MS - 1, HEADERS, false), false);
  assert.equal(pace.isTooSlow(FIRST_MS, HEADERS, false), true);
});

test('each window is judged by what it brought itself', () => {
  const pace = new UploadPace(START_MS, 0);
  assert.equal(pace.isTooSlow(FIRST_MS, 100 * ENOUGH, false), false);
  assert.equal(pace.isTooSlow(FIRST_MS + UPLOAD_WINDOW_MS - 1, 100 * ENOUGH, false), false);
  assert.equal(pace.isTooSlow(FIRST_MS + UPLOAD_WINDOW_MS, 101 * ENOUGH, false), false);
  assert.equal(pace.isTooSlow(FIRST_MS + 2 * UPLOAD_WINDOW_MS, 102 * ENOUGH - 1, false), true);
});

test('a sender who is held back here is not slow, and is judged again once that is over', () => {
  const pace = new UploadPace(START_MS, 0);
  assert.equal(pace.isTooSlow(FIRST_MS, 1, true), false);
  assert.equal(pace.isTooSlow(FIRST_MS + UPLOAD_WINDOW_MS, 2, false), true);
});
