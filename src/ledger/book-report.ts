import type { Db } from '../db/index.ts';
import { BOOK_DIFFERENCES_MAX } from '../limits.ts';
import { type Difference, findDifferences, readTotals, selectRanges } from './book-checks.ts';
import { pagesOf, READ_ONLY_SNAPSHOT } from './book-pages.ts';

export interface BooksReport {
  readonly counts: Readonly<Record<string, number>>;
  /** Sums over all accounts, in micro-credits. */
  readonly credits: Readonly<Record<string, bigint>>;
  /** At most BOOK_DIFFERENCES_MAX of them. */
  readonly differences: readonly Difference[];
}

/**
 * Recomputes the full books in one read-only transaction, without a checkpoint, and names every figure that differs. Writes
 * nothing, so it runs on a copy, a standby or beside traffic; journal rows that have no entries yet are counted only.
 */
export function reportBooks(db: Db): Promise<BooksReport> {
  return db.transaction(async (tx) => {
    await tx.run(READ_ONLY_SNAPSHOT);
    const { counts, credits } = await readTotals(tx);
    const differences: Difference[] = [];
    for await (const difference of findDifferences(tx, pagesOf(await selectRanges(tx, true)), true, () => undefined)) {
      differences.push(difference);
      if (differences.length === BOOK_DIFFERENCES_MAX) break;
    }
    return { counts, credits, differences };
  });
}
