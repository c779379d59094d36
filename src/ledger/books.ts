import type { Db, Tx } from '../db/index.ts';
import { catchUpAll } from './journal-store.ts';

export interface Books {
  readonly balanced: boolean;
  readonly accounts: number;
  readonly entries: number;
  /** The first that was found. */
  readonly difference?: Difference;
}

interface Difference {
  /** Table and column. */
  readonly figure: string;
  readonly id: string;
  readonly recorded: string;
  readonly computed: string;
}

/**
 * Recomputes every derived figure from the entries, and the entries' own order, and names the first that differs. Reads
 * one snapshot, a page at a time, so it may run beside traffic on a ledger of any length.
 */
export async function books(db: Db): Promise<Books> {
  await catchUpAll(db);
  return db.transaction(async (tx) => {
    await tx.run('set transaction isolation level repeatable read, read only');
    const computed: Computed = { balances: new Map(), grants: new Map(), key_spending: new Map() };
    const counts = await readCounts(tx);
    const difference =
      (await readEntries(tx, computed)) ??
      (await compareTables(tx, computed)) ??
      (await checkReservations(tx)) ??
      (await checkPurses(tx));
    return { balanced: difference === undefined, ...counts, ...(difference && { difference }) };
  });
}

type Table = 'balances' | 'grants' | 'key_spending';
const TABLES: readonly Table[] = ['balances', 'grants', 'key_spending'];
type Computed = Record<Table, Map<string, bigint[]>>;

interface Figures {
  readonly id: string;
  readonly figures: readonly string[];
}

const PAGE_ENTRIES = 50_000;
const PAGE_ROWS = 10_000;

async function readCounts(tx: Tx): Promise<{ accounts: number; entries: number }> {
  const [row] = await tx.rows<{ accounts: number; entries: number }>(
    'select count(*)::float8 as accounts, (select count(*) from ledger_entries)::float8 as entries from balances',
  );
  return { accounts: row?.accounts ?? 0, entries: row?.entries ?? 0 };
}

/** Sums up the entries page by page, and stops at the first that does not follow from the one before it. */
async function readEntries(tx: Tx, computed: Computed): Promise<Difference | undefined> {
  for (
    let range = await nextRange(tx, ['', 0n]);
    range !== undefined;
    range = await nextRange(tx, [range[2], range[3]])
  ) {
    const [difference] = await tx.rows<Difference>(ENTRY_CHECKS, range);
    if (difference !== undefined) return difference;
    for (const table of TABLES) {
      for (const row of await tx.rows<Figures>(SUMS[table], range)) add(computed[table], row);
    }
  }
  return undefined;
}

type Position = readonly [accountId: string, number: bigint];

async function nextRange(tx: Tx, after: Position): Promise<readonly [...Position, ...Position] | undefined> {
  const [last] = await tx.rows<{ account_id: string; number: bigint }>(
    `select account_id, number from (
       select account_id, number from ledger_entries where (account_id, number) > ($1, $2)
       order by account_id, number limit ${PAGE_ENTRIES}
     ) as page order by account_id desc, number desc limit 1`,
    after,
  );
  return last && [...after, last.account_id, last.number];
}

function add(sums: Map<string, bigint[]>, row: Figures): void {
  const before = sums.get(row.id);
  const figures = row.figures.map((figure, place) => BigInt(figure) + (before?.[place] ?? 0n));
  sums.set(row.id, figures);
}

// The row before the range comes along, to compare with.
const ENTRY_CHECKS = `
  with page as (
    select *, lag(number, 1, 0::bigint) over earlier as number_before,
      lag(balance, 1, 0::bigint) over earlier as balance_before, lag(created_at) over earlier as created_before,
      (select coalesce(sum(part), 0)::bigint from unnest(parts) as part) as from_grants
    from ledger_entries
    where (account_id, number) >= ($1, $2) and (account_id, number) <= ($3, $4)
    window earlier as (partition by account_id order by number)
  )
  select figure, page.account_id || ' number ' || number as id, coalesce(recorded, 'none') as recorded, computed
  from page
  left join reservations on reservations.id = page.reservation_id
  cross join lateral (values
    ('ledger_entries.number', number::text, (number_before + 1)::text),
    ('ledger_entries.balance', balance::text, (balance_before + page.available)::text),
    ('ledger_entries.created_at', page.created_at::text, greatest(page.created_at, created_before)::text),
    ('ledger_entries.parts', from_grants::text,
      case type when 'charge' then '0' when 'cover' then least(from_grants, -1)::text else page.available::text end),
    ('reservations.account_id', reservations.account_id,
      case when page.reservation_id is not null then page.account_id end),
    ('grants.account_id', (select min(account_id) from grants where id = any (page.grant_ids)),
      case when page.grant_ids <> '{}' then page.account_id end)
  ) as checks (figure, recorded, computed)
  where recorded is distinct from computed and (page.account_id, number) > ($1, $2)
  order by page.account_id, number limit 1`;

