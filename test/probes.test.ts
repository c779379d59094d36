import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Db, openDb } from '../src/db/index.ts';
import { silentLog } from './support/database.ts';
import { Gateway } from './support/gateway.ts';
import { until } from './support/postgres.ts';
import { ownDatabase, Program } from './support/program.ts';
import { begunRequest, REST_OF_BODY } from './support/start-stop.ts';

let gateway: Gateway;
/** Another database of the same server, from which the gateway's own can be shut. */
let outside: Db;

before(async () => {
  gateway = await Gateway.start();
  outside = openDb({ ...gateway.database.address, database: 'postgres' }, silentLog);
});

after(async () => {
  await outside.close();
  await gateway.stop();
});

const READY = { status: 'ok', database: 'ok', schema: 'ok', configuration: 'ok', stopping: false };

const ready = () => gateway.call('GET', '/readyz');
const live = () => gateway.call('GET', '/livez');

test('a process that can serve lives and is ready, and no proxy may keep either answer', async () => {
  const [alive, able] = [await live(), await ready()];
  assert.deepEqual([alive.status, alive.json], [200, { status: 'ok' }]);
  assert.deepEqual([able.status, able.json], [200, READY]);
  for (const { headers } of [alive, able]) assert.equal(headers['cache-control'], 'no-store');
});

test('without its database a process lives and is not ready, and recovers by itself', async () => {
  const { database } = gateway.database.address;
  await outside.run(`alter database ${database} allow_connections false`);
  try {
    await outside.rows('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database]);
    await until(async () => (await ready()).status === 503);
    const { headers, json } = await ready();
    assert.deepEqual(json, { ...READY, status: 'unready', database: 'unavailable', schema: 'unknown' });
    assert.equal(headers['retry-after'], '1');
    assert.equal((await live()).status, 200);
  } finally {
    await outside.run(`alter database ${database} allow_connections true`);
  }
  await until(async () => (await ready()).status === 200);
});

test('a migration that is missing or another one makes a process unready, one of a newer release does not', async () => {
  const database = openDb(gateway.database.address, silentLog);
  const wrong = { ...READY, status: 'unready', schema: 'wrong' };
  try {
    await database.run(`insert into migrations (number, name, digest) values (9999, '9999_later', 'later')`);
    assert.deepEqual((await ready()).json, READY);
    await database.run('update migrations set digest = reverse(digest) where number = 1');
    await until(async () => (await ready()).status === 503);
    assert.deepEqual((await ready()).json, wrong);
    await database.run('update migrations set digest = reverse(digest), number = -1 where number = 1');
    await until(async () => (await ready()).status === 503);
    assert.deepEqual((await ready()).json, wrong);
    await database.run('update migrations set number = 1 where number = -1');
    await until(async () => (await ready()).status === 200);
  } finally {
    await database.close();
  }
});

test('R-528: while it stops a process is unready before it stops listening, and still lives', async (t) => {
  const program = await Program.start(t, await ownDatabase(t));
  assert.deepEqual((await program.get('/readyz')).json, READY);
  using running = await begunRequest(program);
  program.child.kill('SIGTERM');
  await until(async () => (await program.get('/readyz')).status === 503);
  assert.deepEqual((await program.get('/readyz')).json, { ...READY, status: 'unready', stopping: true });
  assert.equal((await program.get('/livez')).status, 200);
  await running.send(REST_OF_BODY);
  assert.equal((await running.answer()).status, 200);
  assert.equal(await program.end(), 0);
});
