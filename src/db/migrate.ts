import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Db, Tx } from './db.ts';

/** The database and this release do not fit together. The message says what to do. */
export class MigrationError extends Error {}

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly text: string;
  readonly digest: string;
}

const FOLDER = fileURLToPath(new URL('../../migrations', import.meta.url));

// Any constant will do; all processes of all releases must use the same one.
const ADVISORY_LOCK = 7_055_001;

/**
 * Texts of 0008 and 0009 that were published and then put right. The tables and functions that they leave are those that
 * the present texts leave, once 0010 has run.
 */
const EARLIER_DIGESTS: ReadonlySet<string> = new Set([
  'e5520fe5b3509fe4c299be28115dcdb19c570df7f1c2729689995112414c6049',
  '1c6e9b88dc6dd81729425e78fb3c4c9097c786ec19f3d09c46267b2b89e096f9',
  'a540661b79aeec023e0b6367696543901b9a009ba9ac228e819383b26c9a6e8a',
]);

/**
 * Brings the schema up to this release, one transaction per migration. Safe to call from many processes at once: the
 * first does the work, the others wait for the lock and find nothing left to do. `only` makes a database as an earlier
 * release left it.
 */
export async function migrate(
  db: Db,
  progress: (message: string) => void,
  folder: string = FOLDER,
  only?: readonly number[],
): Promise<void> {
  const migrations = (await readMigrations(folder)).filter(({ number }) => only?.includes(number) ?? true);
  await db.transaction(async (tx) => {
    await lock(tx);
    await tx.run(`create table if not exists migrations (
      number integer primary key, name text not null, digest text not null, applied_at timestamptz not null default now())`);
  });
  for (const migration of migrations) {
    const applied = await db.transaction((tx) => applyOne(tx, migration));
    if (applied) progress(`Migrated the database: ${migration.name}`);
  }
  await refuseNewer(db, migrations);
}

/** The numbers of this release's migrations, in order. */
export async function migrationNumbers(): Promise<readonly number[]> {
  return (await readMigrations(FOLDER)).map(({ number }) => number);
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}_.*\.sql$/.test(file)).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const number = Number(file.slice(0, 4));
      // Numbers may be left out: changes that are made side by side each have theirs before they meet.
      if (files[index - 1]?.startsWith(file.slice(0, 4)))
        throw new MigrationError(`Migration ${file} has a number that another has, too.`);
      const text = await readFile(`${folder}/${file}`, 'utf8');
      return { number, name: file.slice(0, -4), text, digest: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

/** Held to the end of the transaction. */
async function lock(tx: Tx): Promise<void> {
  await tx.run(`set local lock_timeout = '60s'`);
  await tx.run(`set local statement_timeout = '600s'`);
  await tx.rows('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
}

async function applyOne(tx: Tx, migration: Migration): Promise<boolean> {
  await lock(tx);
  const [row] = await tx.rows<{ digest: string }>('select digest from migrations where number = $1', [
    migration.number,
  ]);
  if (row !== undefined) {
    if (row.digest === migration.digest || EARLIER_DIGESTS.has(row.digest)) return false;
    throw new MigrationError(
      `The database holds another version of migration ${migration.name}. ` +
        'Migrations are never edited: start the release that made this database, or use another database.',
    );
  }
  await tx.script(migration.text);
  await tx.run('insert into migrations (number, name, digest) values ($1, $2, $3)', [
    migration.number,
    migration.name,
    migration.digest,
  ]);
  return true;
}

async function refuseNewer(db: Db, migrations: readonly Migration[]): Promise<void> {
  const [newest] = await db.rows<{ number: number; name: string }>(
    'select number, name from migrations where number <> all ($1::int[]) order by number desc limit 1',
    [migrations.map(({ number }) => number)],
  );
  if (newest === undefined) return;
  throw new MigrationError(
    `The database was migrated by a newer release (${newest.name}); this one knows ${migrations.length} migrations. ` +
      'Start the newer release.',
  );
}
