// Reports that take long must leave the database's connections to the calls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDb } from '../src/db/index.ts';
import { DB_REPORTS_MAX } from '../src/limits.ts';
import { silentLog } from './support/database.ts';
import { Gateway } from './support/gateway.ts';
import { atEnd, until } from './support/postgres.ts';

/** More than there are connections. */
const REPORTS = 40;

test('calls find a connection while more reports than connections wait for a table, and all reports come to their end', async (t) => {
  const gateway = await Gateway.start();
  atEnd(t, () => gateway.stop());
  const { key } = await gateway.newCaller();
  const own = openDb(gateway.database.address, silentLog);
  atEnd(t, () => own.close());
  const held = await own.transaction(async (tx) => {
    await tx.run('lock table audit in access exclusive mode');
    const reports = Promise.all(Array.from({ length: REPORTS }, () => gateway.admin('GET', '/audit')));
    const waiting = async () => (await tx.rows(WAITING)).length;
    await until(async () => (await waiting()) === DB_REPORTS_MAX);
    assert.equal((await gateway.call('GET', '/v1/credits', { key })).status, 200);
    assert.equal(await waiting(), DB_REPORTS_MAX);
    return { reports };
  });
  for (const { status } of await held.reports) assert.equal(status, 200);
  await gateway.assertBooksBalance();
});

const WAITING = `select from pg_locks where not granted and relation = 'audit'::regclass`;
