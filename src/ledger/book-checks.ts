import type { Tx } from '../db/index.ts';
import { BOOK_DIFFERENCES_MAX, BOOK_ROWS_PER_READ } from '../limits.ts';
import type { Range } from './book-pages.ts';
import {
  ENTRY_CHECKS,
  FIGURES,
  RESERVATION_CHECKS,
  SUMS,
  TABLES,
  type Table,
  USAGE_CHECK,
  WORK_CHECKS,
} from './book-statements.ts';

export type { Table };

export interface Difference {
  /** Table and column. */
  readonly figure: string;
  readonly id: string;
  readonly recorded: string;
  readonly computed: string;
  /** Of the row, where it has one. */
  readonly account?: string | null;
  /** The numbers of the account's entries that it follows from, where they are few. */
  readonly entries?: string | null;
}

/** A row that is right, and the figures of it that its checkpoint stores. */
export interface Checked {
  readonly id: string;
  readonly checkpoint: readonly string[];
}

type Sums = Record<Table, Map<string, bigint[]>>;
type Differences = AsyncGenerator<Difference, void>;

/**
 * Every difference, one after the other, so that a caller may stop at the first. `onChanged` is called with every row that
 * is right and differs from its checkpoint.
 */
export async function* findDifferences(
  tx: Tx,
  pages: AsyncIterable<readonly Range[]>,
  isFull: boolean,
  onChanged: (table: Table, row: Checked) => void,
): Differences {
  const sums: Sums = { balances: new Map(), grants: new Map(), key_spending: new Map() };
  for await (const page of pages) yield* readPage(tx, page, isFull, sums);
  if (isFull) yield* checkReservations(tx);
  else yield* await tx.rows<Difference>(RESERVATION_CHECKS.open);
  yield* await findStray(tx);
  for (const table of TABLES) yield* compareTable(tx, table, sums[table], isFull, (row) => onChanged(table, row));
  yield* await checkPurses(tx);
  if (isFull) {
    for (const table of WORK_TABLES) yield* checkWork(tx, table);
    yield* inPages<Difference>(tx, USAGE_CHECK);
  }
}

/** Adds up a page, and names each entry that does not follow from the one before it. */
async function* readPage(tx: Tx, page: readonly Range[], isFull: boolean, sums: Sums): Differences {
  const values = [page.map((range) => range.accountId), page.map(({ after }) => after), page.map(({ upto }) => upto)];
  yield* await tx.rows<Difference>(ENTRY_CHECKS, values);
  for (const table of TABLES) {
    for (const row of await tx.rows<Sum>(SUMS[table], values)) add(sums[table], row);
  }
  // A full check reads every reservation anyway.
  if (!isFull) yield* await tx.rows<Difference>(RESERVATION_CHECKS.ofEntries, values);
}

interface Sum {
  readonly id: string;
  readonly figures: readonly string[];
}

function add(sums: Map<string, bigint[]>, row: Sum): void {
  const before = sums.get(row.id);
  sums.set(
    row.id,
    row.figures.map((figure, place) => BigInt(figure) + (before?.[place] ?? 0n)),
  );
}

interface Row {
  readonly id: string;
  readonly account: string | null;
  readonly recorded: readonly string[];
  /** What the checkpoint says, or nothing of everything. */
  readonly known: readonly string[];
  readonly checkpoint: readonly string[];
}

/** Recorded must be what the checkpoint knows plus what the entries since then say. */
async function* compareTable(
  tx: Tx,
  table: Table,
  sums: Map<string, bigint[]>,
  isFull: boolean,
  onChanged: (row: Checked) => void,
): Differences {
  for await (const row of inPages<Row>(tx, FIGURES[table].changed, [isFull])) {
    const differences = compareRow(table, row, sums.get(row.id));
    sums.delete(row.id);
    if (differences.length === 0) onChanged(row);
    else yield* differences;
  }
  yield* compareUnchanged(tx, table, sums, isFull);
  if (!isFull) yield* await findVanished(tx, table);
}

