import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Redis } from '../../scripts/engines/redis.ts';
import { RedisFault, type RedisThrottle } from '../../src/throttle/index.ts';
import { until } from '../support/postgres.ts';
import { clientFor, type OpenedThrottle, redisFor, redisSettingsOf, throttleFor } from '../support/redis-throttle.ts';
import { many, outcomeOf } from '../support/throttle-contract.ts';

const ERROR = 50;
const WARN = 40;
const PLENTY = { rpm: 1_000_000, concurrency: 1_000 };

function transitions({ logged }: OpenedThrottle): string[] {
  return logged.filter(({ level }) => level >= WARN).map(({ level, msg }) => `${level} ${msg.split(':', 1)[0]}`);
}

async function untilCounting(throttle: RedisThrottle, counting: RedisThrottle['status']['counting']): Promise<void> {
  await until(() => throttle.status.counting === counting);
}

function tally(outcomes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

test('R-507: with Redis away each of four processes takes a quarter of a limit, tells once, and counts with the others when it is back', async (t) => {
  const redis = await redisFor(t);
  const opened = await throttleFor(t, redisSettingsOf(redis.url), { processes: () => 4 });
  const { throttle } = opened;
  await redis.server.kill();
  const rates = await many(60, () => outcomeOf(throttle, 'rate', { rpm: 60, concurrency: undefined }));
  assert.deepEqual(tally(rates), { acquired: 15, rate_limited: 45 });
  const slots = await many(15, () => outcomeOf(throttle, 'slots', { rpm: 600, concurrency: 15 }));
  assert.deepEqual(tally(slots), { acquired: 3, too_many_concurrent_requests: 12 });
  assert.equal(await outcomeOf(throttle, 'least', { rpm: 1, concurrency: 1 }), 'acquired');
  assert.deepEqual(throttle.status, { counting: 'local', outages: 1, decidedAlone: 76 });
  await redis.server.restart();
  await untilCounting(throttle, 'shared');
  assert.deepEqual(tally(await many(60, () => outcomeOf(throttle, 'rate', { rpm: 60, concurrency: undefined }))), {
    acquired: 60,
  });
  assert.deepEqual(throttle.status, { counting: 'shared', outages: 1, decidedAlone: 76 });
  assert.deepEqual(transitions(opened), [`${ERROR} Redis is away`, `${WARN} Redis is back`]);
});

test('R-507: slots taken before an outage count in it, and those taken in it count after it', async (t) => {
  const redis = await redisFor(t);
  const { throttle } = await throttleFor(t, redisSettingsOf(redis.url));
  const three = { rpm: 1_000, concurrency: 3 };
  assert.equal(await outcomeOf(throttle, 'k', three), 'acquired');
  await redis.server.kill();
  assert.deepEqual(tally(await many(3, () => outcomeOf(throttle, 'k', three))), {
    acquired: 2,
    too_many_concurrent_requests: 1,
  });
  await redis.server.restart();
  await untilCounting(throttle, 'shared');
  assert.equal(await outcomeOf(throttle, 'k', three), 'too_many_concurrent_requests');
});

test('R-507: by setting requests are refused while Redis is away', async (t) => {
  const redis = await redisFor(t);
  const opened = await throttleFor(t, redisSettingsOf(redis.url, 'fail'));
  const { throttle } = opened;
  await redis.server.kill();
  assert.deepEqual(tally(await many(5, () => outcomeOf(throttle, 'k', PLENTY))), { limits_unavailable: 5 });
  assert.deepEqual(throttle.status, { counting: 'fail', outages: 1, decidedAlone: 5 });
  await redis.server.restart();
  await untilCounting(throttle, 'shared');
  assert.equal(await outcomeOf(throttle, 'k', PLENTY), 'acquired');
  assert.deepEqual(transitions(opened), [`${ERROR} Redis is away`, `${WARN} Redis is back`]);
});

test('R-507: a server that hangs is given up, and asked again when it goes on', async (t) => {
  const redis = await redisFor(t);
  const opened = await throttleFor(t, redisSettingsOf(redis.url));
  const { throttle } = opened;
  redis.server.pause();
  assert.deepEqual(tally(await many(50, () => outcomeOf(throttle, 'k', PLENTY))), { acquired: 50 });
  assert.equal(throttle.status.counting, 'local');
  // Decided at once, by the breaker: nothing is sent to the server.
  assert.ok(!(throttle.take('k', PLENTY) instanceof Promise));
  redis.server.resume();
  await untilCounting(throttle, 'shared');
  assert.deepEqual(transitions(opened), [`${ERROR} Redis is away`, `${WARN} Redis is back`]);
});

/** What a server answers although it is there, and how that begins and ends. */
const COMPLAINTS: Record<string, { begin: string[]; end: string[]; reason: RegExp }> = {
  'a replica after a failover': {
    begin: ['REPLICAOF', '127.0.0.1', '1'],
    end: ['REPLICAOF', 'NO', 'ONE'],
    reason: /READONLY/,
  },
  'a server whose memory is full': {
    begin: ['CONFIG', 'SET', 'maxmemory', '1'],
    end: ['CONFIG', 'SET', 'maxmemory', '0'],
    reason: /OOM/,
  },
};

for (const [what, { begin, end, reason }] of Object.entries(COMPLAINTS)) {
  test(`R-507: ${what} counts as away until it takes writes`, async (t) => {
    const redis = await redisFor(t);
    const client = clientFor(t, redis);
    const opened = await throttleFor(t, redisSettingsOf(redis.url));
    const { throttle } = opened;
    await client.call(begin[0] ?? '', ...begin.slice(1));
    assert.deepEqual(tally(await many(5, () => outcomeOf(throttle, 'k', PLENTY))), { acquired: 5 });
    assert.equal(throttle.status.counting, 'local');
    assert.match(opened.logged.find(({ level }) => level === ERROR)?.reason ?? '', reason);
    await client.call(end[0] ?? '', ...end.slice(1));
    await untilCounting(throttle, 'shared');
    assert.equal(await outcomeOf(throttle, 'k', PLENTY), 'acquired');
  });
}

test('R-507: a connection that the server closes is replaced without an outage', async (t) => {
  const redis = await redisFor(t);
  const client = clientFor(t, redis);
  const opened = await throttleFor(t, redisSettingsOf(redis.url));
  const { throttle } = opened;
  const one = { rpm: 1, concurrency: undefined };
  assert.equal(await outcomeOf(throttle, 'k', one), 'acquired');
  for (let time = 0; time < 3; time++) {
    assert.equal(await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'), 1);
    assert.equal(await outcomeOf(throttle, 'k', one), 'rate_limited');
  }
  assert.deepEqual(throttle.status, { counting: 'shared', outages: 0, decidedAlone: 0 });
  assert.deepEqual(transitions(opened), []);
});

test('R-507: a server that has forgotten the script is told it again, without an outage', async (t) => {
  const redis = await redisFor(t);
  const client = clientFor(t, redis);
  const { throttle } = await throttleFor(t, redisSettingsOf(redis.url));
  await client.script('FLUSH');
  assert.deepEqual(tally(await many(61, () => outcomeOf(throttle, 'k', { rpm: 60, concurrency: undefined }))), {
    acquired: 60,
    rate_limited: 1,
  });
  assert.deepEqual(throttle.status, { counting: 'shared', outages: 0, decidedAlone: 0 });
});

test('R-507: a start with Redis away goes on without it, and counts in it when it comes', async (t) => {
  const redis = await redisFor(t);
  await redis.server.kill();
  const opened = await throttleFor(t, redisSettingsOf(redis.url));
  assert.equal(opened.throttle.status.counting, 'local');
  assert.match(opened.logged[0]?.reason ?? '', /ECONNREFUSED/);
  await redis.server.restart();
  await untilCounting(opened.throttle, 'shared');
});

test('R-507: a wrong password, a password that is missing and a database that does not exist are refused', async (t) => {
  const redis = await redisFor(t, '--requirepass', 'hush');
  const at = (rest: string) => redisSettingsOf(`redis://${rest.replace('HERE', `127.0.0.1:${redis.port}`)}`);
  for (const rest of [':wrong@HERE', 'HERE', ':hush@HERE/99']) {
    await assert.rejects(
      throttleFor(t, at(rest)),
      (error) => error instanceof RedisFault && error.isRefusal && !/hush|wrong/.test(error.message),
      rest,
    );
  }
  const { throttle } = await throttleFor(t, at('default:hush@HERE/3'));
  assert.equal(await outcomeOf(throttle, 'k', PLENTY), 'acquired');
});

test('the rights that docs/settings.md names are enough for a user of Redis', async (t) => {
  const redis = await redisFor(t);
  const client = clientFor(t, redis);
  const lists = readFileSync('docs/settings.md', 'utf8').match(/`\+eval [^`]*`|`\+time [^`]*`/g) ?? [];
  const rights = lists.flatMap((list) => list.replaceAll('`', '').split(' '));
  assert.ok(rights.includes('+evalsha') && rights.includes('+pexpire'));
  await client.call('ACL', 'SETUSER', 'limiter', 'on', '>hush', '~tollgate:*', ...rights);
  const { throttle } = await throttleFor(t, redisSettingsOf(`redis://limiter:hush@127.0.0.1:${redis.port}`));
  const one = { rpm: 10, concurrency: 1 };
  const first = await throttle.take('k', one);
  assert.equal(await outcomeOf(throttle, 'k', one), 'too_many_concurrent_requests');
  assert.ok(first.state === 'acquired');
  first.release();
  assert.equal(await outcomeOf(throttle, 'k', one), 'acquired');
  await client.call('CLIENT', 'KILL', 'USER', 'limiter');
  assert.equal(await outcomeOf(throttle, 'k', one), 'too_many_concurrent_requests');
  assert.deepEqual(throttle.status, { counting: 'shared', outages: 0, decidedAlone: 0 });
});

for (const whenAway of ['local', 'fail'] as const) {
  test(`R-507: under load, kills, pauses and restarts of Redis are answered and told, never thrown (${whenAway})`, async (t) => {
    const redis = await redisFor(t);
    const opened = await throttleFor(t, redisSettingsOf(redis.url, whenAway));
    const load = startLoad(opened.throttle);
    for (const blow of [kill, pause, kill]) await blow(redis, opened.throttle, whenAway);
    const outcomes = await load.stop();
    const expected = whenAway === 'fail' ? ['acquired', 'limits_unavailable'] : ['acquired'];
    assert.deepEqual(Object.keys(tally(outcomes)).sort(), expected);
    const { outages } = opened.throttle.status;
    assert.ok(outages >= 3);
    assert.deepEqual(
      transitions(opened),
      Array.from({ length: 2 * outages }, (_, at) =>
        at % 2 === 0 ? `${ERROR} Redis is away` : `${WARN} Redis is back`,
      ),
    );
  });
}

function startLoad(throttle: RedisThrottle): { stop: () => Promise<string[]> } {
  let isStopped = false;
  const outcomes: string[] = [];
  const worker = async (subject: string) => {
    while (!isStopped) {
      const result = await throttle.take(subject, PLENTY);
      outcomes.push(result.state === 'acquired' ? 'acquired' : result.code);
      if (result.state === 'acquired') result.release();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const workers = Promise.all(Array.from({ length: 16 }, (_, at) => worker(`k${at % 4}`)));
  return {
    stop: async () => {
      isStopped = true;
      await workers;
      return outcomes;
    },
  };
}

async function kill({ server }: Redis, throttle: RedisThrottle, whenAway: 'local' | 'fail'): Promise<void> {
  await server.kill();
  await untilCounting(throttle, whenAway);
  await server.restart();
  await untilCounting(throttle, 'shared');
}

async function pause({ server }: Redis, throttle: RedisThrottle, whenAway: 'local' | 'fail'): Promise<void> {
  server.pause();
  await untilCounting(throttle, whenAway);
  server.resume();
  await untilCounting(throttle, 'shared');
}
