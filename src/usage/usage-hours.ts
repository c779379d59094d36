import type { Db } from '../db/index.ts';
import { USAGE_ROUNDS } from '../limits.ts';

/**
 * Usage is rolled up by the hour, so that a report of months reads hours and not entries. An account's entries have numbers
 * without a gap, so one number says which of them its hours have: a report adds those that come after it, and is exact
 * however far the roll-up has got and whatever time an entry has.
 */

const HOUR_MS = 3_600_000;

/** A cost above its hold is two entries. They are one request: the second counts where nothing was held for it. */
const REQUESTS = `(e.type <> 'charge' or r.amount = 0)`;

/** With `offset 0` each reservation is looked up: joined plainly, all ever made might be read. */
const RESERVATION = 'cross join lateral (select * from reservations where id = e.reservation_id offset 0) as r';

export interface Rounds {
  /** Read by one statement, of so many accounts at most. */
  readonly entries: number;
  readonly accounts: number;
  readonly most: number;
}

/**
 * Adds entries to the hours; a long history takes several calls. Any number of processes may do it at once: an account that
 * another has locked is left out.
 */
export async function rollUpUsage(db: Db, { entries, accounts, most }: Rounds = USAGE_ROUNDS): Promise<void> {
  await db.run(BEGIN_ACCOUNTS);
  for (let round = 0; round < most; round++) {
    const [row] = await db.rows<{ entries: number }>(ROLL_UP, [accounts, entries]);
    if (row?.entries === 0) return;
  }
}

const BEGIN_ACCOUNTS = `
  insert into usage_progress (account_id)
  select account_id from balances b
  where entries > 0 and not exists (select from usage_progress p where p.account_id = b.account_id)
  on conflict do nothing`;

/** The hours and how far they have got change in one statement: a process that is killed has done both or neither. */
const ROLL_UP = `
  with locked as (
    select p.account_id, p.entries as after, b.entries as upto
    from usage_progress p join balances b using (account_id)
    where b.entries > p.entries order by p.account_id limit $1
    for update of p skip locked
  ), due as (
    select account_id, after, least(upto, after + $2 - before) as upto
    from (
      select *, coalesce(sum(upto - after) over (
        order by account_id rows between unbounded preceding and 1 preceding), 0)::bigint as before
      from locked
    ) as summed
    where before < $2
  ), advanced as (
    update usage_progress p set entries = due.upto, upto = (
      select created_at from ledger_entries e where e.account_id = due.account_id and e.number = due.upto
    ) from due where p.account_id = due.account_id
  ), added as (
    insert into usage_hours as known (account_id, hour, key_id, model, endpoint, requests, credits)
    select e.account_id, date_trunc('hour', e.created_at, 'UTC'), coalesce(r.key_id, ''), r.model, r.endpoint,
      count(*) filter (where ${REQUESTS}), sum(e.charged)
    from due cross join lateral (
      select * from ledger_entries
      where account_id = due.account_id and number > due.after and number <= due.upto and charged > 0 offset 0
    ) as e ${RESERVATION}
    group by 1, 2, 3, 4, 5
    on conflict (account_id, hour, key_id, model, endpoint)
    do update set requests = known.requests + excluded.requests, credits = known.credits + excluded.credits
  )
  select coalesce(sum(upto - after), 0)::float8 as entries from due`;

/** Times between which whole hours lie; the same where none do. */
export function wholeHours(from: Date, to: Date): readonly [first: Date, end: Date] {
  const first = hourFrom(from);
  const end = new Date(Math.floor(to.getTime() / HOUR_MS) * HOUR_MS);
  return first < end ? [first, end] : [to, to];
}

/** The beginning of the first whole hour from then on. */
export function hourFrom(time: Date): Date {
  return new Date(Math.ceil(time.getTime() / HOUR_MS) * HOUR_MS);
}

/** Names of the parameters of a statement. `account` is left out for all accounts. */
export interface UsageParameters {
  readonly account?: string | undefined;
  readonly from: string;
  readonly to: string;
  /** As `wholeHours` tells them. */
  readonly firstHour: string;
  readonly endOfHours: string;
}

/**
 * What was charged between two times, as rows with `created_at`, `account_id`, `key_id`, `model`, `endpoint`, `requests` and
 * `credits` to be added up: whole hours, the entries that they do not have yet, and those before the first and after the last.
 */
export function usageBetween({ account, from, to, firstHour, endOfHours }: UsageParameters): string {
  const isOurs = (table: string) => (account === undefined ? 'true' : `${table}.account_id = ${account}`);
  const charged = `select e.created_at, e.account_id, r.key_id, r.model, r.endpoint, ${REQUESTS}::int as requests,
      e.charged as credits`;
  const within = (least: string, end: string) => `
    ${charged} from ledger_entries e join reservations r on r.id = e.reservation_id
    where ${isOurs('e')} and e.charged > 0 and e.created_at >= ${least} and e.created_at < ${end}`;
  return `
    select hour as created_at, account_id, nullif(key_id, '') as key_id, model, endpoint, requests, credits
    from usage_hours where ${isOurs('usage_hours')} and hour >= ${firstHour} and hour < ${endOfHours}
    union all
    ${charged} from (
      select account_id, coalesce(p.entries, 0) as entries, coalesce(p.upto, '-infinity') as upto
      from balances b left join usage_progress p using (account_id)
      where ${isOurs('b')} and b.entries > coalesce(p.entries, 0)
    ) as behind cross join lateral (
      select * from ledger_entries where account_id = behind.account_id and number > behind.entries and charged > 0
        and created_at >= greatest(behind.upto, ${firstHour}) and created_at < ${endOfHours} offset 0
    ) as e ${RESERVATION}
    union all ${within(from, firstHour)}
    union all ${within(endOfHours, to)}`;
}
