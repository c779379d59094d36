import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDatabase } from '../support/database.ts';
import { ADMIN_TOKEN } from '../support/gateway.ts';
import { commandsRunBy } from '../support/manual.ts';
import { ManualDeployment } from '../support/manual-deployment.ts';
import { atEnd } from '../support/postgres.ts';
import { Program } from '../support/program.ts';

// Commands of docs/operating.md that need PostgreSQL's own tools, which npm does not bring.

const THIS = 'test/engines/manual.test.ts';

test('Backups: what is dumped and restored starts, and its books balance', async (t) => {
  const deployment = await ManualDeployment.start(t);
  const { DATABASE_URL = '' } = deployment.environment;
  // A name of its own, in which the restore makes the database.
  const spare = await createDatabase();
  await spare.drop();
  atEnd(t, () => spare.drop());
  const restored = { DATABASE_URL: spare.url, TOLLGATE_DATA: join(deployment.folder, 'restored') };
  Object.assign(deployment.environment, {
    MAINTENANCE_DATABASE_URL: DATABASE_URL,
    RESTORED_DATABASE_URL: restored.DATABASE_URL,
    RESTORED_TOLLGATE_DATA: restored.TOLLGATE_DATA,
  });
  await deployment.run(commandsRunBy(THIS, 'Backups'));
  await deployment.program.kill('SIGTERM');
  const program = await Program.start(t, { ...deployment.environment, ...restored, PORT: '0' });
  const books = await program.get('/api/admin/books?full=1', ADMIN_TOKEN);
  assert.equal(books.json.balanced, true, books.text);
  assert.equal(books.json.accounts, 1);
  await program.kill('SIGTERM');
});

test('Runbook: a disk is full: the queries tell what fills the database', async (t) => {
  const deployment = await ManualDeployment.start(t);
  const output = await deployment.run(commandsRunBy(THIS, 'Runbook: a disk is full'));
  assert.match(output, /ledger_entries/);
});
