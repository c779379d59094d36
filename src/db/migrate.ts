import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pass } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DB_LONG_STATEMENT_MS } from '../limits.ts';
import { VERSION } from '../version.ts';
import type { Db, Queries, Tx } from './db.ts';
import { DatabaseUnavailable } from './errors.ts';
import { type Effect, effectsOf, neededRelease } from './migration-effects.ts';

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
  /** The oldest release that works on a database that has it; null: any that worked before. A backup does not tell. */
  readonly needs?: string | null;
}

export interface Migration extends AppliedMigration {
  readonly text: string;
}

/**
 * How the migrations of a database stand to the `count` of this release; `name` is one that this release lacks. On one that
 * is `ahead` a newer release has added what this one does not use: it works on. One that is `newer` it cannot use.
 */
export type MigrationState =
  | { readonly state: 'applied' | 'pending'; readonly pending: number; readonly count: number }
  | { readonly state: 'other history' | 'newer' | 'ahead'; readonly name: string; readonly count: number };

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

/** A migration that waits for a table's lock holds up every statement behind it: it waits briefly, and tries again. */
const TABLE_LOCK_MS = 2_000;
const TABLE_LOCK_TRIES_MAX = 30;
const TABLE_LOCK_PAUSE_MS = 500;

/**
 * Brings the schema up to this release, one transaction per migration. Safe to call from many processes at once: the
 * first does the work, the others wait for the lock and find nothing left to do. A database of another history, or of a
 * newer release that this one cannot work beside, is refused before anything in it is changed.
 */
export async function migrate(
  db: Db,
  progress: (message: string) => void,
  { folder = FOLDER, only, dataFolder }: MigrateOptions = {},
): Promise<void> {
  const release = await readMigrations(folder);
  await db.transaction(async (tx) => {
    await lock(tx);
    const found = compare(await refuseUnfit(tx, release, dataFolder), release);
    if (found.state === 'ahead')
      progress(`A newer release has migrated the database (${found.name}); this one fits it.`);
    await tx.run(`create table if not exists migrations (
      number integer primary key, name text not null, digest text not null, applied_at timestamptz not null default now(),
      needs text)`);
  });
  for (const migration of release) {
    if (only?.includes(migration.number) === false) continue;
    const isNew = await whileLocked(() =>
      db.transaction(async (tx) => {
        await lock(tx);
        const applied = await refuseUnfit(tx, release, dataFolder);
        return !applied.some(({ number }) => number === migration.number) && applyOne(tx, migration);
      }),
    );
    if (isNew) progress(`Migrated the database: ${migration.name}`);
  }
}

/** For a process that is not to migrate. Throws MigrationError where a migration of this release is missing, too. */
export async function requireMigrated(db: Db, dataFolder: string | undefined): Promise<void> {
  const release = await readMigrations();
  const found = await db.transaction(async (tx) => compare(await refuseUnfit(tx, release, dataFolder), release));
  if (found.state !== 'pending') return;
  throw new MigrationError(
    `The database lacks ${found.pending} of the ${found.count} migrations of this release, and TOLLGATE_MIGRATE=off.`,
    'Run "tollgate migrate" with the same settings; "tollgate migrate --plan" shows what it would do.',
  );
}

export interface PlannedMigration {
  readonly name: string;
  readonly needs: string | null;
  readonly effects: readonly Effect[];
}

/** What `migrate` would apply, in order, and what that does to processes that run. Only reads. */
export async function planMigrations(db: Db, folder: string = FOLDER): Promise<readonly PlannedMigration[]> {
  const applied = new Set((await appliedMigrations(db)).map(({ number }) => number));
  const newTables = new Set<string>();
  return (await readMigrations(folder))
    .filter(({ number }) => !applied.has(number))
    .map(({ name, text }) => ({ name, needs: neededRelease(text), effects: effectsOf(text, newTables) }));
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
  // As JSON: a table of another history may lack the last column.
  return queries.rows(
    `select number, name, digest, to_jsonb(migrations) ->> 'needs' as needs from migrations order by number`,
  );
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
      const digest = createHash('sha256').update(text).digest('hex');
      return { number, name: file.slice(0, -4), text, digest, needs: neededRelease(text) };
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
  const unknown = applied.filter(({ number }) => !ofRelease.has(number));
  const pending = count - (applied.length - unknown.length);
  const newest = unknown.findLast(({ needs }) => pending > 0 || !isEnough(needs)) ?? unknown.at(-1);
  if (newest !== undefined) {
    const fits = pending === 0 && unknown.every(({ needs }) => isEnough(needs));
    return { state: fits ? 'ahead' : 'newer', name: newest.name, count };
  }
  return { state: pending === 0 ? 'applied' : 'pending', pending, count };
}

/** Whether this release works on a database with a migration that needs so much. */
function isEnough(needs: string | null | undefined): boolean {
  if (needs === undefined) return false;
  const [own, other] = [VERSION, needs ?? '0.0.0'].map((version) =>
    version.split('.').map((part) => Number.parseInt(part, 10)),
  );
  const place = (own ?? []).findIndex((part, at) => part !== other?.[at]);
  return place === -1 || (own?.[place] ?? 0) > (other?.[place] ?? 0);
}

/** Repeats a migration whose table was in use: what it had done was rolled back. */
async function whileLocked<Result>(apply: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await apply();
    } catch (error) {
      const cause = error instanceof DatabaseUnavailable ? error.cause : error;
      const isLocked = cause instanceof Error && 'code' in cause && cause.code === '55P03';
      if (!isLocked || tries === TABLE_LOCK_TRIES_MAX) throw error;
      await pass(TABLE_LOCK_PAUSE_MS);
    }
  }
}

/** Held to the end of the transaction. It is waited for as long as a statement of another's migration may take. */
async function lock(tx: Tx): Promise<void> {
  await tx.run('set local lock_timeout = 0');
  await tx.limitStatements(DB_LONG_STATEMENT_MS);
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
  await tx.run(`set local lock_timeout = '${TABLE_LOCK_MS}ms'`);
  await tx.script(migration.text);
  await tx.run('insert into migrations (number, name, digest, needs) values ($1, $2, $3, $4)', [
    migration.number,
    migration.name,
    migration.digest,
    migration.needs,
  ]);
  return true;
}
