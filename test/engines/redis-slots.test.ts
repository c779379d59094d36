import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SLOT_LEASE_MS } from '../../src/limits.ts';
import { limitScripts } from '../../src/throttle/redis-scripts.ts';
import { until } from '../support/postgres.ts';
import { clientFor, redisFor, redisSettingsOf, throttleFor } from '../support/redis-throttle.ts';
import { many, outcomeOf } from '../support/throttle-contract.ts';

const TWO_SLOTS = { rpm: 1_000, concurrency: 2 };
const SLOTS_KEY = 'tollgate:{k}:slots';
/** The server's time is what a key says. */
const SCRIPTS = limitScripts(`local serverMs = tonumber(redis.call('GET', 'now'))`);

test('R-507: slots of a process that renews them no more are free ten seconds later, by the server’s time', async (t) => {
  const redis = await redisFor(t);
  const client = clientFor(t, redis);
  const beganMs = Date.parse('2030-01-15T12:00:00Z');
  await client.set('now', beganMs);
  const { throttle: dying } = await throttleFor(t, redisSettingsOf(redis.url), { scripts: SCRIPTS });
  const { throttle: living } = await throttleFor(t, redisSettingsOf(redis.url), { scripts: SCRIPTS });
  const take = () => outcomeOf(living, 'k', TWO_SLOTS);
  assert.deepEqual(await many(3, () => outcomeOf(dying, 'k', TWO_SLOTS)), [
    'acquired',
    'acquired',
    'too_many_concurrent_requests',
  ]);
  dying.close();
  await client.set('now', beganMs + SLOT_LEASE_MS - 1);
  assert.equal(await take(), 'too_many_concurrent_requests');
  await client.set('now', beganMs + SLOT_LEASE_MS);
  assert.deepEqual(await many(3, take), ['acquired', 'acquired', 'too_many_concurrent_requests']);
});

test('R-507: slots of a living process are renewed, and one that was given back is not', async (t) => {
  const redis = await redisFor(t);
  const client = clientFor(t, redis);
  const { throttle } = await throttleFor(t, redisSettingsOf(redis.url));
  const [first, second] = await many(2, async () => throttle.take('k', TWO_SLOTS));
  assert.ok(first?.state === 'acquired' && second?.state === 'acquired');
  const scores = async () =>
    (await client.zrange(SLOTS_KEY, '0', '-1', 'WITHSCORES')).map(Number).filter(Number.isFinite);
  const before = Math.max(...(await scores()));
  first.release();
  await until(async () => Math.min(...(await scores())) > before);
  assert.equal(await client.zcard(SLOTS_KEY), 1);
  assert.equal(await outcomeOf(throttle, 'k', TWO_SLOTS), 'acquired');
  assert.equal(await outcomeOf(throttle, 'k', TWO_SLOTS), 'too_many_concurrent_requests');
});

test('R-507: nothing that the limiter writes stays for longer than a minute, slots no longer than their lease', async (t) => {
  const redis = await redisFor(t);
  const client = clientFor(t, redis);
  const { throttle } = await throttleFor(t, redisSettingsOf(`${redis.url}/0?prefix=other`));
  assert.equal(await outcomeOf(throttle, 'k', TWO_SLOTS), 'acquired');
  assert.deepEqual((await client.keys('*')).sort(), ['other:{k}:bucket', 'other:{k}:slots', 'other:{probe}:probe']);
  for (const [key, mostMs] of [
    ['other:{k}:bucket', 60_000],
    ['other:{k}:slots', SLOT_LEASE_MS],
    ['other:{probe}:probe', 60_000],
  ] as const) {
    const lifeMs = await client.pttl(key);
    assert.ok(lifeMs > 0 && lifeMs <= mostMs, `${key} lives for ${lifeMs} ms`);
  }
});

test('R-507: slots in use are known again to a server that has lost its memory, and one given back meanwhile is not', async (t) => {
  const redis = await redisFor(t);
  const client = clientFor(t, redis);
  const { throttle } = await throttleFor(t, redisSettingsOf(redis.url));
  const [first] = await many(2, async () => throttle.take('k', TWO_SLOTS));
  await redis.server.kill();
  await until(() => throttle.status.counting === 'local');
  assert.ok(first?.state === 'acquired');
  first.release();
  await redis.server.restart();
  await until(() => throttle.status.counting === 'shared');
  assert.equal(await client.zcard(SLOTS_KEY), 1);
  assert.deepEqual(await many(2, () => outcomeOf(throttle, 'k', TWO_SLOTS)), [
    'acquired',
    'too_many_concurrent_requests',
  ]);
});

test('R-507: slots that a server with a later clock has left behind do not count', async (t) => {
  const redis = await redisFor(t);
  const client = clientFor(t, redis);
  const { throttle } = await throttleFor(t, redisSettingsOf(redis.url));
  const [seconds = '0'] = await client.time();
  await client.zadd(SLOTS_KEY, Number(seconds) * 1000 + 3_600_000, 'one', Number(seconds) * 1000 + 3_600_000, 'two');
  assert.equal(await outcomeOf(throttle, 'k', TWO_SLOTS), 'acquired');
  assert.equal(await client.zcard(SLOTS_KEY), 1);
});
