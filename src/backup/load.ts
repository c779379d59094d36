import { isDeepStrictEqual, promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { z } from 'zod';
import type { Db, Tx } from '../db/index.ts';
import { DB_LONG_STATEMENT_MS } from '../limits.ts';
import { type Archive, ArchiveError } from './archive.ts';
import { ROWS } from './layout.ts';
import { schemaOf } from './schema.ts';

const expand = promisify(gunzip);
const rowsSchema = z.array(z.string());

/** Fills a database that was migrated as far as the archive's was, in one transaction. */
export async function loadDatabase(db: Db, archive: Archive): Promise<void> {
  await db.transaction(async (tx) => {
    // Neither triggers nor foreign keys: the rows are derived and sound already, and come in any order.
    await tx.run('set local session_replication_role = replica');
    await tx.limitStatements(DB_LONG_STATEMENT_MS);
    await tx.run(`set local timezone = 'UTC'`);
    const { tables } = await schemaOf(tx);
    if (!isDeepStrictEqual(tables, archive.head.tables)) {
      throw new ArchiveError('The tables of the backup are not those that this release makes.');
    }
    await tx.run(
      `truncate ${Object.keys(tables)
        .map((table) => `"${table}"`)
        .join(', ')}`,
    );
    const columns = await writableColumns(tx);
    let rows = 0;
    for await (const entry of archive.entries()) {
      const table = ROWS.exec(entry.name)?.[1];
      if (table === undefined) continue;
      const part = await partOf(archive.body(entry));
      await insertRows(tx, table, columns.get(table) ?? [], part);
      rows += part.length;
    }
    if (rows !== archive.manifest.rows) throw new ArchiveError('The backup does not hold the rows that it counts.');
    for (const [name, value] of Object.entries(archive.head.sequences)) {
      if (value !== null) await tx.rows('select setval(quote_ident($1)::regclass, $2::bigint)', [name, value]);
    }
  });
}

async function partOf(body: AsyncIterable<Buffer>): Promise<readonly string[]> {
  const text = await expand(Buffer.concat(await Array.fromAsync(body)));
  return rowsSchema.parse(JSON.parse(text.toString('utf8')));
}

/** Generated columns generate themselves. */
async function writableColumns(tx: Tx): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await tx.rows<{ table: string; columns: string[] }>(
    `select table_name as "table", array_agg(column_name::text order by ordinal_position) as columns
     from information_schema.columns where table_schema = 'public' and is_generated = 'NEVER' group by table_name`,
  );
  return new Map(rows.map((row) => [row.table, row.columns]));
}

async function insertRows(tx: Tx, table: string, columns: readonly string[], rows: readonly string[]): Promise<void> {
  const list = columns.map((column) => `"${column}"`).join(', ');
  await tx.run(
    `insert into "${table}" (${list}) overriding system value select ${list} from unnest($1::"${table}"[])`,
    [rows],
  );
}
