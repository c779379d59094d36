import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { describeSchema, SCHEMA_FILE } from '../scripts/schema.ts';
import { type Db, MigrationError, migrate, openDb } from '../src/db/index.ts';
import { createDatabase, silentLog, type TestDatabase } from './support/database.ts';
import { Gateway, type NewCaller } from './support/gateway.ts';
import { atEnd, until } from './support/postgres.ts';

const RELEASE = fileURLToPath(new URL('../migrations', import.meta.url));
const OF_RELEASE = readdirSync(RELEASE)
  .filter((file) => /^\d{4}_/.test(file))
  .map((file) => file.replace('.sql', ''))
  .sort();
const NEXT_NUMBER = Number(OF_RELEASE.at(-1)?.slice(0, 4)) + 1;

/**
 * The beginning of each one's digest. A database that has run a migration is refused by a release in which its text is
 * another: what is listed here has been published and never changes. A new migration gets a line of its own.
 */
const PUBLISHED = {
  '0001_foundation': 'be7bba2d30d7fe21',
  '0002_ledger': '6601e5c2d85e0025',
  '0003_routing': '1587640fb34117f5',
  '0004_jobs': '5231d7b5e04546d6',
  '0005_ledger_speed': '0258df7afc293a9c',
  '0006_transcriptions': 'e50e2fc7d3622664',
  '0007_held_clips': '2fbeeda5f99acc06',
  '0008_purses': '45575a41fe7f0b46',
  '0009_journal': 'b4845abb65809514',
  '0010_journal_file': '269c662556ad1a17',
  '0011_fewer_lists': '0ea2d1446b5d5e90',
  '0012_breakers': '2b8ae1ee2d39f5cf',
  '0016_attempt_tries': '46e5c08100e572b1',
  '0017_refusals': '08fcda29882b73f2',
  '0018_operators': 'ecd15a57ecddf67d',
  '0019_write_probe': 'f17bc0f4348361c2',
  '0030_people': '981f42c5a9407253',
  '0031_oauth': '52baaa380390fcb2',
  '0034_sign_up': '5a9d81f33c398608',
  '0035_identity_provider': '582d57cc08b99dc1',
  '0036_transcriptions_of_account': 'b91b857ae55dc8e5',
};

test('the migrations are those that were published, letter by letter', () => {
  const digests = OF_RELEASE.map((name) => [
    name,
    createHash('sha256')
      .update(readFileSync(join(RELEASE, `${name}.sql`)))
      .digest('hex')
      .slice(0, 16),
  ]);
  assert.deepEqual(Object.fromEntries(digests), PUBLISHED);
});

test('a database that earlier texts of 0008 and 0009 have made is taken over, and is the same after it', async (t) => {
  const db = open(t, await createdDatabase(t));
  await db.run('delete from migrations where number in (10, 11)');
  await db.run('alter table ledger_journal reset (vacuum_truncate)');
  const said = 'update migrations set digest = $2 where number = $1';
  await db.run(said, [8, 'e5520fe5b3509fe4c299be28115dcdb19c570df7f1c2729689995112414c6049']);
  await db.run(said, [9, '1c6e9b88dc6dd81729425e78fb3c4c9097c786ec19f3d09c46267b2b89e096f9']);
  await migrate(db, () => undefined);
  assert.equal(await describeSchema(db), readFileSync(SCHEMA_FILE, 'utf8'));
});

test('R-527: three processes that start at once migrate an empty database once', async (t) => {
  const database = await emptyDatabase(t);
  const told: string[] = [];
  const migrators = [1, 2, 3].map(() => open(t, database));
  await Promise.all(migrators.map((db) => migrate(db, (message) => void told.push(message))));
  // Each tells when it has heard of its own commit, and by then another may have gone on.
  assert.deepEqual(
    told.toSorted(),
    OF_RELEASE.map((name) => `Migrated the database: ${name}`),
  );
  assert.deepEqual(await applied(open(t, database)), OF_RELEASE);
});

