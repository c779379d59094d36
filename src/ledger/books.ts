import type { Db, Tx } from '../db/index.ts';
import { type Checked, type Difference, findDifferences, readCounts, selectRanges, type Table } from './book-checks.ts';
import { pagesOf, READ_ONLY_SNAPSHOT } from './book-pages.ts';
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

interface Check {
  readonly accounts: number;
  readonly entries: number;
  readonly checked: number;
  readonly generation: bigint;
  readonly found: Difference | undefined;
  /** The figures that differ from the checkpoint they were compared with, and are right. */
  readonly rows: ReadonlyMap<Table, readonly Checked[]>;
}

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
