import { openDb } from '../../src/db/index.ts';
import type { Database } from '../simulate/lanes.ts';
import { createDatabase, silentLog } from './database.ts';

/** A database of the shared server for one lane of the simulator. */
export async function makeDatabase(): Promise<Database> {
  const database = await createDatabase();
  const { address } = database;
  const db = openDb(address, silentLog);
  // As in the simulator's own server: sessions are too short for plans to pay. Holds for new connections.
  await db.run(`alter database ${address.database} set plan_cache_mode = force_generic_plan`);
  await db.run(`alter database ${address.database} set jit = off`);
  await db.close();
  const own = openDb(address, silentLog);
  const drop = async () => {
    await own.close();
    await database.drop();
  };
  return { db: own, drop };
}