/** What the entries of a range say about each derived figure, in the order of FIGURES. */
const SUMS: Record<Table, string> = {
  balances: `
    select account_id as id, array[sum(granted), sum(available), sum(reserved), sum(charged), sum(lapsed),
      coalesce(sum(charged) filter (where type = 'charge'), 0)
        + coalesce(sum((select sum(part) from unnest(parts) as part)) filter (where type = 'cover'), 0),
      count(*)]::text[] as figures
    from ledger_entries where (account_id, number) > ($1, $2) and (account_id, number) <= ($3, $4)
    group by account_id`,
  grants: `
    select grant_id as id, array[sum(granted), sum(part)]::text[] as figures
    from ledger_entries cross join unnest(grant_ids, parts) as split (grant_id, part)
    where (account_id, number) > ($1, $2) and (account_id, number) <= ($3, $4)
    group by grant_id`,
  key_spending: `
    select key_id as id, array[sum(e.reserved), sum(e.charged),
      coalesce(sum(e.charged) filter (where period_start('day', e.created_at) = day), 0),
      coalesce(sum(e.charged) filter (where period_start('week', e.created_at) = week), 0),
      coalesce(sum(e.charged) filter (where period_start('month', e.created_at) = month), 0)]::text[] as figures
    from ledger_entries e join reservations on reservations.id = reservation_id join key_spending using (key_id)
    where (e.account_id, number) > ($1, $2) and (e.account_id, number) <= ($3, $4)
    group by key_id`,
};

const FIGURES: Record<Table, { readonly id: string; readonly columns: readonly string[] }> = {
  balances: {
    id: 'account_id',
    columns: ['granted', 'available', 'reserved', 'charged', 'lapsed', 'debt', 'entries'],
  },
  grants: { id: 'id', columns: ['amount', 'remaining'] },
  key_spending: { id: 'key_id', columns: ['held', 'spent', 'day_spent', 'week_spent', 'month_spent'] },
};

async function compareTables(tx: Tx, computed: Computed): Promise<Difference | undefined> {
  for (const table of TABLES) {
    const difference = await compareTable(tx, table, computed);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

async function compareTable(tx: Tx, table: Table, computed: Computed): Promise<Difference | undefined> {
  const { id, columns } = FIGURES[table];
  const statement = `select ${id} as id, array[${columns.join(', ')}]::text[] as figures
    from ${table} where ${id} > $1 order by ${id} limit ${PAGE_ROWS}`;
  for (let after = ''; ; ) {
    const page = await tx.rows<Figures>(statement, [after]);
    for (const row of page) {
      const difference = compareRow(table, row, computed[table].get(row.id));
      if (difference !== undefined) return difference;
      computed[table].delete(row.id);
    }
    const last = page.at(-1);
    if (last === undefined) return missingRow(table, computed[table]);
    after = last.id;
  }
}

function compareRow(table: Table, row: Figures, computed: readonly bigint[] | undefined): Difference | undefined {
  for (const [place, column] of FIGURES[table].columns.entries()) {
    const recorded = row.figures[place] ?? '';
    const expected = String(computed?.[place] ?? 0n);
    if (recorded !== expected) return { figure: `${table}.${column}`, id: row.id, recorded, computed: expected };
  }
  return undefined;
}

function missingRow(table: Table, left: ReadonlyMap<string, readonly bigint[]>): Difference | undefined {
  for (const [id, figures] of left) return { figure: table, id, recorded: 'none', computed: figures.join(', ') };
  return undefined;
}

async function checkReservations(tx: Tx): Promise<Difference | undefined> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const [page] = await tx.rows<{ last: string | null }>(
      `select max(id::text) as last from (select id from reservations where id > $1 order by id limit ${PAGE_ROWS}) as page`,
      [after],
    );
    const last = page?.last ?? undefined;
    if (last === undefined) return findStray(tx);
    const [difference] = await tx.rows<Difference>(RESERVATION_CHECKS, [after, last]);
    if (difference !== undefined) return difference;
    after = last;
  }
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

const RESERVATION_CHECKS = `
  select figure, reservations.id, recorded, coalesce(computed, 'none') as computed
  from reservations
  left join open_reservations on reservation_id = reservations.id
  cross join lateral (
    select min(reserved::text || ' ' || grant_ids::text || ' ' || array(select -part from unnest(parts) as part)::text)
        filter (where type = 'reserve') as held,
      case when bool_or(type in ('settle', 'refund')) then 'ended' else 'open' end as state,
      coalesce(sum(reserved), 0)::text as still_held
    from ledger_entries where ledger_entries.reservation_id = reservations.id
  ) as told
  cross join lateral (values
    ('reservations.amount', amount::text || ' ' || grant_ids::text || ' ' || parts::text, held),
    ('open_reservations', case when reservation_id is null then 'ended' else 'open' end, state),
    ('reservations.amount', case when reservation_id is null then '0' else amount::text end, still_held)
  ) as checks (figure, recorded, computed)
  where reservations.id > $1 and reservations.id <= $2 and recorded is distinct from computed
  order by reservations.id limit 1`;
