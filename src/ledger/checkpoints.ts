import type { Db, Queries, Tx } from '../db/index.ts';
import { DB_LONG_STATEMENT_MS } from '../limits.ts';
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
    await tx.limitStatements(DB_LONG_STATEMENT_MS);
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

/** What the last check found; undefined before the first. */
export async function lastVerdict(queries: Queries): Promise<Verdict | undefined> {
  const [row] = await queries.rows<Verdict>(
    'select checked_at as "checkedAt", balanced from ledger_checks where checked_at is not null',
  );
  return row;
}

export interface Verdict {
  readonly checkedAt: Date;
  readonly balanced: boolean;
}

export async function isCheckDue(queries: Queries, before: Date): Promise<boolean> {
  const due = await queries.rows('select from ledger_checks where checked_at is null or checked_at <= $1', [before]);
  return due.length > 0;
}

interface CheckLease {
  readonly owner: string;
  readonly now: Date;
  readonly until: Date;
  /** The verdict is older than this. */
  readonly before: Date;
}

/** Takes the lease of a check that is due, or extends it; false where none is due or another process has it. */
export async function leaseCheck(queries: Queries, { owner, now, until, before }: CheckLease): Promise<boolean> {
  const leased = await queries.run(
    `update ledger_checks set owner = $1, lease_until = $3
     where (owner is null or owner = $1 or lease_until <= $2) and (checked_at is null or checked_at <= $4)`,
    [owner, now, until, before],
  );
  return leased === 1;
}

export async function releaseCheck(queries: Queries, owner: string): Promise<void> {
  await queries.run('update ledger_checks set owner = null, lease_until = null where owner = $1', [owner]);
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
    await tx.limitStatements(DB_LONG_STATEMENT_MS);
    await tx.run('update ledger_checks set generation = generation + 1');
    await tx.run('delete from ledger_checkpoints');
  });
}
