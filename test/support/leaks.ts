import { pino } from 'pino';
import { openDb } from '../../src/db/index.ts';
import type { Logger } from '../../src/log.ts';
import { silentLog, type TestDatabase } from './database.ts';

export interface CapturedLog {
  readonly log: Logger;
  /** Every line so far, of every level. */
  text(): string;
}

export function captureLog(): CapturedLog {
  const lines: string[] = [];
  return { log: pino({ level: 'trace' }, { write: (line) => void lines.push(line) }), text: () => lines.join('') };
}

/** Tables to which processes write by themselves now and then, whatever is asked of them. */
export const OF_DUTIES: readonly string[] = ['processes', 'reservation_owners', 'usage_hours', 'usage_progress'];

/** Every row of every table, but for those left out, as text, bytes in hexadecimal. */
export async function dumpOf(database: TestDatabase, leftOut: readonly string[] = []): Promise<string> {
  const db = openDb(database.address, silentLog);
  try {
    const tables = await db.rows<{ name: string }>(
      `select quote_ident(tablename) as name from pg_tables where schemaname = 'public' and tablename <> all ($1)`,
      [leftOut],
    );
    const rows: string[] = [];
    for (const { name } of tables) {
      for (const { row } of await db.rows<{ row: string }>(`select t::text as row from ${name} as t`)) rows.push(row);
    }
    return rows.join('\n');
  } finally {
    await db.close();
  }
}
