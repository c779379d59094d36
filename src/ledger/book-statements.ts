import { BOOK_DIFFERENCES_MAX } from '../limits.ts';

/** What the books ask the database. `$1`, `$2`, `$3` are the accounts of ranges of entries, and between which numbers. */

export type Table = 'balances' | 'grants' | 'key_spending';
export const TABLES: readonly Table[] = ['balances', 'grants', 'key_spending'];

const RANGES = 'unnest($1::text[], $2::bigint[], $3::bigint[]) as range (account_id, after, upto)';

/** With `offset 0` each range is read by the entries' own order: joined plainly, all entries ever made would be read. */
const entriesFrom = (least: string) => `${RANGES} cross join lateral (
    select * from ledger_entries
    where account_id = range.account_id and number ${least} range.after and number <= range.upto offset 0
  ) as e`;
const RANGED = entriesFrom('>');

/** What each entry says of itself, and what follows from the row before it and from what it is about. */
const ENTRY_FIGURES: readonly (readonly [figure: string, recorded: string, computed: string])[] = [
  ['ledger_entries.number', 'number', 'number_before + 1'],
  ['ledger_entries.granted', 'granted', '(page.available + page.reserved + page.charged + page.lapsed)'],
  ['ledger_entries.balance', 'balance', '(balance_before + page.available)'],
  ['ledger_entries.created_at', 'page.created_at', 'greatest(page.created_at, created_before)'],
  [
    'ledger_entries.parts',
    'from_grants',
    `case type when 'charge' then 0 when 'cover' then least(from_grants, -1) else page.available end`,
  ],
  [
    'reservations.account_id',
    'reservations.account_id',
    'case when page.reservation_id is not null then page.account_id end',
  ],
  [
    'grants.account_id',
    // Joined, since nearly every entry is of one grant, and a subquery for each is most of the statement's time.
    `case when cardinality(page.grant_ids) < 2 then first_grant.account_id
      else (select string_agg(distinct account_id, ' ') from grants where id = any (page.grant_ids)) end`,
    `case when page.grant_ids <> '{}' then page.account_id end`,
  ],
];

// The row before each range comes along, to compare with. Texts are made of rows that differ alone: they cost more than all else.
export const ENTRY_CHECKS = `
  with page as (
    select e.*, range.after, lag(number, 1, 0::bigint) over earlier as number_before,
      lag(balance, 1, 0::bigint) over earlier as balance_before, lag(created_at) over earlier as created_before,
      (select coalesce(sum(part), 0)::bigint from unnest(parts) as part) as from_grants
    from ${entriesFrom('>=')}
    window earlier as (partition by range.account_id, range.after order by number)
  )
  select figure, page.account_id || ' number ' || number as id, page.account_id as account, number::text as entries,
    coalesce(recorded, 'none') as recorded, coalesce(computed, 'none') as computed
  from page
  left join reservations on reservations.id = page.reservation_id
  left join (select id, account_id from grants) as first_grant on first_grant.id = page.grant_ids[1]
  cross join lateral (values
    ${ENTRY_FIGURES.map(([figure, recorded, computed]) => `('${figure}', (${recorded})::text, (${computed})::text)`).join(',\n    ')}
  ) as checks (figure, recorded, computed)
  where number > after and recorded is distinct from computed
    and (${ENTRY_FIGURES.map(([, recorded, computed]) => `${recorded} is distinct from ${computed}`).join(' or ')})
  order by page.account_id, number limit ${BOOK_DIFFERENCES_MAX}`;

/** What the entries of some ranges say about each derived figure, in the order of its columns in FIGURES. */
export const SUMS: Record<Table, string> = {
  balances: `
    select e.account_id as id, array[sum(granted), sum(available), sum(reserved), sum(charged), sum(lapsed),
      coalesce(sum(charged) filter (where type = 'charge'), 0)
        + coalesce(sum((select sum(part) from unnest(parts) as part)) filter (where type = 'cover'), 0),
      count(*),
      count(*) filter (where type = 'reserve') - count(*) filter (where type in ('settle', 'refund'))]::text[] as figures
    from ${RANGED} group by e.account_id`,
  // An entry that grants names its own grant first.
  grants: `
    select grant_id as id, array[sum(case when place = 1 then granted else 0 end), sum(part)]::text[] as figures
    from ${RANGED} cross join unnest(grant_ids, parts) with ordinality as split (grant_id, part, place)
    group by grant_id`,
  key_spending: `
    select key_id as id, array[sum(e.reserved), sum(e.charged),
      coalesce(sum(e.charged) filter (where period_start('day', e.created_at) = day), 0),
      coalesce(sum(e.charged) filter (where period_start('week', e.created_at) = week), 0),
      coalesce(sum(e.charged) filter (where period_start('month', e.created_at) = month), 0)]::text[] as figures
    from ${RANGED} join reservations on reservations.id = e.reservation_id join key_spending using (key_id)
    group by key_id`,
};

