import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import fc from 'fast-check';
import { type Redis, startRedis } from '../../scripts/engines/redis.ts';
import { MemoryThrottle, RedisThrottle, type Throttle } from '../../src/throttle/index.ts';
import { limitScripts } from '../../src/throttle/redis-scripts.ts';
import { ManualClock } from '../support/clock.ts';
import { silentLog } from '../support/database.ts';
import { redisSettingsOf } from '../support/redis-throttle.ts';
import { type ThrottleUnderTest, throttleContract } from '../support/throttle-contract.ts';

const STANDING_MS = Date.parse('2030-01-15T12:00:00Z');

let redis: Redis;
let standing: RedisThrottle;
let aheadMs = 0;
let opened = 0;

before(async () => {
  redis = await startRedis();
  standing = await RedisThrottle.open({
    settings: redisSettingsOf(redis.url),
    log: silentLog,
    memory: new MemoryThrottle(new ManualClock()),
    processes: () => 1,
    offsetMs: () => aheadMs,
    scripts: limitScripts(`local serverMs = ${STANDING_MS}`),
  });
});

afterEach(() => assert.deepEqual(standing.status, { counting: 'shared', outages: 0, decidedAlone: 0 }));

after(async () => {
  standing.close();
  await redis.server.stop();
});

/** The server's time stands still, and what moves is the offset of the clock. Subjects of one are never those of another. */
function fresh(): ThrottleUnderTest {
  const scope = opened++;
  aheadMs = 0;
  return {
    throttle: {
      take: (subject, allowance) => standing.take(`${subject} of ${scope}`, allowance),
      get status() {
        return standing.status;
      },
    },
    nowMs: () => STANDING_MS + aheadMs,
    move: (ms) => {
      aheadMs += ms;
    },
  };
}

throttleContract('R-507: Redis', { open: fresh, runs: 20 });

const step = fc.oneof(
  fc.record({
    rpm: fc.integer({ min: 1, max: 6 }),
    concurrency: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  }),
  fc.record({ release: fc.nat({ max: 10 }) }),
  fc.record({ moveMs: fc.integer({ min: -30_000, max: 90_000 }) }),
);

test('R-507: Redis decides as memory does, whatever is taken, given back and waited for, and however the rate changes', () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      const shared = fresh();
      const clock = { now: () => new Date(shared.nowMs()), nowMs: () => shared.nowMs() };
      const throttles: Throttle[] = [shared.throttle, new MemoryThrottle(clock)];
      const slots: (() => void)[] = [];
      for (const next of steps) {
        if ('moveMs' in next) shared.move(next.moveMs);
        else if ('release' in next) slots[next.release % Math.max(1, slots.length)]?.();
        else {
          const [one, other] = await Promise.all(throttles.map(async (throttle) => throttle.take('k', next)));
          assert.ok(one !== undefined && other !== undefined);
          assert.equal(JSON.stringify(one), JSON.stringify(other));
          if (one.state === 'acquired' && other.state === 'acquired') {
            const [first, second] = [one.release, other.release];
            slots.push(() => {
              first();
              second();
            });
          }
        }
      }
    }),
    {
      numRuns: 200,
      examples: [
        [
          [
            { rpm: 1, concurrency: undefined },
            { moveMs: 1_876 },
            { rpm: 1, concurrency: undefined },
            { moveMs: 8_124 },
            { rpm: 6, concurrency: undefined },
          ],
        ],
      ],
    },
  ));
