import type { Tx } from '../db/index.ts';
import { BOOK_DIFFERENCES_MAX } from '../limits.ts';
import { ENTRY_CHECKS, FIGURES, RESERVATION_CHECKS, SUMS, TABLES, type Table, WORK_CHECKS } from './book-statements.ts';

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

/** Entries of one account with numbers above `after`, up to `upto`. */
export interface Range {
  readonly accountId: string;
  readonly after: bigint;
  readonly upto: bigint;
}

/** A row that is right, and the figures of it that its checkpoint stores. */
export interface Checked {
  readonly id: string;
  readonly checkpoint: readonly string[];
}

export async function readCounts(tx: Tx): Promise<{ accounts: number; entries: number }> {
  const [row] = await tx.rows<{ accounts: number; entries: number }>(
    'select count(*)::float8 as accounts, coalesce(sum(entries), 0)::float8 as entries from balances',
  );
  return { accounts: row?.accounts ?? 0, entries: row?.entries ?? 0 };
}

interface Totals {
  readonly counts: Readonly<Record<string, number>>;
  readonly credits: Readonly<Record<string, bigint>>;
}

/** Sums over all accounts as recorded, and how many rows there are. */
export async function readTotals(tx: Tx): Promise<Totals> {
  const [credits = {}] = await tx.rows<Totals['credits']>(
    `select coalesce(sum(granted), 0)::bigint as granted, coalesce(sum(available), 0)::bigint as available,
       coalesce(sum(reserved), 0)::bigint as reserved, coalesce(sum(charged), 0)::bigint as charged,
       coalesce(sum(lapsed), 0)::bigint as lapsed, coalesce(sum(debt), 0)::bigint as debt
     from balances`,
  );
  const [counts = {}] = await tx.rows<Totals['counts']>(
    `select (select count(*) from accounts)::float8 as accounts, (select count(*) from ledger_entries)::float8 as entries,
       (select count(*) from grants)::float8 as grants, (select count(*) from reservations)::float8 as reservations,
       (select count(*) from open_reservations)::float8 as open_reservations,
       (select count(*) from jobs)::float8 as jobs, (select count(*) from transcriptions)::float8 as transcriptions,
       (select coalesce(sum(json_array_length(changes)), 0) from ledger_journal)::float8 as unposted_changes`,
  );
  return { counts, credits };
}

/** What no check has read yet: of each account by one look at the end of its entries, whatever its balance says. */
export function selectRanges(tx: Tx, isFull: boolean): Promise<readonly Range[]> {
  if (isFull) {
    return tx.rows<Range>(
      `select account_id as "accountId", 0::bigint as after, max(number) as upto
       from ledger_entries group by account_id order by account_id`,
    );
  }
  return tx.rows<Range>(
    `select b.account_id as "accountId", coalesce(c.figures[7], 0) as after, last.upto
     from balances b
     left join ledger_checkpoints c on c.kind = 'balances' and c.id = b.account_id
     cross join lateral (
       select max(number) as upto from ledger_entries e
       where e.account_id = b.account_id and e.number > coalesce(c.figures[7], 0)
     ) as last
     where last.upto is not null order by b.account_id`,
  );
}

type Sums = Record<Table, Map<string, bigint[]>>;
type Differences = AsyncGenerator<Difference, void>;

/**
 * Every difference, one after the other, so that a caller may stop at the first. `onChanged` is called with every row that
 * is right and differs from its checkpoint.
 */
export async function* findDifferences(
  tx: Tx,
  pages: readonly (readonly Range[])[],
  isFull: boolean,
  onChanged: (table: Table, row: Checked) => void,
): Differences {
  const sums: Sums = { balances: new Map(), grants: new Map(), key_spending: new Map() };
  for (const page of pages) yield* readPage(tx, page, isFull, sums);
  if (isFull) yield* checkReservations(tx);
  else yield* await tx.rows<Difference>(RESERVATION_CHECKS.open);
  yield* await findStray(tx);
  for (const table of TABLES) yield* compareTable(tx, table, sums[table], isFull, (row) => onChanged(table, row));
  yield* await checkPurses(tx);
  if (isFull) for (const table of WORK_TABLES) yield* checkWork(tx, table);
}

/** Adds up a page, and names each entry that does not follow from the one before it. */
async function* readPage(tx: Tx, page: readonly Range[], isFull: boolean, sums: Sums): Differences {
  if (page.length === 0) return;
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

const PAGE_ROWS = 10_000;

/** Recorded must be what the checkpoint knows plus what the entries since then say. */
async function* compareTable(
  tx: Tx,
  table: Table,
  sums: Map<string, bigint[]>,
  isFull: boolean,
  onChanged: (row: Checked) => void,
): Differences {
  for (let after = ''; ; ) {
    const page = await tx.rows<Row>(`${FIGURES[table].changed} limit ${PAGE_ROWS}`, [after, isFull]);
    for (const row of page) {
      const differences = compareRow(table, row, sums.get(row.id));
      sums.delete(row.id);
      if (differences.length === 0) onChanged(row);
      else yield* differences;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) break;
    after = last.id;
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
  for (let at = 0; at < moved.length; at += PAGE_ROWS) {
    const ids = moved.slice(at, at + PAGE_ROWS);
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
      `select max(id::text) as last from (select id from reservations where id > $1 order by id limit ${PAGE_ROWS}) as page`,
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
     from open_reservations where not exists (select from reservations where id = reservation_id)
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

/** Each page has its last id on every row, and no more than that where nothing differs. */
async function* checkWork(tx: Tx, table: keyof typeof WORK_CHECKS): Differences {
  for (let after: string | null = ''; after !== null; ) {
    const page: readonly (Difference & { readonly last: string | null })[] = await tx.rows(WORK_CHECKS[table], [
      after,
      PAGE_ROWS,
    ]);
    for (const { last: _, ...difference } of page) if (difference.id !== null) yield difference;
    after = page[0]?.last ?? null;
  }
}
