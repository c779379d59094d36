import type { Db, Tx } from '../db/index.ts';
import { type Checked, type Difference, findDifferences, type Table } from './book-checks.ts';
import { beginCheck, entryPages, type Range } from './book-pages.ts';
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

export interface BooksOptions {
  /** The verdict is stored under this time, to be told without another check. */
  readonly checkedAt?: Date;
  /** Refuses with BooksTooLong where more would have to be read. */
  readonly entriesMax?: number;
  /** Ends a check that has not read all yet. */
  readonly signal?: AbortSignal;
}

/** So many entries are not checked yet that it would take too long. */
export class BooksTooLong extends Error {
  readonly entries: number;

  constructor(entries: number) {
    super(`${entries} entries would have to be read`);
    this.entries = entries;
  }
}

/**
 * Recomputes every derived figure from the entries, and the entries' own order, and names the first that differs. Reads
 * one snapshot, a page at a time, so it may run beside traffic on a ledger of any length.
 *
 * What was proved once is stored as a checkpoint, and only what came after is added up, unless `isFull`: then checkpoints
 * are ignored. A full check that finds a difference drops the checkpoints, so that the next one finds it too.
 */
export async function books(db: Db, isFull = false, options: BooksOptions = {}): Promise<Books> {
  await postAll(db);
  const { found, generation, rows, ...counts } = await db.transaction((tx) => check(tx, isFull, options));
  if (found === undefined) await saveCheckpoints(db, generation, rows, isFull);
  else if (isFull) await dropCheckpoints(db);
  const { checkedAt } = options;
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

async function check(tx: Tx, isFull: boolean, { entriesMax = Infinity, signal }: BooksOptions): Promise<Check> {
  await beginCheck(tx);
  const generation = await readGeneration(tx);
  const { unread, ...counts } = await readCounts(tx, isFull);
  if (unread > entriesMax) throw new BooksTooLong(unread);
  let checked = 0;
  async function* pages(): AsyncGenerator<readonly Range[], void> {
    for await (const page of entryPages(tx, isFull)) {
      signal?.throwIfAborted();
      checked += page.reduce((sum, { after, upto }) => sum + Number(upto - after), 0);
      yield page;
    }
  }
  const rows = new Map<Table, Checked[]>();
  const differences = findDifferences(tx, pages(), isFull, (table, row) => {
    const known = rows.get(table);
    if (known === undefined) rows.set(table, [row]);
    else known.push(row);
  });
  const { value: found } = await differences.next();
  return { ...counts, checked, generation, found: found ?? undefined, rows };
}

/** As the balances have it, so that it takes no look at the entries. */
async function readCounts(tx: Tx, isFull: boolean): Promise<Record<'accounts' | 'entries' | 'unread', number>> {
  const [row] = await tx.rows<Record<'accounts' | 'entries' | 'unread', number>>(
    `select count(*)::float8 as accounts, coalesce(sum(entries), 0)::float8 as entries,
       coalesce(sum(entries - case when $1 then 0 else coalesce(figures[7], 0) end), 0)::float8 as unread
     from balances left join ledger_checkpoints on kind = 'balances' and id = account_id`,
    [isFull],
  );
  return row ?? { accounts: 0, entries: 0, unread: 0 };
}
