import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Allowance, Throttle } from '../../src/throttle/index.ts';

/** A throttle and the time it lives in. */
export interface ThrottleUnderTest {
  readonly throttle: Throttle;
  readonly move: (ms: number) => void;
  readonly nowMs: () => number;
}

export interface ThrottleContract {
  /** One that has seen no subject yet. */
  readonly open: () => ThrottleUnderTest;
  /** Generated cases for each property. */
  readonly runs: number;
}

export type Outcome = 'acquired' | 'rate_limited' | 'too_many_concurrent_requests' | 'limits_unavailable';

export async function outcomeOf(throttle: Throttle, subject: string, allowance: Allowance): Promise<Outcome> {
  const result = await throttle.take(subject, allowance);
  return result.state === 'acquired' ? 'acquired' : result.code;
}

const waits = fc.array(fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 20_000 }), fc.nat({ max: 200_000 })), {
  maxLength: 60,
});

/** What every throttle promises, wherever it counts. */
export function throttleContract(name: string, contract: ThrottleContract): void {
  promiseBuckets(name, contract);
  promiseSlots(name, contract);
  promiseChanges(name, contract);
}

function promiseBuckets(name: string, { open, runs: numRuns }: ThrottleContract): void {
  test(`${name}: a full bucket holds a minute’s worth, and not one more`, async () => {
    const { throttle } = open();
    const answers = await many(61, () => outcomeOf(throttle, 'k', { rpm: 60, concurrency: undefined }));
    assert.deepEqual(answers, [...Array<string>(60).fill('acquired'), 'rate_limited']);
  });

  test(`${name}: one request comes back after exactly its share of a minute`, () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1000 }), async (rpm) => {
        const { throttle, move } = open();
        const take = () => outcomeOf(throttle, 'k', { rpm, concurrency: undefined });
        for (const answer of await many(rpm, take)) assert.equal(answer, 'acquired');
        const shareMs = Math.ceil(60_000 / rpm);
        move(shareMs - 1);
        assert.equal(await take(), 'rate_limited');
        move(1);
        assert.equal(await take(), 'acquired');
        assert.equal(await take(), 'rate_limited');
      }),
      { numRuns },
    ));

  test(`${name}: no window of time sees more than a bucket and what fills up meanwhile`, () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), waits, fc.nat({ max: 15 }), async (rpm, pauses, burst) => {
        const { throttle, move, nowMs } = open();
        const takenAt: number[] = [];
        for (const pause of pauses) {
          move(pause);
          const answers = await many(burst + 1, () => outcomeOf(throttle, 'k', { rpm, concurrency: undefined }));
          for (const answer of answers) if (answer === 'acquired') takenAt.push(nowMs());
        }
        for (const [from, start] of takenAt.entries()) {
          for (let to = from; to < takenAt.length; to++) {
            const windowMs = (takenAt[to] ?? 0) - start;
            assert.ok((to - from + 1) * 60_000 <= rpm * (60_000 + windowMs));
          }
        }
      }),
      { numRuns },
    ));

  test(`${name}: what the rate allows is never refused for the rate`, () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1000 }), waits, async (rpm, pauses) => {
        const { throttle, move } = open();
        for (const pause of pauses) {
          move(Math.ceil(60_000 / rpm) + pause);
          assert.equal(await outcomeOf(throttle, 'k', { rpm, concurrency: undefined }), 'acquired');
        }
      }),
      { numRuns },
    ));
}

function promiseSlots(name: string, { open, runs: numRuns }: ThrottleContract): void {
  test(`${name}: slots in use are never more than allowed and never fewer than none, however often each is given back`, () => {
    const step = fc.oneof(fc.constant('take' as const), fc.nat({ max: 40 }));
    return fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(step, { maxLength: 120 }),
        async (concurrency, steps) => {
          const { throttle } = open();
          const slots: { release: () => void; inUse: boolean }[] = [];
          for (const next of steps) {
            const inUse = slots.filter((slot) => slot.inUse).length;
            if (next === 'take') {
              const result = await throttle.take('k', { rpm: 1_000_000, concurrency });
              const code = result.state === 'acquired' ? 'acquired' : result.code;
              assert.equal(code, inUse < concurrency ? 'acquired' : 'too_many_concurrent_requests');
              if (result.state === 'acquired') slots.push({ release: result.release, inUse: true });
            } else {
              const slot = slots[next % Math.max(1, slots.length)];
              slot?.release();
              if (slot !== undefined) slot.inUse = false;
            }
          }
        },
      ),
      { numRuns },
    );
  });

  test(`${name}: a request refused for want of a slot costs nothing of the bucket`, async () => {
    const { throttle } = open();
    const take = () => outcomeOf(throttle, 'k', { rpm: 2, concurrency: 1 });
    const first = await throttle.take('k', { rpm: 2, concurrency: 1 });
    for (const answer of await many(10, take)) assert.equal(answer, 'too_many_concurrent_requests');
    assert.ok(first.state === 'acquired');
    first.release();
    assert.equal(await take(), 'acquired');
  });

  test(`${name}: a request refused for the rate takes no slot`, async () => {
    const { throttle, move } = open();
    const take = () => outcomeOf(throttle, 'k', { rpm: 1, concurrency: 1 });
    const first = await throttle.take('k', { rpm: 1, concurrency: 1 });
    assert.ok(first.state === 'acquired');
    first.release();
    for (const answer of await many(3, take)) assert.equal(answer, 'rate_limited');
    move(60_000);
    assert.equal(await take(), 'acquired');
  });
}

function promiseChanges(name: string, { open }: ThrottleContract): void {
  test(`${name}: subjects do not share`, async () => {
    const { throttle } = open();
    assert.equal(await outcomeOf(throttle, 'one', { rpm: 1, concurrency: 1 }), 'acquired');
    assert.equal(await outcomeOf(throttle, 'other', { rpm: 1, concurrency: 1 }), 'acquired');
    assert.equal(await outcomeOf(throttle, 'one', { rpm: 1, concurrency: 1 }), 'rate_limited');
  });

  test(`${name}: a lowered rate holds at once, and a raised one lets in only what fills up from then on`, async () => {
    const { throttle, move } = open();
    const take = (rpm: number) => outcomeOf(throttle, 'k', { rpm, concurrency: undefined });
    assert.equal(await take(100), 'acquired');
    assert.equal(await take(1), 'acquired');
    assert.equal(await take(1), 'rate_limited');
    assert.equal(await take(100), 'rate_limited');
    move(600);
    assert.equal(await take(100), 'acquired');
    assert.equal(await take(100), 'rate_limited');
  });

  test(`${name}: a clock set back gives nothing and takes nothing`, async () => {
    const { throttle, move } = open();
    const take = () => outcomeOf(throttle, 'k', { rpm: 2, concurrency: undefined });
    assert.equal(await take(), 'acquired');
    move(-3_600_000);
    assert.equal(await take(), 'acquired');
    assert.equal(await take(), 'rate_limited');
    move(30_000);
    assert.equal(await take(), 'acquired');
    assert.equal(await take(), 'rate_limited');
  });
}

/** All at once. */
export function many<Result>(count: number, work: () => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, work));
}
