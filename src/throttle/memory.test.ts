import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
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

function outcome(taken: ThrottleResult): string {
  return taken.state === 'acquired' ? 'acquired' : taken.code;
}

const waits = fc.array(fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 20_000 }), fc.nat({ max: 200_000 })), {
  maxLength: 60,
});

test('a full bucket holds a minute’s worth, and not one more', () => {
  const { throttle: subject } = throttle();
  const answers = Array.from({ length: 61 }, () => outcome(subject.take('k', { rpm: 60, concurrency: undefined })));
  assert.deepEqual(answers, [...Array<string>(60).fill('acquired'), 'rate_limited']);
});

test('one request comes back after exactly its share of a minute', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), (perMinute) => {
      const { throttle: subject, move } = throttle();
      const take = () => outcome(subject.take('k', { rpm: perMinute, concurrency: undefined }));
      for (let count = 0; count < perMinute; count++) assert.equal(take(), 'acquired');
      const shareMs = Math.ceil(60_000 / perMinute);
      move(shareMs - 1);
      assert.equal(take(), 'rate_limited');
      move(1);
      assert.equal(take(), 'acquired');
      assert.equal(take(), 'rate_limited');
    }),
  );
});

test('no window of time sees more than a bucket and what fills up meanwhile', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), waits, fc.nat({ max: 15 }), (perMinute, pauses, burst) => {
      const { throttle: subject, move, nowMs } = throttle();
      const takenAt: number[] = [];
      for (const pause of pauses) {
        move(pause);
        for (let count = 0; count <= burst; count++) {
          if (subject.take('k', { rpm: perMinute, concurrency: undefined }).state === 'acquired') takenAt.push(nowMs());
        }
      }
      for (const [from, start] of takenAt.entries()) {
        for (let to = from; to < takenAt.length; to++) {
          const windowMs = (takenAt[to] ?? 0) - start;
          assert.ok((to - from + 1) * 60_000 <= perMinute * (60_000 + windowMs));
        }
      }
    }),
  );
});

test('what the rate allows is never refused for the rate', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), waits, (perMinute, pauses) => {
      const { throttle: subject, move } = throttle();
      for (const pause of pauses) {
        move(Math.ceil(60_000 / perMinute) + pause);
        assert.equal(outcome(subject.take('k', { rpm: perMinute, concurrency: undefined })), 'acquired');
      }
    }),
  );
});

test('slots in use are never more than allowed and never fewer than none, however often each is given back', () => {
  const step = fc.oneof(fc.constant('take' as const), fc.nat({ max: 40 }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 120 }), (concurrency, steps) => {
      const { throttle: subject } = throttle();
      const given: { release: () => void; held: boolean }[] = [];
      for (const next of steps) {
        const held = given.filter((slot) => slot.held).length;
        if (next === 'take') {
          const taken = subject.take('k', { rpm: 1_000_000, concurrency });
          assert.equal(outcome(taken), held < concurrency ? 'acquired' : 'too_many_concurrent_requests');
          if (taken.state === 'acquired') given.push({ release: taken.release, held: true });
        } else {
          const slot = given[next % Math.max(1, given.length)];
          slot?.release();
          if (slot !== undefined) slot.held = false;
        }
      }
    }),
  );
});

test('a request refused for want of a slot costs nothing of the bucket', () => {
  const { throttle: subject } = throttle();
  const first = subject.take('k', { rpm: 2, concurrency: 1 });
  for (let count = 0; count < 10; count++) {
    assert.equal(outcome(subject.take('k', { rpm: 2, concurrency: 1 })), 'too_many_concurrent_requests');
  }
  assert.ok(first.state === 'acquired');
  first.release();
  assert.equal(outcome(subject.take('k', { rpm: 2, concurrency: 1 })), 'acquired');
});

test('a request refused for the rate takes no slot', () => {
  const { throttle: subject, move } = throttle();
  const first = subject.take('k', { rpm: 1, concurrency: 1 });
  assert.ok(first.state === 'acquired');
  first.release();
  for (let count = 0; count < 3; count++) {
    assert.equal(outcome(subject.take('k', { rpm: 1, concurrency: 1 })), 'rate_limited');
  }
  move(60_000);
  assert.equal(outcome(subject.take('k', { rpm: 1, concurrency: 1 })), 'acquired');
});

test('subjects do not share', () => {
  const { throttle: subject } = throttle();
  assert.equal(outcome(subject.take('one', { rpm: 1, concurrency: 1 })), 'acquired');
  assert.equal(outcome(subject.take('other', { rpm: 1, concurrency: 1 })), 'acquired');
  assert.equal(outcome(subject.take('one', { rpm: 1, concurrency: 1 })), 'rate_limited');
});

test('a lowered rate holds at once, and a raised one lets in only what fills up from then on', () => {
  const { throttle: subject, move } = throttle();
  const take = (perMinute: number) => outcome(subject.take('k', { rpm: perMinute, concurrency: undefined }));
  assert.equal(take(100), 'acquired');
  assert.equal(take(1), 'acquired');
  assert.equal(take(1), 'rate_limited');
  assert.equal(take(100), 'rate_limited');
  move(600);
  assert.equal(take(100), 'acquired');
  assert.equal(take(100), 'rate_limited');
});

test('a clock set back gives nothing and takes nothing', () => {
  const { throttle: subject, move } = throttle();
  const take = () => outcome(subject.take('k', { rpm: 2, concurrency: undefined }));
  assert.equal(take(), 'acquired');
  move(-3_600_000);
  assert.equal(take(), 'acquired');
  assert.equal(take(), 'rate_limited');
  move(30_000);
  assert.equal(take(), 'acquired');
  assert.equal(take(), 'rate_limited');
});

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