test('R-527: a process waits for the one that migrates, and then finds nothing left to do', async (t) => {
  const database = await emptyDatabase(t);
  const db = open(t, database);
  await db.run('create table door (id integer)');
  const folder = releaseOf(t, { '0001_slow.sql': 'lock table door in access exclusive mode; create table made ();' });
  const opened = Promise.withResolvers<void>();
  const closedDoor = db.transaction(async (tx) => {
    await tx.run('lock table door in access exclusive mode');
    await opened.promise;
  });
  const waiting = (event: string) =>
    until(async () => (await db.rows(WAITING_SESSIONS, [database.address.database, event])).length === 1);

  const told: string[] = [];
  const first = migrate(open(t, database), (message) => void told.push(`first: ${message}`), folder);
  await waiting('relation');
  const second = migrate(open(t, database), (message) => void told.push(`second: ${message}`), folder);
  await waiting('advisory');
  opened.resolve();
  await Promise.all([closedDoor, first, second]);
  assert.deepEqual(told, ['first: Migrated the database: 0001_slow']);
});

test('a database that is up to date is left as it is', async (t) => {
  const db = open(t, await createdDatabase(t));
  const before = await db.rows('select * from migrations');
  const told: string[] = [];
  await migrate(db, (message) => void told.push(message));
  assert.deepEqual(told, []);
  assert.deepEqual(await db.rows('select * from migrations'), before);
});

test('an edited migration is refused by name, and nothing after it is applied', async (t) => {
  const db = open(t, await emptyDatabase(t));
  const files = { '0001_one.sql': 'create table one ();', '0002_two.sql': 'create table two ();' };
  await migrateWith(t, db, files);
  const edited = {
    ...files,
    '0001_one.sql': 'create table one (id integer);',
    '0003_three.sql': 'create table three ();',
  };
  await assert.rejects(migrateWith(t, db, edited), refusal(/another version of migration 0001_one/));
  assert.deepEqual(await applied(db), ['0001_one', '0002_two']);
  assert.deepEqual(await tables(db), ['migrations', 'one', 'two']);
});

test('even a changed line ending counts as an edit', async (t) => {
  const db = open(t, await emptyDatabase(t));
  await migrateWith(t, db, { '0001_one.sql': 'create table one ();\n' });
  const edited = migrateWith(t, db, { '0001_one.sql': 'create table one ();\r\n' });
  await assert.rejects(edited, refusal(/another version of migration 0001_one/));
});

test('a database of a newer release is refused with the name of what is unknown', async (t) => {
  const db = open(t, await emptyDatabase(t));
  const old = { '0001_one.sql': 'create table one ();' };
  await migrateWith(t, db, { ...old, '0002_new.sql': 'create table two ();' });
  await assert.rejects(migrateWith(t, db, old), refusal(/newer release \(0002_new\); this one knows 1 migrations/));
});

test('the program does not start on a database of a newer release', async (t) => {
  const database = await createdDatabase(t);
  const number = NEXT_NUMBER;
  await open(t, database).run('insert into migrations (number, name, digest) values ($1, $2, $3)', [
    number,
    'next',
    'x',
  ]);
  await assert.rejects(Gateway.start({ database }), refusal(/newer release \(next\)/));
});

test('a release in which a number is there twice is refused before anything is applied', async (t) => {
  const db = open(t, await emptyDatabase(t));
  const twice = migrateWith(t, db, {
    '0001_one.sql': 'create table one ();',
    '0001_other.sql': 'create table two ();',
  });
  await assert.rejects(twice, refusal(/0001_other\.sql has a number that another has/));
  assert.deepEqual(await tables(db), []);
});

test('numbers may be left out, and one that comes later is applied all the same', async (t) => {
  const db = open(t, await emptyDatabase(t));
  const files = { '0001_one.sql': 'create table one ();', '0003_three.sql': 'create table three ();' };
  await migrateWith(t, db, files);
  await migrateWith(t, db, { ...files, '0002_two.sql': 'create table two ();' });
  assert.deepEqual(await tables(db), ['migrations', 'one', 'three', 'two']);
  await assert.rejects(migrateWith(t, db, files), refusal(/newer release \(0002_two\)/));
});

test('a migration that fails leaves nothing of itself, and the next start takes up from there', async (t) => {
  const db = open(t, await emptyDatabase(t));
  const first = { '0001_one.sql': 'create table one ();' };
  const broken = 'create table two (); insert into one default values; select 1 / 0;';
  await assert.rejects(migrateWith(t, db, { ...first, '0002_two.sql': broken }), /division by zero/);
  assert.deepEqual(await applied(db), ['0001_one']);
  assert.deepEqual(await tables(db), ['migrations', 'one']);
  assert.deepEqual(await db.rows('select * from one'), []);

  await migrateWith(t, db, { ...first, '0002_two.sql': 'create table two ();' });
  assert.deepEqual(await tables(db), ['migrations', 'one', 'two']);
});

