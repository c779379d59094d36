import type { Tx } from '../db/index.ts';
import type { Head } from './layout.ts';

/** What of a database's shape decides whether rows of one fit into another. The first query fixes the snapshot. */
export async function schemaOf(tx: Tx): Promise<Pick<Head, 'migrations' | 'tables' | 'sequences'>> {
  const migrations = await tx.rows<Head['migrations'][number]>(
    'select number, name, digest from migrations order by number',
  );
  const columns = await tx.rows<{ table: string; columns: string[] }>(
    `select c.relname as "table", array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'migrations'
     group by c.relname order by c.relname`,
  );
  const sequences = await tx.rows<{ name: string; value: bigint | null }>(
    `select sequencename as name, last_value as value from pg_sequences where schemaname = 'public'`,
  );
  return {
    migrations,
    tables: Object.fromEntries(columns.map((row) => [row.table, row.columns])),
    sequences: Object.fromEntries(sequences.map(({ name, value }) => [name, value === null ? null : String(value)])),
  };
}
