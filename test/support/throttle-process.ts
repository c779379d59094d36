// A process that takes from a limiter in Redis whose time stands still, for tests of several processes. Takes on a message, tells
// how many it got, and keeps its slots until it ends.
import assert from 'node:assert/strict';
import { MemoryThrottle, RedisThrottle } from '../../src/throttle/index.ts';
import { limitScripts } from '../../src/throttle/redis-scripts.ts';
import { ManualClock } from './clock.ts';
import { silentLog } from './database.ts';
import { redisSettingsOf } from './redis-throttle.ts';

export interface Order {
  readonly subject: string;
  readonly rpm: number;
  readonly concurrency: number | undefined;
  readonly count: number;
}

const [, , url = ''] = process.argv;
const throttle = await RedisThrottle.open({
  settings: redisSettingsOf(url, 'fail'),
  log: silentLog,
  memory: new MemoryThrottle(new ManualClock()),
  processes: () => 4,
  scripts: limitScripts(`local serverMs = ${Date.parse('2030-01-15T12:00:00Z')}`),
});

process.on('message', (order: Order) => void carryOut(order));
process.send?.('ready');

async function carryOut({ subject, count, ...allowance }: Order): Promise<void> {
  const results = await Promise.all(Array.from({ length: count }, async () => throttle.take(subject, allowance)));
  assert.deepEqual(throttle.status, { counting: 'shared', outages: 0, decidedAlone: 0 });
  process.send?.(results.filter(({ state }) => state === 'acquired').length);
}