test('a process that is cut off in the middle of a migration leaves nothing of it', async (t) => {
  const database = await emptyDatabase(t);
  const db = open(t, database);
  const cut = 'create table one (); select pg_terminate_backend(pg_backend_pid());';
  await assert.rejects(migrateWith(t, db, { '0001_one.sql': cut }));
  assert.deepEqual(await tables(db), ['migrations']);
  assert.deepEqual(await applied(db), []);
});

test('R-527: a running process serves on while a newer release adds columns and tables', async (t) => {
  const database = await createdDatabase(t);
  const gateway = await Gateway.start({ database });
  atEnd(t, () => gateway.stop());
  const caller = await gateway.newCaller();
  // Twice, since statements are prepared on each of several connections.
  await useEverything(gateway, caller);
  await useEverything(gateway, caller);

  const newer = mkdtempSync(join(tmpdir(), 'tollgate-release-'));
  atEnd(t, () => rmSync(newer, { recursive: true }));
  cpSync(RELEASE, newer, { recursive: true });
  const db = open(t, database);
  const columns = (await tables(db))
    .filter((table) => table !== 'migrations')
    .map((table) => `alter table ${table} add column added text;`);
  const number = String(NEXT_NUMBER).padStart(4, '0');
  writeFileSync(join(newer, `${number}_newer.sql`), `${columns.join('\n')} create table added ();`);
  await migrate(db, () => undefined, newer);

  await useEverything(gateway, caller);
  await useEverything(gateway, caller);
  await gateway.assertBooksBalance();
});

const WAITING_SESSIONS = `select pid from pg_stat_activity
  where datname = $1 and wait_event_type = 'Lock' and wait_event = $2`;

/** Every statement that a process keeps prepared. */
async function useEverything(gateway: Gateway, { accountId, keyId, key }: NewCaller): Promise<void> {
  const calls: readonly [method: string, path: string, body?: unknown][] = [
    ['POST', `/accounts/${accountId}/grants`, { credits: 5 }],
    ['POST', `/accounts/${accountId}/keys`, { name: 'another' }],
    ['PATCH', `/keys/${keyId}`, { rpm: 1000 }],
    ['PATCH', `/accounts/${accountId}`, { name: 'Renamed' }],
    ['GET', `/accounts/${accountId}/keys`],
    ['GET', `/accounts/${accountId}/ledger`],
    ['GET', '/accounts'],
    ['GET', '/audit'],
    ['GET', '/books'],
    ['GET', '/config'],
    ['GET', '/upstreams'],
  ];
  for (const [method, path, body] of calls) {
    const answer = await gateway.admin(method, path, body);
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
  }
  const { models, upstreams } = (await gateway.admin('GET', '/config')).json;
  await gateway.putConfig({ upstreams, models: models.toReversed() });
  assert.equal((await gateway.call('GET', '/v1/models', { key })).status, 200);
}

async function createdDatabase(t: TestContext): Promise<TestDatabase> {
  const database = await createDatabase();
  atEnd(t, () => database.drop());
  return database;
}

/** Not even migrated. */
async function emptyDatabase(t: TestContext): Promise<TestDatabase> {
  const database = await createdDatabase(t);
  await open(t, database).transaction((tx) => tx.script('drop schema public cascade; create schema public;'));
  return database;
}

function open(t: TestContext, database: TestDatabase): Db {
  const db = openDb(database.address, silentLog);
  atEnd(t, () => db.close());
  return db;
}

/** A folder with these migrations. */
function releaseOf(t: TestContext, files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-release-'));
  atEnd(t, () => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

function migrateWith(t: TestContext, db: Db, files: Record<string, string>): Promise<void> {
  return migrate(db, () => undefined, releaseOf(t, files));
}

async function applied(db: Db): Promise<string[]> {
  const rows = await db.rows<{ name: string }>('select name from migrations order by number');
  return rows.map((row) => row.name);
}

async function tables(db: Db): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(
    `select tablename::text as name from pg_tables where schemaname = 'public' order by 1`,
  );
  return rows.map((row) => row.name);
}

function refusal(message: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof MigrationError, String(error));
    assert.match(error.message, message);
    return true;
  };
}