/** What is as its checkpoint says although entries have moved it, or is not there at all. */
async function* compareUnchanged(
  tx: Tx,
  table: Table,
  sums: ReadonlyMap<string, readonly bigint[]>,
  isFull: boolean,
): Differences {
  const moved = [...sums].filter(([, figures]) => figures.some((figure) => figure !== 0n)).map(([id]) => id);
  for (let at = 0; at < moved.length; at += BOOK_ROWS_PER_READ) {
    const ids = moved.slice(at, at + BOOK_ROWS_PER_READ);
    const rows = new Map((await tx.rows<Row>(FIGURES[table].named, [ids, isFull])).map((row) => [row.id, row]));
    for (const id of ids) {
      const row = rows.get(id);
      const sum = sums.get(id) ?? [];
      if (row === undefined) yield { figure: table, id, recorded: 'none', computed: sum.join(', ') };
      else yield* compareRow(table, row, sum);
    }
  }
}

function compareRow(table: Table, row: Row, sum: readonly bigint[] | undefined): readonly Difference[] {
  return FIGURES[table].columns.flatMap((column, place) => {
    const recorded = row.recorded[place] ?? '';
    const computed = String(BigInt(row.known[place] ?? 0) + (sum?.[place] ?? 0n));
    const { id, account } = row;
    return recorded === computed ? [] : [{ figure: figureOf(table, column), id, account, recorded, computed }];
  });
}

function figureOf(table: Table, column: string): string {
  return column === 'open_reservations' ? column : `${table}.${column}`;
}

function findVanished(tx: Tx, table: Table): Promise<readonly Difference[]> {
  return tx.rows<Difference>(
    `select $1 as figure, c.id, 'none' as recorded, array_to_string(c.figures, ', ') as computed
     from ledger_checkpoints c
     where kind = $1 and not exists (select from ${table} t where t.${FIGURES[table].id} = c.id)
     limit ${BOOK_DIFFERENCES_MAX}`,
    [table],
  );
}

async function* checkReservations(tx: Tx): Differences {
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const [page] = await tx.rows<{ last: string | null }>(
      `select max(id::text) as last from (select id from reservations where id > $1 order by id limit ${BOOK_ROWS_PER_READ}) as page`,
      [after],
    );
    const last = page?.last ?? undefined;
    if (last === undefined) return;
    yield* await tx.rows<Difference>(RESERVATION_CHECKS.ofIds, [after, last]);
    after = last;
  }
}

function findStray(tx: Tx): Promise<readonly Difference[]> {
  return tx.rows<Difference>(
    `select 'open_reservations' as figure, reservation_id::text as id, 'open' as recorded, 'none' as computed
     from open_reservations where (select id from reservations where id = reservation_id) is null
     limit ${BOOK_DIFFERENCES_MAX}`,
  );
}

/** Purses and the journal's holds may promise no more than there is. */
function checkPurses(tx: Tx): Promise<readonly Difference[]> {
  return tx.rows<Difference>(
    `select 'purses.amount' as figure, account_id as id, account_id as account, sum(amount)::text as recorded,
       'at most ' || available as computed
     from purses join balances using (account_id)
     group by account_id, available having sum(amount) > available or min(amount) < 0
     limit ${BOOK_DIFFERENCES_MAX}`,
  );
}

const WORK_TABLES = ['jobs', 'transcriptions'] as const;

function checkWork(tx: Tx, table: keyof typeof WORK_CHECKS): Differences {
  return inPages<Difference>(tx, WORK_CHECKS[table]);
}

/**
 * What a statement finds in the rows above the id `$1`, `$2` of them at a time. Each page has its last id on every row that
 * it answers, and no more than that where nothing was found.
 */
async function* inPages<Found extends { readonly id: string }>(
  tx: Tx,
  statement: string,
  values: readonly unknown[] = [],
): AsyncGenerator<Found, void> {
  for (let after: string | null = ''; after !== null; ) {
    const page: readonly (Found & { readonly last: string | null })[] = await tx.rows(statement, [
      after,
      BOOK_ROWS_PER_READ,
      ...values,
    ]);
    for (const { last: _, ...found } of page) if (found.id !== null) yield found as unknown as Found;
    after = page[0]?.last ?? null;
  }
}
