import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { loadConfig } from './config.ts';
import { parseRedisUrl, type RedisAddress } from './redis-settings.ts';

const PLAIN: Omit<RedisAddress, 'nodes' | 'password' | 'sentinelPassword'> = {
  kind: 'single',
  tls: false,
  username: undefined,
  database: 0,
  masterName: undefined,
  sentinelUsername: undefined,
  prefix: 'tollgate',
};

const accepted: readonly [url: string, expected: object][] = [
  ['redis://cache', { nodes: ['cache:6379'] }],
  ['redis://cache:6380/', { nodes: ['cache:6380'] }],
  ['redis://10.0.0.1:6380/15', { nodes: ['10.0.0.1:6380'], database: 15 }],
  ['rediss://[fd00::1]:6380', { nodes: ['fd00::1:6380'], tls: true }],
  ['valkey://cache', { nodes: ['cache:6379'] }],
  ['valkeys://user:p%40ss%3A%2F@cache', { nodes: ['cache:6379'], tls: true, username: 'user', password: 'p@ss:/' }],
  ['redis://:hush@cache/2?prefix=eu.gate', { nodes: ['cache:6379'], password: 'hush', database: 2, prefix: 'eu.gate' }],
  ['redis+sentinel://one,two:26380/main', { kind: 'sentinel', nodes: ['one:26379', 'two:26380'], masterName: 'main' }],
  [
    'rediss+sentinel://u:p@one/main/3?sentinel_username=s&sentinel_password=q%26',
    {
      kind: 'sentinel',
      tls: true,
      nodes: ['one:26379'],
      masterName: 'main',
      database: 3,
      username: 'u',
      password: 'p',
      sentinelUsername: 's',
      sentinelPassword: 'q&',
    },
  ],
  ['redis+cluster://:p@one:7000,two:7001', { kind: 'cluster', nodes: ['one:7000', 'two:7001'], password: 'p' }],
  ['valkeys+cluster://one', { kind: 'cluster', tls: true, nodes: ['one:6379'] }],
];

for (const [url, expected] of accepted) {
  test(`REDIS_URL=${url} is taken`, () => {
    const { nodes = [], password, sentinelPassword, ...rest } = parseRedisUrl(url) ?? {};
    const found = {
      ...rest,
      nodes: nodes.map(({ host, port }) => `${host}:${port}`),
      password: password?.reveal(),
      sentinelPassword: sentinelPassword?.reveal(),
    };
    assert.deepEqual(found, { ...PLAIN, password: undefined, sentinelPassword: undefined, ...expected });
  });
}

test('limits are shared by REDIS_URL, or by the file that REDIS_URL_FILE names, and its password is not shown', () => {
  const { redis } = loadConfig({ REDIS_URL: 'redis://:hush@cache', TOLLGATE_LIMITS_WITHOUT_REDIS: 'fail' });
  assert.equal(redis?.whenAway, 'fail');
  assert.equal(redis.address.password?.reveal(), 'hush');
  assert.ok(!inspect(redis, { depth: 9 }).includes('hush') && !JSON.stringify(redis).includes('hush'));
  assert.equal(loadConfig({ REDIS_URL: 'redis://cache' }).redis?.whenAway, 'local');
  assert.equal(loadConfig({}).redis, undefined);
});
