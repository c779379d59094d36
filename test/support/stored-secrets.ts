import { Secret } from '../../src/config.ts';
import { type Db, openDb } from '../../src/db/index.ts';
import { deriveKey, unseal } from '../../src/seal.ts';
import { silentLog, type TestDatabase } from './database.ts';

/** What a gateway must be started with for its stored keys to be read here. */
export const ROOT_SECRET = 'root-secret-of-the-stored-keys-0123456789';

/** The upstream keys of the configuration in force, opened with the root secret, as no route ever shows them. */
export async function keysInForce(database: TestDatabase): Promise<Record<string, string>> {
  const key = deriveKey(new Secret(ROOT_SECRET), 'upstream secrets');
  return withDb(database, async (db) => {
    const [row] = await db.rows<{ sealed: Record<string, string> }>(
      'select sealed_secrets as sealed from config_versions order by version desc limit 1',
    );
    return Object.fromEntries(Object.entries(row?.sealed ?? {}).map(([id, sealed]) => [id, unseal(key, id, sealed)]));
  });
}

/** Every row of every table as text. */
export async function dump(database: TestDatabase): Promise<string> {
  return withDb(database, async (db) => {
    const tables = await db.rows<{ name: string }>(
      `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
    );
    const rows: { row: string }[] = [];
    for (const { name } of tables)
      rows.push(...(await db.rows<{ row: string }>(`select t::text as row from ${name} t`)));
    return rows.map(({ row }) => row).join('\n');
  });
}

async function withDb<Result>(database: TestDatabase, work: (db: Db) => Promise<Result>): Promise<Result> {
  const db = openDb(database.address, silentLog);
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