interface Figures {
  readonly id: string;
  readonly columns: readonly string[];
  /** Those of `$2` rows above the id `$1` that are not as their checkpoint says; with `$3` no checkpoint says anything. */
  readonly changed: string;
  /** Rows of the ids `$1`, whatever they are; with `$2` as with `$3` above. */
  readonly named: string;
}

const DAYS = (column: string) => `${column} - date '1970-01-01'`;

/** Of the same period as now, or else none of it. */
const OF_PERIOD = (column: string, place: number) =>
  `case when c.figures[${place}] = ${DAYS(column)} then c.figures[${place + 1}] else 0 end`;

export const FIGURES: Record<Table, Figures> = {
  balances: figures({
    id: 'account_id',
    account: 't.account_id',
    columns: {
      ...plain(['granted', 'available', 'reserved', 'charged', 'lapsed', 'debt', 'entries']),
      open_reservations: ['coalesce(opened.count, 0)', 'c.figures[8]'],
    },
    beside: `left join (
      select r.account_id, count(*) from open_reservations o join reservations r on r.id = o.reservation_id
      group by r.account_id) as opened on opened.account_id = t.account_id`,
    kind: 'balances',
  }),
  grants: figures({
    id: 'id',
    account: 't.account_id',
    columns: plain(['amount', 'remaining']),
    kind: 'grants',
  }),
  key_spending: figures({
    id: 'key_id',
    account: `coalesce((select account_id from api_keys where id = t.key_id),
      (select account_id from oauth_grants where id = t.key_id))`,
    columns: {
      ...plain(['held', 'spent']),
      day_spent: ['day_spent', OF_PERIOD('day', 3)],
      week_spent: ['week_spent', OF_PERIOD('week', 5)],
      month_spent: ['month_spent', OF_PERIOD('month', 7)],
    },
    kind: 'key_spending',
    checkpoint: `held, spent, ${DAYS('day')}, day_spent, ${DAYS('week')}, week_spent, ${DAYS('month')}, month_spent`,
  }),
};

/** What is found in `page`, the `$2` rows above the id `$1`, each with the last id of all of them. */
function pageOf(table: string, id: string, found: string): string {
  return `
    with page as (select * from ${table} where ${id} > $1 order by ${id} limit $2), found as (${found})
    select (select max(${id}) from page) as last, found.* from (select) as one left join found on true`;
}

type Columns = Readonly<Record<string, readonly [recorded: string, known: string]>>;

/** Columns that the checkpoint stores in this order. */
function plain(names: readonly string[]): Columns {
  return Object.fromEntries(names.map((name, place) => [name, [`t.${name}`, `c.figures[${place + 1}]`]]));
}

interface FigureTable {
  readonly id: string;
  /** The account of a row. */
  readonly account: string;
  readonly columns: Columns;
  /** Joined to the table, which is called t. */
  readonly beside?: string;
  readonly kind: Table;
  readonly checkpoint?: string;
}

function figures(table: FigureTable): Figures {
  const pairs = Object.values(table.columns);
  const recorded = `array[${pairs.map(([column]) => column).join(', ')}]::bigint[]`;
  const known = `array[${pairs.map(([, figure]) => `coalesce(${figure}, 0)`).join(', ')}]::bigint[]`;
  const checkpoint = table.checkpoint === undefined ? recorded : `array[${table.checkpoint}]::bigint[]`;
  const readFrom = (rows: string) => `
    select t.${table.id} as id, ${table.account} as account, ${recorded}::text[] as recorded, ${known}::text[] as known,
      ${checkpoint}::text[] as checkpoint
    from ${rows} as t ${table.beside ?? ''} left join lateral (
      select figures from ledger_checkpoints where kind = '${table.kind}' and id = t.${table.id} offset 0) as c on true`;
  return {
    id: table.id,
    columns: Object.keys(table.columns),
    changed: pageOf(
      table.kind,
      table.id,
      `${readFrom('page')} and not $3 where ${recorded} <> ${known} order by t.${table.id}`,
    ),
    named: `${readFrom(table.kind)} and not $2 where t.${table.id} = any ($1)`,
  };
}

