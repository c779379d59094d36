import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, openDb } from '../src/db/index.ts';
import { DB_CONNECT_TIMEOUT_MS } from '../src/limits.ts';
import { createDatabase, silentLog } from './support/database.ts';
import { DatabaseLink } from './support/database-link.ts';
import { Gateway } from './support/gateway.ts';
import { atEnd, until } from './support/postgres.ts';

interface Listened {
  readonly link: DatabaseLink;
  readonly db: Db;
}

/** A database on whose wire what listeners hear can be held back. */
async function listened(t: TestContext): Promise<Listened> {
  const database = await createDatabase();
  atEnd(t, () => database.drop());
  const link = await DatabaseLink.open(database);
  atEnd(t, () => link.cut());
  const db = openDb(database.address, silentLog);
  atEnd(t, () => db.close());
  return { link, db };
}

async function started(t: TestContext, link: DatabaseLink): Promise<Gateway> {
  const gateway = await Gateway.start({ database: link.database });
  atEnd(t, () => gateway.stop());
  return gateway;
}

/** Connections that have asked to listen and gone no further. */
async function stuck(db: Db): Promise<number[]> {
  const rows = await db.rows<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and query = 'listen tollgate'`,
  );
  return rows.map(({ pid }) => pid);
}

async function untilTriedTwice(db: Db): Promise<void> {
  const pids = new Set<number>();
  await until(async () => {
    for (const pid of await stuck(db)) pids.add(pid);
    return pids.size >= 2;
  });
}

function untilNoneIsLeft(db: Db): Promise<void> {
  return until(async () => (await stuck(db)).length === 0);
}

test('a start waits for a database that is slow to take its first connection', async (t) => {
  const { link } = await listened(t);
  link.holdAnswersTo(Buffer.from('application_name'));
  const starting = started(t, link);
  await until(() => link.isHolding);
  await sleep(DB_CONNECT_TIMEOUT_MS + 500);
  link.letGo();
  const gateway = await starting;
  assert.equal((await gateway.call('GET', '/healthz')).status, 200);
});

test('a start waits for a database that is slow to let it listen', async (t) => {
  const { link, db } = await listened(t);
  link.silenceListeners();
  const starting = started(t, link);
  await untilTriedTwice(db);
  link.unsilenceListeners();
  const gateway = await starting;
  assert.equal((await gateway.call('GET', '/healthz')).status, 200);
  await untilNoneIsLeft(db);
});

const READS_OF_A_START = { breakers: 'from upstream_breakers', accounts: 'or id = $3 or position' };
for (const [name, statement] of Object.entries(READS_OF_A_START)) {
  test(`a start goes on after its connections to the database were lost while it read ${name}`, async (t) => {
    const { link } = await listened(t);
    link.holdAnswersTo(Buffer.from(statement));
    const starting = started(t, link);
    await until(() => link.isHolding);
    await link.cut();
    link.letGo();
    await link.restore();
    const gateway = await starting;
    assert.equal((await gateway.call('GET', '/healthz')).status, 200);
  });
}

test('a process that cannot listen for a while leaves no connection behind', async (t) => {
  const { link, db } = await listened(t);
  await started(t, link);
  link.silenceListeners();
  await untilTriedTwice(db);
  link.unsilenceListeners();
  await untilNoneIsLeft(db);
});

test('a process that stops while it cannot listen leaves no connection behind', async (t) => {
  const { link, db } = await listened(t);
  const gateway = await started(t, link);
  link.silenceListeners();
  await untilTriedTwice(db);
  await gateway.stop();
  await untilNoneIsLeft(db);
});
