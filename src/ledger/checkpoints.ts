import type { Db, Queries, Tx } from '../db/index.ts';
import type { Checked, Table } from './book-checks.ts';

/** Which checkpoints a check has read. They are of one moment, and are written by one check at a time. */
export async function readGeneration(queries: Queries): Promise<bigint> {
  const [row] = await queries.rows<{ generation: bigint }>('select generation from ledger_checks');
  return row?.generation ?? 0n;
}

/** Does nothing when another check has written its own meanwhile: those are as good, and half of each would be wrong. */
export async function saveCheckpoints(
  db: Db,
  generation: bigint,
  rows: ReadonlyMap<Table, readonly Checked[]>,
  isFull: boolean,
): Promise<void> {
  if (rows.size === 0 && !isFull) return;
  await db.transaction(async (tx) => {
    const touched = await tx.run('update ledger_checks set generation = generation + 1 where generation = $1', [
      generation,
    ]);
    if (touched === 0) return;
    if (isFull) await tx.run('delete from ledger_checkpoints');
    for (const [table, checked] of rows) await insertCheckpoints(tx, table, checked);
  });
}

/** Of two checks at once the later one counts. */
export async function saveVerdict(db: Db, checkedAt: Date, balanced: boolean): Promise<void> {
  await db.run('update ledger_checks set checked_at = $1, balanced = $2 where checked_at is null or checked_at <= $1', [
    checkedAt,
    balanced,
  ]);
}

const ROWS_PER_STATEMENT_MAX = 10_000;

async function insertCheckpoints(tx: Tx, table: Table, rows: readonly Checked[]): Promise<void> {
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT_MAX) {
    const page = rows.slice(at, at + ROWS_PER_STATEMENT_MAX);
    await tx.run(
      `insert into ledger_checkpoints (kind, id, figures)
       select $1, id, figures::bigint[] from unnest($2::text[], $3::text[]) as row (id, figures)
       on conflict (kind, id) do update set figures = excluded.figures`,
      [table, page.map(({ id }) => id), page.map(({ checkpoint }) => `{${checkpoint.join(',')}}`)],
    );
  }
}

/** What was found right before cannot be relied on: the next check begins from nothing. */
export async function dropCheckpoints(db: Db): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run('update ledger_checks set generation = generation + 1');
    await tx.run('delete from ledger_checkpoints');
  });
}
