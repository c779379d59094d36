import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { describeSchema, SCHEMA_FILE } from '../scripts/schema.ts';
import { openDb } from '../src/db/index.ts';
import { createDatabase, silentLog } from './support/database.ts';
import { atEnd } from './support/postgres.ts';

test('migrations/schema.sql is what the migrations make; "npm run schema" writes it anew', async () => {
  const database = await createDatabase();
  const db = openDb(database.address, silentLog);
  try {
    assert.equal(await describeSchema(db), await readFile(SCHEMA_FILE, 'utf8'));
  } finally {
    await db.close();
    await database.drop();
  }
});

test('every table, function and trigger says what it is for', async (t) => {
  const database = await createDatabase();
  const db = openDb(database.address, silentLog);
  atEnd(t, async () => {
    await db.close();
    await database.drop();
  });
  const silent = await db.rows<{ name: string }>(
    `select relname::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'v') and obj_description(oid, 'pg_class') is null
     union all
     select proname::text from pg_proc
     where pronamespace = 'public'::regnamespace and obj_description(oid, 'pg_proc') is null
     union all
     select tgname::text from pg_trigger where not tgisinternal and obj_description(oid, 'pg_trigger') is null`,
  );
  assert.deepEqual(silent, []);
});
