import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Db, Tx } from '../db/index.ts';
import { DB_LONG_STATEMENT_MS } from '../limits.ts';
import { FORMAT, type Head, rowsName } from './layout.ts';
import { schemaOf } from './schema.ts';
import type { ArchiveWriter } from './writer.ts';

const compress = promisify(gzip);

const ROWS_PER_FETCH = 200;
const PART_CHARS = 4 * 1024 * 1024;

/** An object of the snapshot. */
export interface StoredKey {
  readonly key: string;
  /** Zero while it is being stored: then nothing refers to it yet. */
  readonly bytes: bigint;
}

/**
 * Writes every table as of one snapshot, beside whatever runs, and returns the objects that the snapshot knows, those
 * first that must go first: what is deleted while objects are copied is then mostly in the archive already.
 */
export async function dumpDatabase(
  db: Db,
  writer: ArchiveWriter,
  about: Pick<Head, 'release' | 'made_at'>,
): Promise<readonly StoredKey[]> {
  return db.transaction(async (tx) => {
    await tx.run('set transaction isolation level repeatable read, read only');
    await tx.limitStatements(DB_LONG_STATEMENT_MS);
    // The archive's disk may be slow; the snapshot is held for as long as rows are written.
    await tx.run('set local idle_in_transaction_session_timeout = 0');
    await tx.run(`set local datestyle = 'ISO'`);
    await tx.run(`set local timezone = 'UTC'`);
    const schema = await schemaOf(tx);
    await writer.addHead({ format: FORMAT, ...about, ...schema });
    for (const table of Object.keys(schema.tables)) await dumpTable(tx, writer, table);
    return tx.rows<StoredKey>(SELECT_OBJECTS);
  });
}

/** A job's results are stored before it ends, and have rows of their own only then; until then its attempt names them. */
const SELECT_OBJECTS = `
  select key, bytes from (
    select key, bytes, delete_at from stored_objects
    union all
    select piece ->> 'key', (piece ->> 'bytes')::bigint, 'infinity'
    from open_jobs join job_attempts using (job_id) cross join lateral json_array_elements(collected) as piece
    where not exists (select from stored_objects where key = piece ->> 'key')
  ) as objects order by delete_at`;

/** A row is its composite value as text, which PostgreSQL reads back exactly, whatever the types. */
async function dumpTable(tx: Tx, writer: ArchiveWriter, table: string): Promise<void> {
  await tx.run(`declare dumped no scroll cursor for select t::text as row from only "${table}" t`);
  let part = 0;
  let rows: string[] = [];
  let chars = 0;
  const flush = async () => {
    if (rows.length === 0) return;
    await writer.addRows(rowsName(table, ++part), await compress(JSON.stringify(rows)), rows.length);
    rows = [];
    chars = 0;
  };
  for (;;) {
    const fetched = await tx.rows<{ row: string }>(`fetch ${ROWS_PER_FETCH} from dumped`);
    for (const { row } of fetched) {
      rows.push(row);
      chars += row.length;
    }
    if (chars >= PART_CHARS) await flush();
    if (fetched.length < ROWS_PER_FETCH) break;
  }
  await flush();
  await tx.run('close dumped');
}