export const RESERVATION_CHECKS = {
  /** Above `$1`, up to `$2`. */
  ofIds: reservationChecks('(select * from reservations where id > $1 and id <= $2) as reservations'),
  ofEntries: reservationChecks(oneByOne(`select distinct e.reservation_id as id from ${RANGED}`)),
  open: reservationChecks(oneByOne('select reservation_id as id from open_reservations')),
};

/** Few among many: as above, each is looked up. */
function oneByOne(ids: string): string {
  return `(${ids} offset 0) as wanted
    cross join lateral (select * from reservations where id = wanted.id offset 0) as reservations`;
}

function reservationChecks(reservations: string): string {
  return `
    select figure, reservations.id, reservations.account_id as account, numbers as entries,
      coalesce(recorded, 'none') as recorded, coalesce(computed, 'none') as computed
    from ${reservations}
    left join open_reservations on reservation_id = reservations.id
    cross join lateral (
      select min(reserved::text || ' ' || grant_ids::text || ' ' || array(select -part from unnest(parts) as part)::text)
          filter (where type = 'reserve') as split,
        case when bool_or(type in ('settle', 'refund')) then 'ended' else 'open' end as state,
        coalesce(sum(reserved), 0)::text as still_reserved,
        string_agg(number::text, ', ' order by number) as numbers
      from ledger_entries where ledger_entries.reservation_id = reservations.id
    ) as entry_figures
    cross join lateral (values
      ('reservations.amount', amount::text || ' ' || grant_ids::text || ' ' || parts::text, split),
      ('reservations.price_id', (select id::text from prices where id = price_id), price_id::text),
      ('open_reservations', case when reservation_id is null then 'ended' else 'open' end, state),
      ('reservations.amount', case when reservation_id is null then '0' else amount::text end, still_reserved)
    ) as checks (figure, recorded, computed)
    where recorded is distinct from computed limit ${BOOK_DIFFERENCES_MAX}`;
}

/** In pages: a job or transcription ended when its reservation did, at what that was charged. */
export const WORK_CHECKS = {
  jobs: workChecks('jobs', 'finished_at'),
  transcriptions: workChecks('transcriptions', 'completed_at'),
};

function workChecks(table: 'jobs' | 'transcriptions', endedAt: string): string {
  return pageOf(
    table,
    'id',
    `
      select figure, page.id, page.account_id as account, numbers as entries, recorded, computed
      from page
      cross join lateral (select * from reservations where id = page.reservation_id offset 0) as reservations
      left join open_reservations on open_reservations.reservation_id = page.reservation_id
      cross join lateral (
        select coalesce(sum(charged), 0)::text as cost, string_agg(number::text, ', ' order by number) as numbers
        from ledger_entries where ledger_entries.reservation_id = page.reservation_id
      ) as entry_figures
      cross join lateral (values
        ('${table}.charged', coalesce(page.charged, 0)::text, entry_figures.cost),
        ('${table}.account_id', page.account_id, reservations.account_id),
        ('${table}.status', case when ${endedAt} is null then 'open' else 'ended' end,
          case when open_reservations.reservation_id is null then 'ended' else 'open' end)
      ) as checks (figure, recorded, computed)
      where recorded is distinct from computed limit ${BOOK_DIFFERENCES_MAX}`,
  );
}

/** In pages: the hours of usage have what the entries that they count charged. */
export const USAGE_CHECK = pageOf(
  'balances',
  'account_id',
  `
    select 'usage_hours.credits' as figure, page.account_id as id, page.account_id as account,
      recorded::text, computed::text
    from page
    left join usage_progress on usage_progress.account_id = page.account_id
    cross join lateral (
      select coalesce(sum(credits), 0) as recorded from usage_hours where usage_hours.account_id = page.account_id
    ) as hours
    cross join lateral (
      select page.charged - coalesce(sum(e.charged), 0) as computed from ledger_entries e
      where e.account_id = page.account_id and number > coalesce(usage_progress.entries, 0)
    ) as entries
    where recorded <> computed limit ${BOOK_DIFFERENCES_MAX}`,
);
