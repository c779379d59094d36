import { resolve } from 'node:path';
import { pino } from 'pino';
import type { Config } from '../config.ts';
import { openDataFolder } from '../data-folder.ts';
import { type DbAddress, migrations, openDb, type PooledDb } from '../db/index.ts';
import { DB_FIRST_CONNECT_TIMEOUT_MS } from '../limits.ts';
import { loadEmbeddedPostgres } from '../packages.ts';
import { CommandError } from './command.ts';

/** What commands say of the server goes to the terminal alone; the gateway has a log of its own. */
const log = pino({ level: 'silent' });

/**
 * Works on the database of the deployment that the settings describe. Where the gateway runs, on its server and beside
 * it; where it does not, the embedded server is started for as long as the work takes. Never makes a database, and
 * throws MigrationError where it is of another history.
 */
export async function withDatabase<Result>(config: Config, work: (db: PooledDb) => Promise<Result>): Promise<Result> {
  const { address, release } = await openDatabase(config);
  const db = openDb(address, log, { connectMs: DB_FIRST_CONNECT_TIMEOUT_MS });
  try {
    await migrations.refuseOtherHistory(db, config.databaseUrl === undefined ? resolve(config.dataFolder) : undefined);
    return await work(db);
  } finally {
    await db.close();
    await release();
  }
}

async function openDatabase(config: Config): Promise<{ address: DbAddress; release: () => Promise<void> }> {
  if (config.databaseUrl !== undefined) {
    return { address: { url: config.databaseUrl.reveal() }, release: async () => undefined };
  }
  const { findEmbeddedPostgres, startEmbeddedPostgres } = await loadEmbeddedPostgres();
  const folder = resolve(config.dataFolder);
  const embedded = await findEmbeddedPostgres(folder);
  if (embedded.state === 'absent') {
    throw new CommandError(
      `There is no deployment in ${folder}. Start the gateway once, or name its folder with TOLLGATE_DATA or its ` +
        'database with DATABASE_URL.',
    );
  }
  if (embedded.state === 'running') return { address: embedded.connection, release: async () => undefined };
  openDataFolder(folder);
  const server = await startEmbeddedPostgres({ folder, log, progress: (message) => console.error(message) });
  return { address: server.connection, release: () => server.stop() };
}
