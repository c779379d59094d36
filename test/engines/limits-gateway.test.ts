import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { type Redis, startRedis } from '../../scripts/engines/redis.ts';
import { PUBLIC_LIST_RPM_PER_IP, SIGN_INS_PER_EMAIL_RPM } from '../../src/limits.ts';
import { StartError } from '../../src/start-error.ts';
import { type Answer, Gateway } from '../support/gateway.ts';
import { atEnd, until, workFolder } from '../support/postgres.ts';
import { runCommand } from '../support/program.ts';
import { redisFor } from '../support/redis-throttle.ts';

let redis: Redis;
let first: Gateway;
let second: Gateway;

before(async () => {
  redis = await startRedis();
  const settings = { REDIS_URL: redis.url, TOLLGATE_TRUSTED_PROXIES: '127.0.0.1' };
  first = await Gateway.start({ settings });
  second = await Gateway.start({ settings, database: first.database, clock: first.clock });
});

after(async () => {
  await second.stop();
  await first.stop();
  await redis.server.stop();
});

const models = (gateway: Gateway, key: string) => gateway.call('GET', '/v1/models', { key });

function assertRefused({ status, json, headers, text }: Answer, code: string, expected: number): void {
  assert.deepEqual([status, json?.error?.code], [expected, code], text);
  assert.ok(Number(headers['retry-after']) >= 1);
}

test('R-507: one bucket for a key, and for the key that replaces it, whichever process is asked', async () => {
  const caller = await first.newCaller({ key: { rpm: 2 } });
  assert.equal((await models(first, caller.key)).status, 200);
  const rolled = await first.admin('POST', `/keys/${caller.keyId}/roll`, { overlap_seconds: 600 });
  assert.equal(rolled.status, 200, rolled.text);
  assert.equal((await models(second, rolled.json.key)).status, 200);
  assertRefused(await models(first, caller.key), 'rate_limited', 429);
  assertRefused(await models(second, caller.key), 'rate_limited', 429);
  assertRefused(await models(first, rolled.json.key), 'rate_limited', 429);
});

test('R-507: guesses of a password are counted for all processes together', async () => {
  const guess = async (gateway: Gateway, address: string) => {
    const { statusCode, body } = await request(`${gateway.url}/sign-in`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: gateway.config.publicUrl,
        'x-forwarded-for': address,
      },
      body: new URLSearchParams({ email: 'guessed@example.com', password: 'a wrong password' }).toString(),
    });
    await body.dump();
    return statusCode;
  };
  const statuses: number[] = [];
  for (let at = 0; at <= SIGN_INS_PER_EMAIL_RPM; at++) {
    statuses.push(await guess(at % 2 === 0 ? first : second, `10.0.0.${at}`));
  }
  assert.deepEqual(statuses, [...Array<number>(SIGN_INS_PER_EMAIL_RPM).fill(401), 429]);
});

test('R-507: the public price list is counted per address for all processes together', async () => {
  const ask = async (gateway: Gateway) =>
    (await gateway.call('GET', '/api/hub/public/models', { headers: { 'x-forwarded-for': '10.9.9.9' } })).status;
  const statuses = await Promise.all(
    Array.from({ length: 2 * PUBLIC_LIST_RPM_PER_IP }, (_, at) => ask(at % 2 === 0 ? first : second)),
  );
  const answered = statuses.filter((status) => status === 200).length;
  // One more for each second that it took.
  assert.ok(answered >= PUBLIC_LIST_RPM_PER_IP && answered < 1.5 * PUBLIC_LIST_RPM_PER_IP, String(answered));
});

test('R-507: with Redis away by setting callers get 503 limits_unavailable, /healthz tells, and the rest goes on', async (t) => {
  const own = await redisFor(t);
  const settings = { REDIS_URL: own.url, TOLLGATE_LIMITS_WITHOUT_REDIS: 'fail' };
  const strict = await Gateway.start({ settings, database: first.database, clock: first.clock });
  atEnd(t, () => strict.stop());
  const { key } = await strict.newCaller();
  await own.server.kill();
  assertRefused(await models(strict, key), 'limits_unavailable', 503);
  assertRefused(await strict.call('GET', '/api/hub/public/models'), 'limits_unavailable', 503);
  const health = await strict.call('GET', '/healthz');
  assert.equal(health.status, 200);
  assert.ok(health.json.warnings.includes('Redis is away: requests that have a rate limit are refused'));
  assert.equal((await strict.admin('GET', '/accounts')).status, 200);
  await own.server.restart();
  await until(async () => (await models(strict, key)).status === 200);
});

test('a start is refused with a sentence when Redis refuses the password', async (t) => {
  const guarded = await redisFor(t, '--requirepass', 'right');
  const REDIS_URL = `redis://:wrong@127.0.0.1:${guarded.port}`;
  await assert.rejects(
    Gateway.start({ settings: { REDIS_URL }, database: first.database, clock: first.clock }),
    (error) => error instanceof StartError && /^REDIS_URL is refused by the server: WRONGPASS/.test(error.message),
  );
});

test('doctor tells whether Redis takes and counts, and that it evicts', async (t) => {
  const own = await redisFor(t);
  const TOLLGATE_DATA = `${workFolder(t)}/data`;
  const examine = (REDIS_URL: string) => runCommand(t, ['doctor'], { TOLLGATE_DATA, REDIS_URL });
  assert.match((await examine(own.url)).out, /^ok +redis: Redis [\d.]+ takes and counts$/m);
  const evicting = await redisFor(t, '--maxmemory', '50mb', '--maxmemory-policy', 'allkeys-lru');
  assert.match((await examine(evicting.url)).out, /^warning +redis: .* evicts keys/m);
  await own.server.kill();
  const away = await examine(own.url);
  assert.equal(away.code, 1);
  assert.match(
    away.out,
    /^problem +redis: .*ECONNREFUSED.*\n +Check REDIS_URL and the server; meanwhile each process/m,
  );
});
