import { openDb } from '../../src/db/index.ts';
import { silentLog, type TestDatabase } from './database.ts';

/** Takes a database away: every connection is ended and none is let in. Returns what gives it back. */
export async function takeAway({ address }: TestDatabase): Promise<() => Promise<void>> {
  const server = openDb({ ...address, database: 'postgres' }, silentLog);
  await server.run(`alter database ${address.database} allow_connections false`);
  await server.rows('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [address.database]);
  return async () => {
    await server.run(`alter database ${address.database} allow_connections true`);
    await server.close();
  };
}
