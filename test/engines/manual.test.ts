import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { startPostgres } from '../../scripts/engines/postgres.ts';
import { ADMIN_TOKEN } from '../support/gateway.ts';
import { commandsRunBy, runShell } from '../support/manual.ts';
import { ManualDeployment } from '../support/manual-deployment.ts';
import { atEnd, until, workFolder } from '../support/postgres.ts';
import { Program } from '../support/program.ts';
import { ReplicatedPostgres } from '../support/replicated-postgres.ts';

// Commands of docs/operating.md that need PostgreSQL's own tools, on a server of the same make.

const THIS = 'test/engines/manual.test.ts';

async function deploy(t: TestContext): Promise<ManualDeployment> {
  const { url, server } = await startPostgres('a-password');
  atEnd(t, () => server.stop());
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('create database tollgate');
  await client.end();
  return ManualDeployment.start(t, { DATABASE_URL: url.replace(/postgres$/, 'tollgate') });
}

test('Backups: what was dumped and restored starts, and its books balance', async (t) => {
  const deployment = await deploy(t);
  await deployment.run(commandsRunBy(THIS, 'Backups'));
  await deployment.program.kill('SIGTERM');
  const { DATABASE_URL } = deployment.environment;
  const program = await Program.start(t, {
    ...deployment.environment,
    DATABASE_URL: `${DATABASE_URL}_restored`,
    TOLLGATE_DATA: join(deployment.folder, 'restored'),
    PORT: '0',
  });
  const books = await program.get('/api/admin/books?full=1', ADMIN_TOKEN);
  assert.equal(books.json.balanced, true, books.text);
  assert.equal(books.json.accounts, 1);
});

test('Runbook: a disk is full: the queries tell what fills the database', async (t) => {
  const deployment = await deploy(t);
  const output = await deployment.run(commandsRunBy(THIS, 'Runbook: a disk is full'));
  assert.match(output, /ledger_entries/);
});

test('Runbook: the database fails over: a replica is promoted by hand, and the gateway goes on with it', async (t) => {
  const postgres = await ReplicatedPostgres.start(workFolder(t));
  atEnd(t, () => postgres.stop());
  const [primary, replica] = postgres.servers;
  const { host, user } = replica.connection;
  const REPLICA = `postgres://${user}@/postgres?host=${encodeURIComponent(host)}`;
  const deployment = await ManualDeployment.start(t, { DATABASE_URL: postgres.url(), REPLICA });
  await primary.kill();
  // Without what every section begins with, which asks the gateway.
  const place = { cwd: deployment.folder, env: deployment.environment };
  const { output, code } = await runShell(commandsRunBy(THIS, 'Runbook: the database fails over'), place);
  assert.equal(code, 0, output);
  assert.match(output, /^t\|.*\nt$/m);
  await until(async () => (await deployment.program.get('/healthz')).status === 200);
  const books = await deployment.program.get('/api/admin/books?full=1', ADMIN_TOKEN);
  assert.equal(books.json.balanced, true, books.text);
});
