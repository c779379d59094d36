import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pause, pollDelayMs, retryDelayMs, shouldRetry } from './retry.ts';

describe('whether a request is sent again', () => {
  const CASES: readonly (readonly [
    what: string,
    status: number,
    headers: Record<string, string>,
    repeatable: boolean,
    sent: boolean,
  ])[] = [
    ['the gateway says so', 503, { 'x-should-retry': 'true' }, false, true],
    ['the gateway says not to, though it could be repeated', 503, { 'x-should-retry': 'false' }, true, false],
    ['the gateway says so, in a minute', 429, { 'x-should-retry': 'true', 'retry-after': '60' }, false, true],
    ['the gateway says so, in more than a minute', 429, { 'x-should-retry': 'true', 'retry-after': '61' }, true, false],
    ['a proxy was too busy to pass it on', 429, {}, false, true],
    ['a proxy got no answer to what can be repeated', 502, {}, true, true],
    ['a proxy got no answer to what may have been charged', 502, {}, false, false],
    ['a refusal without a word about it', 400, {}, true, false],
  ];
  for (const [what, status, headers, isRepeatable, expected] of CASES) {
    test(`${expected ? 'again' : 'not again'}: ${what}`, () => {
      assert.equal(shouldRetry({ status, headers: new Headers(headers), isRepeatable }), expected);
    });
  }
});

test('the back-off doubles up to eight seconds, and jitter takes up to half of it', () => {
  const waits = (random: number) => [0, 1, 2, 3, 4, 5].map((retry) => retryDelayMs(retry, undefined, random));
  assert.deepEqual(waits(1), [500, 1000, 2000, 4000, 8000, 8000]);
  assert.deepEqual(waits(0), [250, 500, 1000, 2000, 4000, 4000]);
});

test('Retry-After is obeyed in seconds and as a date, and jitter only adds to it', () => {
  const date = 'Wed, 18 Nov 2026 02:00:00 GMT';
  const later = 'Wed, 18 Nov 2026 02:00:07 GMT';
  assert.deepEqual(
    [0, 1].map((random) => retryDelayMs(0, new Headers({ 'retry-after': '7' }), random)),
    [7000, 8750],
  );
  assert.equal(retryDelayMs(0, new Headers({ 'retry-after': later, date }), 0), 7000);
  for (const unreadable of ['soon', later, '-1']) {
    assert.equal(retryDelayMs(0, new Headers({ 'retry-after': unreadable }), 1), 500, unreadable);
  }
});

test('a job is polled less and less often, every five seconds in the end', () => {
  assert.deepEqual(
    [0, 1, 20].map((poll) => pollDelayMs(poll, 1)),
    [500, 750, 5000],
  );
  assert.equal(pollDelayMs(20, 0), 2500);
});

test('a pause ends with its signal, with the reason of that', async () => {
  const reason = new Error('enough');
  await assert.rejects(pause(1_000_000, AbortSignal.abort(reason)), reason);
  const controller = new AbortController();
  const paused = pause(1_000_000, controller.signal);
  controller.abort(reason);
  await assert.rejects(paused, reason);
});
