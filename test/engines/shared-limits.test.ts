import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { after, before, type TestContext, test } from 'node:test';
import type { Redis as RedisClient } from 'ioredis';
import { request } from 'undici';
import { type Redis, startRedis } from '../../scripts/engines/redis.ts';
import { SLOT_LEASE_MS } from '../../src/limits.ts';
import { ADMIN_TOKEN, type Answer } from '../support/gateway.ts';
import { until } from '../support/postgres.ts';
import { ownDatabase, Program } from '../support/program.ts';
import { clientFor, forkLimiter, redisFor, takeOn } from '../support/redis-throttle.ts';

const PROCESSES = 4;

/** Processes with nothing but a limiter each, whose time stands still. */
let limiters: ChildProcess[] = [];
let limitersRedis: Redis;

before(async () => {
  limitersRedis = await startRedis();
  limiters = await Promise.all(Array.from({ length: PROCESSES }, () => forkLimiter(limitersRedis.url)));
});

after(async () => {
  for (const child of limiters) child.kill('SIGKILL');
  await limitersRedis.server.stop();
});

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

test('R-507: of a bucket of 60, four processes that ask at once get exactly 60 together, however they share them', async () => {
  for (const [at, counts] of [
    [30, 30, 30, 30],
    [60, 60, 60, 60],
    [100, 1, 1, 1],
    [57, 1, 1, 1],
  ].entries()) {
    const order = { subject: `k${at}`, rpm: 60, concurrency: undefined };
    const got = await Promise.all(
      limiters.map((child, place) => takeOn(child, { ...order, count: counts[place] ?? 0 })),
    );
    assert.equal(sum(got), 60, `${counts.join()} gave ${got.join()}`);
  }
});

test('R-507: of 15 slots, four processes that ask at once get exactly 15 together', async () => {
  const order = { subject: 'slots', rpm: 1_000, concurrency: 15, count: 10 };
  assert.equal(sum(await Promise.all(limiters.map((child) => takeOn(child, order)))), 15);
  assert.equal(sum(await Promise.all(limiters.map((child) => takeOn(child, order)))), 0);
});

interface Deployment {
  readonly programs: readonly Program[];
  readonly client: RedisClient;
  readonly redis: Redis;
}

/** The whole program four times, on one database and one Redis. */
async function deployment(t: TestContext, settings: Record<string, string> = {}): Promise<Deployment> {
  const redis = await redisFor(t);
  const shared = { ...(await ownDatabase(t)), REDIS_URL: redis.url, LOG_LEVEL: 'warn', ...settings };
  const programs = await Promise.all(Array.from({ length: PROCESSES }, () => Program.start(t, shared)));
  const warned = async () => (await Promise.all(programs.map(warnings))).some((list) => list.length > 0);
  await until(async () => !(await warned()));
  return { programs, client: clientFor(t, redis), redis };
}

async function warnings(program: Program): Promise<string[]> {
  const { json } = await program.get('/healthz');
  return json.warnings.filter((warning: string) => warning.includes('Redis') || warning.includes('rate limits'));
}

async function newKey(program: Program, limits: { rpm?: number; concurrency?: number }): Promise<string> {
  const post = async (path: string, body: unknown): Promise<Answer['json']> => {
    const answer = await program.call('POST', `/api/admin${path}`, { key: ADMIN_TOKEN, body });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  const { id } = await post('/accounts', { name: 'Test' });
  await post(`/accounts/${id}/grants`, { credits: 1_000 });
  return (await post(`/accounts/${id}/keys`, { name: 'test', ...limits })).key;
}

/** A call that takes a minute: the sandbox waits as long as it is asked to. */
async function chat(program: Program | undefined, key: string, signal: AbortSignal): Promise<void> {
  const messages = [{ role: 'user', content: 'Wait.' }];
  const answer = await request(`${program?.url}/v1/chat/completions`, {
    method: 'POST',
    signal,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/chat', messages, max_tokens: 10, extra: { sandbox: { delay_ms: 60_000 } } }),
  });
  assert.fail(await answer.body.text());
}

function assertTooMany({ json, text }: Answer): void {
  assert.equal(json.error?.code, 'too_many_concurrent_requests', text);
}

async function serverMs(client: RedisClient): Promise<number> {
  const [seconds, micros] = await client.time();
  return Number(seconds) * 1000 + Number(micros) / 1000;
}

test('R-507: four gateways admit the 60 of a minute together, lose the slots of a killed one, and outlive their Redis', async (t) => {
  const { programs, client, redis } = await deployment(t);
  const [first, second, third, fourth] = programs;
  assert.ok(first !== undefined && second !== undefined && third !== undefined && fourth !== undefined);

  const key = await newKey(first, { rpm: 60, concurrency: 1_000 });
  const beganMs = await serverMs(client);
  const answers = await Promise.all(
    programs.flatMap((program) => Array.from({ length: 30 }, () => program.get('/v1/models', key))),
  );
  const filled = Math.floor(((await serverMs(client)) - beganMs) / 1_000) + 1;
  const admitted = answers.filter(({ status }) => status === 200).length;
  assert.ok(admitted >= 60 && admitted < 60 + filled, `${admitted} in ${filled} s`);
  for (const { status, json } of answers) if (status !== 200) assert.equal(json.error.code, 'rate_limited');

  const slow = await newKey(first, { rpm: 1_000, concurrency: 15 });
  const hangUp = new AbortController();
  const answered = Promise.allSettled(
    [4, 5, 6].flatMap((count, at) => Array.from({ length: count }, () => chat(programs[at], slow, hangUp.signal))),
  );
  const slots = async () => (await client.keys('tollgate:*:slots')).filter((name) => !name.includes('probe'));
  const ends = async () => {
    const [key = ''] = await slots();
    return (await client.zrange(key, '0', '-1', 'WITHSCORES')).map(Number).filter(Number.isFinite);
  };
  await until(async () => (await ends()).length === 15);
  assertTooMany(await fourth.get('/v1/models', slow));
  await third.kill('SIGKILL');
  assert.equal((await ends()).length, 15);
  assert.ok(Math.max(...(await ends())) - (await serverMs(client)) <= SLOT_LEASE_MS);
  hangUp.abort();
  await answered;
  // Those of the living are free at once, those of the dead when their lease is over.
  await until(async () => (await fourth.get('/v1/models', slow)).status === 200);

  await redis.server.kill();
  const living = [first, second, fourth];
  const many = await newKey(first, { rpm: 1_000_000, concurrency: 1_000 });
  const load = () =>
    Promise.all(living.flatMap((program) => Array.from({ length: 10 }, () => program.get('/v1/models', many))));
  const statuses = new Set((await load()).map(({ status }) => status));
  assert.deepEqual([...statuses], [200]);
  for (const program of living) {
    const [warning = ''] = await warnings(program);
    assert.match(warning, /^Redis is away: each of \d processes takes its share of every rate limit$/);
    // A line of its log crosses a pipe, and may arrive after the answer.
    await until(() => program.logged.some((line) => line.includes('Redis is away: this process takes its share')));
  }
  await redis.server.restart();
  await until(async () => (await Promise.all(living.map(warnings))).flat().length === 0);
  assert.deepEqual([...new Set((await load()).map(({ status }) => status))], [200]);
});
