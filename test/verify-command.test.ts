import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { after, test } from 'node:test';
import { Client } from 'pg';
import { termsOf } from '../packages/verify/src/fault-kinds.ts';
import { FaultProxy } from '../packages/verify/src/fault-proxy.ts';
import { redisTarget, withRedisProxy } from '../packages/verify/src/redis-address.ts';
import { proxyTarget, withProxy } from '../packages/verify/src/server.ts';
import { Commands } from './support/commands.ts';
import { createDatabase } from './support/database.ts';
import { workFolder } from './support/postgres.ts';

// What `tollgate verify` refuses, and how it gets between gateways and engines. test/long/verify.test.ts runs it.

const commands = new Commands();
after(() => commands.stop());

const refusals: readonly (readonly [args: readonly string[], message: RegExp])[] = [
  [['--kills', 'many'], /^--kills must be a whole number up to 1000000\./],
  [
    ['--only', 'kill,flood'],
    /^--only has no "flood": it takes kill, pause, stop, database, redis, disk, clock, upstream\./,
  ],
  [['--only', 'redis'], /^--only redis is not possible here: REDIS_URL is not set\./],
];

for (const [args, message] of refusals) {
  test(`verify ${args.join(' ')} cannot run, and says why`, async (t) => {
    const { code, err } = await commands.run(['verify', ...args], workFolder(t), {});
    assert.equal(code, 2, err);
    assert.match(err, message);
  });
}

test('verify refuses a role that may not make databases, and touches nothing', async (t) => {
  const database = await createDatabase();
  const client = new Client(database.address);
  const role = `role_of_${database.address.database}`;
  await client.connect();
  try {
    await client.query(`create role ${role} login`);
    const url = database.url.replace(/\/\/[^@]*@/, `//${role}@`);
    const { code, err } = await commands.run(['verify', '--only', 'kill'], workFolder(t), { DATABASE_URL: url });
    assert.equal(code, 2, err);
    assert.match(err, /^The role in DATABASE_URL may not make databases/);
  } finally {
    await client.query(`drop role ${role}`);
    await client.end();
    await database.drop();
  }
});

const targets: readonly (readonly [url: string, target: object | undefined, proxied: string])[] = [
  ['postgres://me@db:6000/gate', { host: 'db', port: 6000 }, 'postgres://me@127.0.0.1:1/gate'],
  [
    'postgresql://db/gate?application_name=x',
    { host: 'db', port: 5432 },
    'postgresql://127.0.0.1:1/gate?application_name=x',
  ],
  ['postgres://me@localhost:7/gate?host=%2Frun%2Fpg', { path: '/run/pg/.s.PGSQL.7' }, 'postgres://me@127.0.0.1:1/gate'],
  ['postgres://one,two/gate', undefined, ''],
  ['postgres://db/gate?sslmode=verify-full', undefined, ''],
];

for (const [url, target, proxied] of targets) {
  test(`a proxy for ${url} leads ${target === undefined ? 'nowhere' : 'there'}`, () => {
    assert.deepEqual(proxyTarget(url), target);
    if (target !== undefined) assert.equal(withProxy(url, 1), proxied);
  });
}

test('a proxy for Redis needs a plain address', () => {
  assert.deepEqual(redisTarget('redis://:pw@cache:6000/2'), { host: 'cache', port: 6000 });
  assert.equal(withRedisProxy('redis://:pw@cache:6000/2', 1), 'redis://:pw@127.0.0.1:1/2');
  assert.equal(redisTarget('rediss://cache'), undefined);
});

test('a cut resets connections and refuses new ones, until the restore', async () => {
  const echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const { port } = echo.address() as AddressInfo;
  const proxy = await FaultProxy.open({ host: '127.0.0.1', port });
  try {
    const before = connect(proxy.port, '127.0.0.1');
    before.write('one');
    assert.equal(String((await once(before, 'data'))[0]), 'one');
    const reset = once(before, 'error');
    await proxy.cut();
    assert.equal((await reset)[0].code, 'ECONNRESET');
    const during = connect(proxy.port, '127.0.0.1');
    assert.equal((await once(during, 'error'))[0].code, 'ECONNREFUSED');
    await proxy.restore();
    const after = connect(proxy.port, '127.0.0.1');
    after.write('two');
    assert.equal(String((await once(after, 'data'))[0]), 'two');
    after.destroy();
  } finally {
    await proxy.close();
    echo.close();
  }
});

test('a server that is not the campaign’s own is cut off, not killed', () => {
  assert.deepEqual(termsOf(['database'], true).weights, { 'kill the database': 6, 'cut the database': 8 });
  assert.deepEqual(termsOf(['database'], false).weights, { 'cut the database': 8 });
  assert.deepEqual(termsOf(['upstream'], false), { weights: { none: 1 }, hasBadUpstreams: true });
});
