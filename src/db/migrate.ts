import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Db, Queries, Tx } from './db.ts';

/** The database and this release do not fit together. The message says what is wrong and what to do. */
export class MigrationError extends Error {
  readonly problem: string;
  readonly advice: string;

  constructor(problem: string, advice: string) {
    super(`${problem} ${advice}`);
    this.problem = problem;
    this.advice = advice;
  }
}

/** A migration as the database or a backup records it. */
export interface AppliedMigration {
  readonly number: number;
  readonly name: string;
  readonly digest: string;
}

export interface Migration extends AppliedMigration {
  readonly text: string;
}

/** How the migrations of a database stand to the `count` of this release; `name` is one that this release lacks. */
export type MigrationState =
  | { readonly state: 'applied' | 'pending'; readonly pending: number; readonly count: number }
  | { readonly state: 'other history' | 'newer'; readonly name: string; readonly count: number };

export interface MigrateOptions {
  readonly folder?: string;
  /** Applies these alone: makes a database as an earlier release left it. */
  readonly only?: readonly number[];
  /** Of an embedded server, for a refusal to name. */
  readonly dataFolder?: string | undefined;
}

const FOLDER = fileURLToPath(new URL('../../migrations', import.meta.url));

// Any constant will do; all processes of all releases must use the same one.
const ADVISORY_LOCK = 7_055_001;

/**
 * Brings the schema up to this release, one transaction per migration. Safe to call from many processes at once: the
 * first does the work, the others wait for the lock and find nothing left to do. A database of a newer release or of
 * another history is refused before anything in it is changed.
 */
export async function migrate(
  db: Db,
  progress: (message: string) => void,
  { folder = FOLDER, only, dataFolder }: MigrateOptions = {},
): Promise<void> {
  const release = await readMigrations(folder);
  await db.transaction(async (tx) => {
    await lock(tx);
    await refuseUnfit(tx, release, dataFolder);
    await tx.run(`create table if not exists migrations (
      number integer primary key, name text not null, digest text not null, applied_at timestamptz not null default now())`);
  });
  for (const migration of release) {
    if (only?.includes(migration.number) === false) continue;
    const isNew = await db.transaction(async (tx) => {
      await lock(tx);
      const applied = await refuseUnfit(tx, release, dataFolder);
      return !applied.some(({ number }) => number === migration.number) && applyOne(tx, migration);
    });
    if (isNew) progress(`Migrated the database: ${migration.name}`);
  }
}

/** Of a database, which is only read, or of the list in a backup. */
export async function migrationState(source: Queries | readonly AppliedMigration[]): Promise<MigrationState> {
  const applied = 'rows' in source ? await appliedMigrations(source) : source;
  return compare(applied, await readMigrations());
}

/** Throws MigrationError where the tables are of another history, in which no statement of this release is valid. */
export async function refuseOtherHistory(db: Db, dataFolder: string | undefined): Promise<void> {
  const found = await migrationState(db);
  if (found.state === 'other history') throw await otherHistory(db, found.name, dataFolder);
}

export async function appliedMigrations(queries: Queries): Promise<readonly AppliedMigration[]> {
  const [table] = await queries.rows<{ name: string | null }>(`select to_regclass('migrations')::text as name`);
  if (table?.name == null) return [];
  return queries.rows('select number, name, digest from migrations order by number');
}

export async function readMigrations(folder: string = FOLDER): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}_.*\.sql$/.test(file)).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const number = Number(file.slice(0, 4));
      // Numbers may be left out: changes that are made side by side each have theirs before they meet.
      if (files[index - 1]?.startsWith(file.slice(0, 4)))
        throw new MigrationError(`Migration ${file} has a number that another has, too.`, 'Install the release again.');
      const text = await readFile(`${folder}/${file}`, 'utf8');
      return { number, name: file.slice(0, -4), text, digest: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

function compare(applied: readonly AppliedMigration[], release: readonly Migration[]): MigrationState {
  const count = release.length;
  const ofRelease = new Map(release.map((migration) => [migration.number, migration]));
  // Before unknown numbers, which a database of another history may have as well.
  const other = applied.find(({ number, name, digest }) => {
    const known = ofRelease.get(number);
    return known !== undefined && (known.name !== name || known.digest !== digest);
  });
  if (other !== undefined) return { state: 'other history', name: other.name, count };
  const newest = applied.findLast(({ number }) => !ofRelease.has(number));
  if (newest !== undefined) return { state: 'newer', name: newest.name, count };
  const pending = count - applied.length;
  return { state: pending === 0 ? 'applied' : 'pending', pending, count };
}

/** Held to the end of the transaction. */
async function lock(tx: Tx): Promise<void> {
  await tx.run(`set local lock_timeout = '60s'`);
  await tx.run(`set local statement_timeout = '600s'`);
  await tx.rows('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
}

/** Returns what has been applied. */
async function refuseUnfit(
  tx: Tx,
  release: readonly Migration[],
  dataFolder: string | undefined,
): Promise<readonly AppliedMigration[]> {
  const applied = await appliedMigrations(tx);
  const found = compare(applied, release);
  if (found.state === 'other history') throw await otherHistory(tx, found.name, dataFolder);
  if (found.state === 'newer') {
    throw new MigrationError(
      `The database was migrated by a newer release (${found.name}); this one knows ${found.count} migrations.`,
      'Start the newer release.',
    );
  }
  return applied;
}

async function otherHistory(queries: Queries, name: string, dataFolder: string | undefined): Promise<MigrationError> {
  const [row] = await queries.rows<{ name: string }>('select current_database()::text as name');
  const database = dataFolder === undefined ? `"${row?.name}"` : `in ${dataFolder}`;
  const replace =
    dataFolder === undefined
      ? 'name a new, empty database with DATABASE_URL'
      : `move the folder ${dataFolder} away or name another one with TOLLGATE_DATA`;
  return new MigrationError(
    `The database ${database} was made by an unreleased version of Tollgate: its migration ${name} is not the one of ` +
      'this release. Its data cannot be taken over, and nothing in it was changed.',
    `To use this release, ${replace}; to use the data, start the version that made it.`,
  );
}

async function applyOne(tx: Tx, migration: Migration): Promise<true> {
  await tx.script(migration.text);
  await tx.run('insert into migrations (number, name, digest) values ($1, $2, $3)', [
    migration.number,
    migration.name,
    migration.digest,
  ]);
  return true;
}
