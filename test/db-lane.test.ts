import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { DatabaseUnavailable, openDb, type Queries } from '../src/db/index.ts';
import { createDatabase, silentLog } from './support/database.ts';
import { DatabaseLink } from './support/database-link.ts';
import { until } from './support/postgres.ts';

const database = await createDatabase();
const link = await DatabaseLink.open(database);
const db = openDb({ url: link.database.url }, silentLog);
const lane = db.lane();
after(async () => {
  await db.close();
  await link.cut();
  await database.drop();
});

async function connectionOf(queries: Queries): Promise<number> {
  const [row] = await queries.rows<{ pid: number }>('select pg_backend_pid() as pid');
  return row?.pid ?? 0;
}

test('a lane keeps to one connection, which nobody else has', async () => {
  const own = await connectionOf(lane);
  assert.equal(await connectionOf(lane), own);
  assert.notEqual(await connectionOf(db.lane()), own);
  assert.notEqual(await connectionOf(db), own);
});

test('a lane whose connection was ended by the server while nobody used it goes on with another', async () => {
  const own = await connectionOf(lane);
  await db.rows('select pg_terminate_backend($1, 5000)', [own]);
  // The word of it is on its way.
  await pass(200);
  assert.notEqual(await connectionOf(lane), own);
});

test('a lane whose connection is ended by the server under a statement says so, and goes on with another', async () => {
  const own = await connectionOf(lane);
  const waiting = lane.rows('select pg_sleep(60)');
  await until(async () => (await db.rows(SLEEPING, [own])).length === 1);
  await Promise.all([
    assert.rejects(waiting, DatabaseUnavailable),
    db.rows('select pg_terminate_backend($1, 5000)', [own]),
  ]);
  assert.notEqual(await connectionOf(lane), own);
});

const SLEEPING = `select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'`;

test('a lane goes on after a database that was away, and after a statement that failed', async () => {
  await connectionOf(lane);
  await link.cut();
  await assert.rejects(connectionOf(lane), DatabaseUnavailable);
  await assert.rejects(connectionOf(lane), DatabaseUnavailable);
  await link.restore();
  assert.equal(typeof (await connectionOf(lane)), 'number');
  await assert.rejects(lane.rows('select 1 / 0'), /division by zero/);
  assert.equal(await lane.run('select 1'), 1);
});
