import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DatabaseUnavailable, type Db, MigrationError, migrate, migrationState, openDb } from '../src/db/index.ts';
import { VERSION } from '../src/version.ts';
import { createDatabase, silentLog, type TestDatabase } from './support/database.ts';
import { Gateway, type NewCaller } from './support/gateway.ts';
import { atEnd, until } from './support/postgres.ts';

const RELEASE = fileURLToPath(new URL('../migrations', import.meta.url));
const OF_RELEASE = readdirSync(RELEASE)
  .filter((file) => /^\d{4}_/.test(file))
  .map((file) => file.replace('.sql', ''))
  .sort();
const CONTRACT = '-- contract, needs 999.0.0\n';
const NEXT_NUMBER = Number(OF_RELEASE.at(-1)?.slice(0, 4)) + 1;

/** As "sha256sum 0*.sql" prints it: the migrations of every release so far. A release adds its new ones. */
const RELEASED_LIST = 'released.sha256';

test('a migration that was released keeps its text, and every release lists its migrations', () => {
  assert.deepEqual(changedSinceRelease(RELEASE), []);
  const hasRelease = /^## \d/m.test(readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8'));
  assert.equal(
    existsSync(join(RELEASE, RELEASED_LIST)),
    hasRelease,
    'cd migrations && sha256sum 0*.sql > released.sha256',
  );
});

test('an edited or missing migration of a release is found', (t) => {
  const texts = { '0001_one.sql': 'create table one ();', '0002_two.sql': 'create table two ();', '0003_gone.sql': '' };
  const list = Object.entries(texts).map(([name, text]) => `${digestOf(text)}  ${name}\n`);
  const folder = releaseOf(t, { ...texts, [RELEASED_LIST]: list.join('') });
  assert.deepEqual(changedSinceRelease(folder), []);
  writeFileSync(join(folder, '0002_two.sql'), 'create table two (); ');
  rmSync(join(folder, '0003_gone.sql'));
  assert.deepEqual(changedSinceRelease(folder), ['0002_two.sql', '0003_gone.sql']);
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
  const first = migrate(open(t, database), (message) => void told.push(`first: ${message}`), { folder });
  await waiting('relation');
  const second = migrate(open(t, database), (message) => void told.push(`second: ${message}`), { folder });
  await waiting('advisory');
  opened.resolve();
  await Promise.all([closedDoor, first, second]);
  assert.deepEqual(told, ['first: Migrated the database: 0001_slow']);
});

test('R-527: a migration, and a process that waits for it, may take longer than any statement of a session', async (t) => {
  const database = await emptyDatabase(t);
  const folder = releaseOf(t, { '0001_slow.sql': `create table made (); select pg_sleep(${SLOW_SECONDS});` });
  const told: string[] = [];
  const [one, other] = [open(t, database, IMPATIENT), open(t, database, IMPATIENT)];
  await assert.rejects(one.rows(`select pg_sleep(${SLOW_SECONDS})`), DatabaseUnavailable);
  await Promise.all([one, other].map((db) => migrate(db, (message) => void told.push(message), { folder })));
  assert.deepEqual(told, ['Migrated the database: 0001_slow']);
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
  await assert.rejects(
    migrateWith(t, db, edited),
    refusal(/by an unreleased version of Tollgate: its migration 0001_one is not the one/),
  );
  assert.deepEqual(await applied(db), ['0001_one', '0002_two']);
  assert.deepEqual(await tables(db), ['migrations', 'one', 'two']);
});

test('even a changed line ending counts as an edit', async (t) => {
  const db = open(t, await emptyDatabase(t));
  await migrateWith(t, db, { '0001_one.sql': 'create table one ();\n' });
  const edited = migrateWith(t, db, { '0001_one.sql': 'create table one ();\r\n' });
  await assert.rejects(edited, refusal(/by an unreleased version of Tollgate: its migration 0001_one is not the one/));
});

test('a database of a newer release is refused with the name of what is unknown, before anything is applied', async (t) => {
  const db = open(t, await emptyDatabase(t));
  const old = { '0001_one.sql': 'create table one ();' };
  await migrateWith(t, db, { ...old, '0003_new.sql': `${CONTRACT}create table three ();` });
  const both = { ...old, '0002_two.sql': 'create table two ();' };
  await assert.rejects(migrateWith(t, db, both), refusal(/newer release \(0003_new\); this one knows 2 migrations/));
  assert.deepEqual(await tables(db), ['migrations', 'one', 'three']);
});

test('R-527: the program starts on a database to which a newer release has added, and not on one from which it took', async (t) => {
  const database = await createdDatabase(t);
  const db = open(t, database);
  const record = (number: number, name: string, needs: string | null) =>
    db.run('insert into migrations (number, name, digest, needs) values ($1, $2, $3, $4)', [number, name, 'x', needs]);
  await record(NEXT_NUMBER, 'adds', null);
  await record(NEXT_NUMBER + 1, 'takes what this release uses no more', VERSION);
  assert.equal((await migrationState(db)).state, 'ahead');
  const told: string[] = [];
  await migrate(db, (message) => void told.push(message));
  assert.match(told.join(), /^A newer release has migrated the database \(takes what/);
  await (await Gateway.start({ database })).stop();

  await record(NEXT_NUMBER + 2, 'takes', '999.0.0');
  await assert.rejects(Gateway.start({ database }), refusal(/newer release \(takes\)/));
});

test('R-527: a process that is not to migrate says what to run, and starts when that was done', async (t) => {
  const database = await createdDatabase(t);
  const db = open(t, database);
  const settings = { TOLLGATE_MIGRATE: 'off' };
  await (await Gateway.start({ database, settings })).stop();
  await db.run('delete from migrations where number = (select max(number) from migrations)');
  await assert.rejects(
    Gateway.start({ database, settings }),
    refusal(new RegExp(`lacks 1 of the ${OF_RELEASE.length} migrations.*Run "tollgate migrate"`)),
  );
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
  // To a release without it, it is what a newer one has added.
  await migrateWith(t, db, files);
  assert.deepEqual(await tables(db), ['migrations', 'one', 'three', 'two']);
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
  await migrate(db, () => undefined, { folder: newer });

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

/** The client gives a statement up a second after the server should have. */
const IMPATIENT = { statementMs: 100 };
const SLOW_SECONDS = 1.3;

function open(t: TestContext, database: TestDatabase, limits?: typeof IMPATIENT): Db {
  const db = openDb(database.address, silentLog, limits);
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

/** Names of listed migrations whose text is not, or no longer, the one that was released. */
function changedSinceRelease(folder: string): string[] {
  const path = join(folder, RELEASED_LIST);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  return lines
    .map((line) => line.split('  '))
    .filter(([digest, name = '']) => {
      const file = join(folder, name);
      return !existsSync(file) || digestOf(readFileSync(file)) !== digest;
    })
    .map(([, name = '']) => name);
}

function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function migrateWith(t: TestContext, db: Db, files: Record<string, string>): Promise<void> {
  return migrate(db, () => undefined, { folder: releaseOf(t, files) });
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
