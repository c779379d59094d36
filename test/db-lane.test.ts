import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as pass } from 'node:timers/promises';
import { DatabaseUnavailable, type Lane, openDb } from '../src/db/index.ts';
import { createDatabase, silentLog } from './support/database.ts';
import { DatabaseLink } from './support/database-link.ts';
import { until } from './support/postgres.ts';

const database = await createDatabase();
const link = await DatabaseLink.open(database);
const db = openDb({ url: link.database.url }, silentLog);
await db.run(`create table said (
  number bigint generated always as identity, pid integer, word text, share integer, at timestamptz default clock_timestamp())`);

/** Writes a word as many times as it is told, if what is to be divided by is not nought. */
const SAY = `
  insert into said (pid, word, share) select pg_backend_pid(), $1, 1 / $3::integer from generate_series(1, $2::integer)`;
const SAY_LATE = `insert into said (pid, word) select pg_backend_pid(), $1 from pg_sleep($2::float8)`;
const lane = db.lane(SAY);
after(async () => {
  await db.close();
  await link.cut();
  await database.drop();
});

async function connectionOf(asked: Lane): Promise<number> {
  assert.deepEqual(await asked.run([['hello', '1', '1']]), [1]);
  const [row] = await db.rows<{ pid: number }>('select pid from said order by number desc limit 1');
  return row?.pid ?? 0;
}

test('a lane keeps to one connection, which nobody else has', async () => {
  const own = await connectionOf(lane);
  assert.equal(await connectionOf(lane), own);
  assert.notEqual(await connectionOf(db.lane(SAY)), own);
  const [pooled] = await db.rows<{ pid: number }>('select pg_backend_pid() as pid');
  assert.notEqual(pooled?.pid, own);
});

test('a lane runs its statement with each list of values, in their order, and tells the rows of each', async () => {
  const values = ['one', 'two', 'Zoë "3" \\ \n'].map((word, index) => [word, String(index * 20), '1']);
  assert.deepEqual(await lane.run(values), [0, 20, 40]);
  const rows = await db.rows<{ word: string }>(`select word from said where word <> 'hello' order by number`);
  assert.deepEqual(
    rows.map(({ word }) => word),
    [...Array(20).fill('two'), ...Array(40).fill('Zoë "3" \\ \n')],
  );
  assert.deepEqual(await lane.run([]), []);
});

test('what a lane runs in one call is all done or not at all, and it goes on after that', async () => {
  await assert.rejects(
    lane.run([
      ['half', '1', '1'],
      ['half', '1', '0'],
      ['half', '1', '1'],
    ]),
    /division by zero/,
  );
  assert.deepEqual(await db.rows(`select from said where word = 'half'`), []);
  assert.deepEqual(await lane.run([['whole', '2', '1']]), [2]);
});

test('what is run while something else is being run is at the server already, and is done after it', async () => {
  // Not by way of the link, which is served by the thread that is held up.
  const near = openDb({ url: database.url }, silentLog);
  const late = near.lane(SAY_LATE);
  await late.run([['ready', '0']]);
  const answers = Promise.all([
    late.run([['patient', '0.1']]),
    late.run([
      ['next', '0'],
      ['last', '0'],
    ]),
  ]);
  await nextTurn();
  // Nobody here can do anything until long after that.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  const blocked = performance.timeOrigin + performance.now();
  assert.deepEqual(await answers, [[1], [1, 1]]);
  const rows = await db.rows<{ word: string; ms: number }>(
    `select word, extract(epoch from at)::float8 * 1000 as ms from said where word in ('patient', 'next', 'last') order by at`,
  );
  assert.deepEqual(
    rows.map(({ word }) => word),
    ['patient', 'next', 'last'],
  );
  for (const { ms } of rows) assert.ok(ms < blocked, `${ms} is not before ${blocked}`);
  await near.close();
});

test('what is run behind something that fails is done', async () => {
  const answers = await Promise.allSettled([
    lane.run([['bad', '1', '0']]),
    lane.run([['good', '1', '1']]),
    lane.run([['bad', '1', '0']]),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['rejected', 'fulfilled', 'rejected'],
  );
  assert.deepEqual(await db.rows(`select word from said where word in ('bad', 'good')`), [{ word: 'good' }]);
  assert.deepEqual(await lane.run([['good', '1', '1']]), [1]);
});

test('a lane whose connection was ended by the server while nobody used it goes on with another', async () => {
  const own = await connectionOf(lane);
  await db.rows('select pg_terminate_backend($1, 5000)', [own]);
  // The word of it is on its way.
  await pass(200);
  assert.notEqual(await connectionOf(lane), own);
});

test('a lane whose connection is ended by the server under a statement says so, and goes on with another', async () => {
  const late = db.lane(SAY_LATE);
  const waiting = late.run([['late', '60']]);
  await until(async () => (await db.rows(SLEEPING)).length === 1);
  await Promise.all([
    assert.rejects(waiting, DatabaseUnavailable),
    assert.rejects(late.run([['later', '0']]), DatabaseUnavailable),
    db.rows('select pg_terminate_backend(pid, 5000) from pg_stat_activity where wait_event = $1', ['PgSleep']),
  ]);
  assert.deepEqual(await late.run([['soon', '0']]), [1]);
  assert.deepEqual(await db.rows(`select word from said where word in ('late', 'later', 'soon')`), [{ word: 'soon' }]);
});

const SLEEPING = `select from pg_stat_activity where wait_event = 'PgSleep'`;

test('a lane goes on after a database that was away', async () => {
  await connectionOf(lane);
  await link.cut();
  const said = () => lane.run([['away', '1', '1']]);
  await assert.rejects(said, DatabaseUnavailable);
  await assert.rejects(said, DatabaseUnavailable);
  await link.restore();
  assert.deepEqual(await said(), [1]);
});

test('a lane counts rows that its statement answers with, and makes nothing of them', async () => {
  const counting = db.lane('select generate_series(1, $1::integer)');
  assert.deepEqual(await counting.run([['3'], ['0'], ['5']]), [3, 0, 5]);
});

test('a lane whose statement is none says so each time', async () => {
  const none = db.lane('insert into nowhere values ($1)');
  await assert.rejects(none.run([['1']]), /nowhere/);
  await assert.rejects(none.run([['1']]), /nowhere/);
});
