import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { describeSchema } from '../scripts/schema.ts';
import { ArchiveWriter } from '../src/backup/index.ts';
import { systemClock } from '../src/clock.ts';
import { openDb, type Queries } from '../src/db/index.ts';
import { silentLog } from './support/database.ts';
import { usedFolder } from './support/first-start.ts';
import { atEnd, serversBelow, workFolder } from './support/postgres.ts';
import { ownDatabase, Program, runCommand } from './support/program.ts';

/** As versions before the first release left them; one number is also one of this release's, the other is not. */
const OLD_MIGRATIONS = [
  { number: 1, name: '0001_foundation', digest: 'be7bba2d30d7fe21' },
  { number: 36, name: '0036_transcriptions_of_account', digest: 'b91b857ae55dc8e5' },
];

const OLD_DATABASE = `
  drop schema public cascade;
  create schema public;
  create table migrations (number integer primary key, name text not null, digest text not null,
    applied_at timestamptz not null default now());
  insert into migrations (number, name, digest)
  values ${OLD_MIGRATIONS.map(({ number, name, digest }) => `(${number}, '${name}', '${digest}')`).join(', ')};
  create table accounts (id text primary key, password_hash text);
  insert into accounts values ('acct_1', 'x');`;

test('a database of the unreleased history is refused in words, with exit code 1, and is not changed', async (t) => {
  const { settings, name, content } = await oldDatabase(t);
  const before = await content();
  assert.equal(
    await Program.refusal(t, settings),
    `The database "${name}" was made by an unreleased version of Tollgate: its migration 0001_foundation is not the one ` +
      'of this release. Its data cannot be taken over, and nothing in it was changed. To use this release, name a new, ' +
      'empty database with DATABASE_URL; to use the data, start the version that made it.\n',
  );
  assert.equal(await content(), before);
});

test('doctor tells a database of the unreleased history, and does not change it', async (t) => {
  const { settings, name, content } = await oldDatabase(t);
  const before = await content();
  const { code, out } = await runCommand(t, ['doctor'], settings);
  assert.equal(code, 1);
  const advice =
    'To use this release, name a new, empty database with DATABASE_URL; to use the data, start the version';
  assert.match(
    out,
    new RegExp(`^problem  migrations: The database "${name}" was made by an unreleased .*\n {9}${advice}`, 'm'),
  );
  assert.equal(await content(), before);
});

test('commands that read or change the database refuse the unreleased history', async (t) => {
  const { settings, content } = await oldDatabase(t);
  const before = await content();
  for (const command of [
    ['secrets', 'reseal'],
    ['admin', 'create', 'operator@example.com'],
  ]) {
    const { code, out, err } = await runCommand(t, command, settings);
    assert.deepEqual([code, out], [1, ''], command.join(' '));
    assert.match(err, /by an unreleased version of Tollgate: its migration 0001_foundation/, command.join(' '));
  }
  assert.equal(await content(), before);
});

test('a data folder of the unreleased history is refused by its name, and its server is stopped again', async (t) => {
  const folder = await usedFolder(t);
  const program = await Program.start(t, { TOLLGATE_DATA: folder });
  const database = new Client({ host: join(folder, 'postgres'), port: 5432, user: 'postgres', database: 'postgres' });
  await database.connect();
  await database.query(`update migrations set name = '0001_foundation', digest = 'be7bba2d30d7fe21' where number = 1`);
  await database.end();
  assert.equal(await program.kill('SIGTERM'), 0);

  const told = await Program.refusal(t, { TOLLGATE_DATA: folder });
  assert.ok(told.includes(`The database in ${folder} was made by an unreleased version of Tollgate`), told);
  assert.ok(told.includes(`move the folder ${folder} away or name another one with TOLLGATE_DATA`), told);
  assert.deepEqual(serversBelow(folder), []);

  const file = join(workFolder(t), 'gate.tar');
  const backup = await runCommand(t, ['backup', file], { TOLLGATE_DATA: folder });
  assert.deepEqual([backup.code, existsSync(file)], [1, false]);
  assert.ok(backup.err.includes(`move the folder ${folder} away`), backup.err);
  const moved = await Program.start(t, { TOLLGATE_DATA: join(workFolder(t), 'data') });
  assert.equal((await moved.get('/healthz')).status, 200);
});

test('a backup of another history is refused before anything is written', async (t) => {
  const file = join(workFolder(t), 'gate.tar');
  const writer = await ArchiveWriter.create(file, systemClock.now());
  const migrations = OLD_MIGRATIONS;
  await writer.addHead({ format: 2, release: '0.1.0', made_at: '2026-01-01', migrations, tables: {}, sequences: {} });
  await writer.finish();
  const folder = join(workFolder(t), 'data');
  const { code, err } = await runCommand(t, ['restore', file], { TOLLGATE_DATA: folder });
  assert.equal(err, 'The backup was made by an unreleased version of Tollgate. Restore it with that one.\n');
  assert.deepEqual([code, existsSync(folder)], [1, false]);
});

async function oldDatabase(t: TestContext) {
  const settings = await ownDatabase(t);
  const db = openDb({ url: settings.DATABASE_URL ?? '' }, silentLog);
  atEnd(t, () => db.close());
  await db.transaction((tx) => tx.script(OLD_DATABASE));
  const [row] = await db.rows<{ name: string }>('select current_database()::text as name');
  return { settings, name: row?.name, content: async () => (await describeSchema(db)) + (await rowsOf(db)) };
}

/** With the transaction that wrote each. */
async function rowsOf(queries: Queries): Promise<string> {
  const migrations = await queries.rows('select xmin::text, m::text as row from migrations m order by number');
  const accounts = await queries.rows('select xmin::text, a::text as row from accounts a');
  return JSON.stringify([migrations, accounts]);
}
