import type { Db, Tx } from '../db/index.ts';
import { BOOK_DIFFERENCES_MAX } from '../limits.ts';
import {
  type Checked,
  type Difference,
  findDifferences,
  type Range,
  readCounts,
  readTotals,
  selectRanges,
  type Table,
} from './book-checks.ts';
import { dropCheckpoints, readGeneration, saveCheckpoints, saveVerdict } from './checkpoints.ts';
import { postAll } from './journal-store.ts';

export interface Books {
  readonly balanced: boolean;
  readonly accounts: number;
  readonly entries: number;
  /** How many entries were read: those since the last check, or all. */
  readonly checked: number;
  /** The first that was found. */
  readonly difference?: Difference;
}

/**
 * Recomputes every derived figure from the entries, and the entries' own order, and names the first that differs. Reads
 * one snapshot, a page at a time, so it may run beside traffic on a ledger of any length.
 *
 * What was proved once is stored as a checkpoint, and only what came after is added up, unless `isFull`: then checkpoints
 * are ignored. A full check that finds a difference drops the checkpoints, so that the next one finds it too.
 *
 * With `checkedAt` the verdict is stored under that time, to be told without another check.
 */
export async function books(db: Db, isFull = false, checkedAt?: Date): Promise<Books> {
  await postAll(db);
  const { found, generation, rows, ...counts } = await db.transaction((tx) => check(tx, isFull));
  if (found === undefined) await saveCheckpoints(db, generation, rows, isFull);
  else if (isFull) await dropCheckpoints(db);
  if (checkedAt !== undefined) await saveVerdict(db, checkedAt, found === undefined);
  return { balanced: found === undefined, ...counts, ...(found && { difference: found }) };
}

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

interface Check {
  readonly accounts: number;
  readonly entries: number;
  readonly checked: number;
  readonly generation: bigint;
  readonly found: Difference | undefined;
  /** The figures that differ from the checkpoint they were compared with, and are right. */
  readonly rows: ReadonlyMap<Table, readonly Checked[]>;
}

const READ_ONLY_SNAPSHOT = 'set transaction isolation level repeatable read, read only';

async function check(tx: Tx, isFull: boolean): Promise<Check> {
  await tx.run(READ_ONLY_SNAPSHOT);
  const generation = await readGeneration(tx);
  const counts = await readCounts(tx);
  const ranges = await selectRanges(tx, isFull);
  const checked = ranges.reduce((sum, { after, upto }) => sum + Number(upto - after), 0);
  const rows = new Map<Table, Checked[]>();
  const differences = findDifferences(tx, pagesOf(ranges), isFull, (table, row) => {
    const known = rows.get(table);
    if (known === undefined) rows.set(table, [row]);
    else known.push(row);
  });
  const { value: found } = await differences.next();
  return { ...counts, checked, generation, found: found ?? undefined, rows };
}

const PAGE_ENTRIES = 50_000n;

/** Cut and put together to pieces that the database can read within its time for a statement. */
function pagesOf(ranges: readonly Range[]): readonly (readonly Range[])[] {
  const pages: Range[][] = [[]];
  let room = PAGE_ENTRIES;
  for (const { accountId, after, upto } of ranges) {
    for (let from = after; from < upto; ) {
      if (room === 0n) {
        pages.push([]);
        room = PAGE_ENTRIES;
      }
      const to = upto - from < room ? upto : from + room;
      pages.at(-1)?.push({ accountId, after: from, upto: to });
      room -= to - from;
      from = to;
    }
  }
  return pages;
}
