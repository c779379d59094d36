import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { throttleContract } from '../../test/support/throttle-contract.ts';
import { MemoryThrottle } from './memory.ts';
import type { ThrottleResult } from './throttle.ts';

/** A throttle and the time it lives in. */
function throttle(bucketsMax?: number): { throttle: MemoryThrottle; move: (ms: number) => void; nowMs: () => number } {
  let nowMs = 1_000_000;
  const clock = { now: () => new Date(nowMs), nowMs: () => nowMs };
  return {
    throttle: new MemoryThrottle(clock, bucketsMax),
    nowMs: () => nowMs,
    move: (ms) => {
      nowMs += ms;
    },
  };
}

function outcome(result: ThrottleResult): string {
  return result.state === 'acquired' ? 'acquired' : result.code;
}

throttleContract('memory', { open: () => throttle(), runs: 100 });

test('no more subjects are remembered than the bound says, and nearly as many are', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 200 }), (bucketsMax, subjects) => {
      const { throttle: subject } = throttle(bucketsMax);
      const once = (name: number) => outcome(subject.take(`k${name}`, { rpm: 1, concurrency: undefined }));
      for (let name = 0; name < subjects; name++) once(name);
      // The newest are kept: going back from the last, the first that may ask again was forgotten.
      let remembered = 0;
      while (remembered < subjects && once(subjects - 1 - remembered) === 'rate_limited') remembered++;
      assert.ok(remembered <= bucketsMax, `${remembered} of at most ${bucketsMax}`);
      assert.ok(remembered >= Math.min(subjects, Math.floor(bucketsMax * 0.9)));
    }),
  );
});

test('when room is needed, full buckets go before used ones that are known for longer', () => {
  const { throttle: subject, move } = throttle(10);
  const take = (name: string) => outcome(subject.take(name, { rpm: 1, concurrency: undefined }));
  const used = Array.from({ length: 9 }, (_, number) => `used ${number}`);
  for (const name of [...used, 'full']) assert.equal(take(name), 'acquired');
  move(60_000);
  for (const name of used) assert.equal(take(name), 'acquired');
  assert.equal(take('new'), 'acquired');
  for (const name of [...used, 'new']) assert.equal(take(name), 'rate_limited');
});

test('a subject with a slot in use is not forgotten, however many others come', () => {
  const { throttle: subject } = throttle(10);
  const held = subject.take('busy', { rpm: 100, concurrency: 1 });
  assert.ok(held.state === 'acquired');
  for (let count = 0; count < 1000; count++) subject.take(`k${count}`, { rpm: 1, concurrency: 1 });
  assert.equal(outcome(subject.take('busy', { rpm: 100, concurrency: 1 })), 'too_many_concurrent_requests');
  held.release();
  assert.equal(outcome(subject.take('busy', { rpm: 100, concurrency: 1 })), 'acquired');
});
