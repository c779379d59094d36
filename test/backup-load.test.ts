import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
// Whole programs make and restore backups in the long tier; here a database is slower than any of theirs.
import { ArchiveWriter, dumpDatabase, loadDatabase, openArchive } from '../src/backup/index.ts';
import { openDb } from '../src/db/index.ts';
import { createDatabase, silentLog } from './support/database.ts';
import { give, openAccount, openLedger } from './support/ledger.ts';
import { workFolder } from './support/postgres.ts';

const ledger = await openLedger();
const target = await createDatabase();
after(() => target.drop());

test('a statement that fills a table may take longer than any of a session', async (t) => {
  await give(ledger, await openAccount(ledger), 7n);
  const file = join(workFolder(t), 'gate.tar');
  const writer = await ArchiveWriter.create(file, new Date());
  await dumpDatabase(ledger.db, writer, { release: '0.1.0', made_at: new Date().toISOString() });
  await writer.finish();
  const archive = await openArchive(file);
  t.after(() => archive.close());

  // The client gives a statement up a second after the server should have.
  const db = openDb(target.address, silentLog, { statementMs: 100 });
  t.after(() => db.close());
  await db.transaction((tx) =>
    tx.script(`create function be_slow() returns trigger language plpgsql as
        'begin perform pg_sleep(1.3); return null; end';
      create trigger slow after insert on accounts for each statement execute function be_slow();
      alter table accounts enable always trigger slow;`),
  );
  await loadDatabase(db, archive);
  assert.deepEqual(await db.rows('select granted from balances'), await ledger.db.rows('select granted from balances'));
});
