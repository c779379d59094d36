import type { Tx } from '../db/index.ts';
import { ENTRY_CHECKS, FIGURES, RESERVATION_CHECKS, SUMS, TABLES, type Table } from './book-statements.ts';

export type { Table };

export interface Difference {
  /** Table and column. */
  readonly figure: string;
  readonly id: string;
  readonly recorded: string;
  readonly computed: string;
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

/** The first difference, or none; then `onChanged` was called with every row that differs from its checkpoint. */
export async function findDifference(
  tx: Tx,
  pages: readonly (readonly Range[])[],
  isFull: boolean,
  onChanged: (table: Table, row: Checked) => void,
): Promise<Difference | undefined> {
  const sums: Sums = { balances: new Map(), grants: new Map(), key_spending: new Map() };
  for (const page of pages) {
    const difference = await readPage(tx, page, isFull, sums);
    if (difference !== undefined) return difference;
  }
  const ofReservations = isFull ? await checkReservations(tx) : await checkOpenReservations(tx);
  if (ofReservations !== undefined) return ofReservations;
  for (const table of TABLES) {
    const difference = await compareTable(tx, table, sums[table], isFull, (row) => onChanged(table, row));
    if (difference !== undefined) return difference;
  }
  return checkPurses(tx);
}

/** Adds up a page, and stops at the first entry that does not follow from the one before it. */
async function readPage(tx: Tx, page: readonly Range[], isFull: boolean, sums: Sums): Promise<Difference | undefined> {
  if (page.length === 0) return undefined;
  const values = [page.map((range) => range.accountId), page.map(({ after }) => after), page.map(({ upto }) => upto)];
  const [difference] = await tx.rows<Difference>(ENTRY_CHECKS, values);
  if (difference !== undefined) return difference;
  for (const table of TABLES) {
    for (const row of await tx.rows<Sum>(SUMS[table], values)) add(sums[table], row);
  }
  // A full check reads every reservation anyway.
  const [ofReservation] = isFull ? [] : await tx.rows<Difference>(RESERVATION_CHECKS.ofEntries, values);
  return ofReservation;
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
  readonly recorded: readonly string[];
  /** What the checkpoint says, or nothing of everything. */
  readonly known: readonly string[];
  readonly checkpoint: readonly string[];
}

const PAGE_ROWS = 10_000;

/** Recorded must be what the checkpoint knows plus what the entries since then say. */
async function compareTable(
  tx: Tx,
  table: Table,
  sums: Map<string, bigint[]>,
  isFull: boolean,
  onChanged: (row: Checked) => void,
): Promise<Difference | undefined> {
  for (let after = ''; ; ) {
    const page = await tx.rows<Row>(`${FIGURES[table].changed} limit ${PAGE_ROWS}`, [after, isFull]);
    for (const row of page) {
      const difference = compareRow(table, row, sums.get(row.id));
      if (difference !== undefined) return difference;
      sums.delete(row.id);
      onChanged(row);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) break;
    after = last.id;
  }
  return (await compareUnchanged(tx, table, sums, isFull)) ?? (isFull ? undefined : findVanished(tx, table));
}

/** What is as its checkpoint says although entries have moved it, or is not there at all. */
async function compareUnchanged(
  tx: Tx,
  table: Table,
  sums: ReadonlyMap<string, readonly bigint[]>,
  isFull: boolean,
): Promise<Difference | undefined> {
  const moved = [...sums].filter(([, figures]) => figures.some((figure) => figure !== 0n)).map(([id]) => id);
  for (let at = 0; at < moved.length; at += PAGE_ROWS) {
    const ids = moved.slice(at, at + PAGE_ROWS);
    const rows = new Map((await tx.rows<Row>(FIGURES[table].named, [ids, isFull])).map((row) => [row.id, row]));
    for (const id of ids) {
      const row = rows.get(id);
      const sum = sums.get(id) ?? [];
      if (row === undefined) return { figure: table, id, recorded: 'none', computed: sum.join(', ') };
      const difference = compareRow(table, row, sum);
      if (difference !== undefined) return difference;
    }
  }
  return undefined;
}

function compareRow(table: Table, row: Row, sum: readonly bigint[] | undefined): Difference | undefined {
  for (const [place, column] of FIGURES[table].columns.entries()) {
    const recorded = row.recorded[place] ?? '';
    const computed = String(BigInt(row.known[place] ?? 0) + (sum?.[place] ?? 0n));
    if (recorded !== computed) return { figure: figureOf(table, column), id: row.id, recorded, computed };
  }
  return undefined;
}

function figureOf(table: Table, column: string): string {
  return column === 'open_reservations' ? column : `${table}.${column}`;
}

async function findVanished(tx: Tx, table: Table): Promise<Difference | undefined> {
  const [difference] = await tx.rows<Difference>(
    `select $1 as figure, c.id, 'none' as recorded, array_to_string(c.figures, ', ') as computed
     from ledger_checkpoints c
     where kind = $1 and not exists (select from ${table} t where t.${FIGURES[table].id} = c.id) limit 1`,
    [table],
  );
  return difference;
}

async function checkReservations(tx: Tx): Promise<Difference | undefined> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const [page] = await tx.rows<{ last: string | null }>(
      `select max(id::text) as last from (select id from reservations where id > $1 order by id limit ${PAGE_ROWS}) as page`,
      [after],
    );
    const last = page?.last ?? undefined;
    if (last === undefined) return findStray(tx);
    const [difference] = await tx.rows<Difference>(RESERVATION_CHECKS.ofIds, [after, last]);
    if (difference !== undefined) return difference;
    after = last;
  }
}

async function checkOpenReservations(tx: Tx): Promise<Difference | undefined> {
  const [difference] = await tx.rows<Difference>(RESERVATION_CHECKS.open);
  return difference ?? findStray(tx);
}

async function findStray(tx: Tx): Promise<Difference | undefined> {
  const [difference] = await tx.rows<Difference>(
    `select 'open_reservations' as figure, reservation_id::text as id, 'open' as recorded, 'none' as computed
     from open_reservations where not exists (select from reservations where id = reservation_id) limit 1`,
  );
  return difference;
}

/** Purses and the journal's holds may promise no more than there is. */
async function checkPurses(tx: Tx): Promise<Difference | undefined> {
  const [difference] = await tx.rows<Difference>(
    `select 'purses.amount' as figure, account_id as id, sum(amount)::text as recorded, 'at most ' || available as computed
     from purses join balances using (account_id)
     group by account_id, available having sum(amount) > available or min(amount) < 0 limit 1`,
  );
  return difference;
}
