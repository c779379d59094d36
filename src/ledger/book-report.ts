import type { Db, Tx } from '../db/index.ts';
import { BOOK_DIFFERENCES_MAX } from '../limits.ts';
import { type Difference, findDifferences } from './book-checks.ts';
import { beginCheck, entryPages } from './book-pages.ts';

export interface BooksReport extends Totals {
  /** At most BOOK_DIFFERENCES_MAX of them. */
  readonly differences: readonly Difference[];
}

/**
 * Recomputes the full books in one read-only transaction, without a checkpoint, and names every figure that differs. Writes
 * nothing, so it runs on a copy, a standby or beside traffic; journal rows that have no entries yet are counted only.
 */
export function reportBooks(db: Db): Promise<BooksReport> {
  return db.transaction(async (tx) => {
    await beginCheck(tx);
    const { counts, credits } = await readTotals(tx);
    const differences: Difference[] = [];
    for await (const difference of findDifferences(tx, entryPages(tx, true), true, () => undefined)) {
      differences.push(difference);
      if (differences.length === BOOK_DIFFERENCES_MAX) break;
    }
    return { counts, credits, differences };
  });
}

interface Totals {
  readonly counts: Readonly<Record<string, number>>;
  /** Sums over all accounts, in micro-credits. */
  readonly credits: Readonly<Record<string, bigint>>;
}

/** Sums over all accounts as recorded, and how many rows there are. */
async function readTotals(tx: Tx): Promise<Totals> {
  const [credits = {}] = await tx.rows<Totals['credits']>(
    `select coalesce(sum(granted), 0)::bigint as granted, coalesce(sum(available), 0)::bigint as available,
       coalesce(sum(reserved), 0)::bigint as reserved, coalesce(sum(charged), 0)::bigint as charged,
       coalesce(sum(lapsed), 0)::bigint as lapsed, coalesce(sum(debt), 0)::bigint as debt
     from balances`,
  );
  const counts: Record<string, number> = {};
  for (const table of COUNTED) {
    const [row] = await tx.rows<{ count: number }>(`select count(*)::float8 as count from ${table}`);
    counts[table.replace('ledger_', '')] = row?.count ?? 0;
  }
  const [journal] = await tx.rows<{ changes: number }>(
    'select coalesce(sum(json_array_length(changes)), 0)::float8 as changes from ledger_journal',
  );
  return { counts: { ...counts, unposted_changes: journal?.changes ?? 0 }, credits };
}

const COUNTED = [
  'accounts',
  'ledger_entries',
  'grants',
  'reservations',
  'open_reservations',
  'jobs',
  'transcriptions',
] as const;
