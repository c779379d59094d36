import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { describeSchema, SCHEMA_FILE } from '../scripts/schema.ts';
import { openDb } from '../src/db/index.ts';
import { createDatabase, silentLog } from './support/database.ts';

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
