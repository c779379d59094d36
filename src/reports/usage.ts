import type { MicroCredits } from '../credits.ts';
import type { Db } from '../db/index.ts';
import type { JsonObject } from '../json.ts';
import { postJournal } from '../ledger/index.ts';
import { usageBetween, wholeHours } from '../usage/index.ts';

export interface UsageRow {
  /** A day in UTC as YYYY-MM-DD, or the id of a key, an app's grant or a model. */
  readonly group: string;
  readonly requests: number;
  readonly credits: MicroCredits;
}

export interface UsageRange {
  readonly from: Date;
  /** Not included. */
  readonly to: Date;
}

/** What was run in the console has no key: it is counted under this name. */
export const CONSOLE = 'console';

const GROUPS = {
  day: `to_char(created_at at time zone 'UTC', 'YYYY-MM-DD')`,
  key: `coalesce(key_id, '${CONSOLE}')`,
  model: 'model',
} as const;

const USED = usageBetween({ account: '$1', from: '$2', to: '$3', firstHour: '$4', endOfHours: '$5' });

/** What was charged in a time, added up. A request that cost nothing is no usage. */
export async function usageOf(
  db: Db,
  accountId: string,
  grouping: keyof typeof GROUPS,
  { from, to }: UsageRange,
): Promise<readonly UsageRow[]> {
  await postJournal(db, accountId);
  return db.rows<UsageRow>(
    `select ${GROUPS[grouping]} as "group", sum(requests)::int as requests, sum(credits)::bigint as credits
     from (${USED}) as used group by 1 order by 1`,
    [accountId, from, to, ...wholeHours(from, to)],
  );
}

export interface KeySpending {
  /** In all. */
  readonly spent: MicroCredits;
  /** In the period of its limit, and what is held; of a key by all of its lineage. */
  readonly countsAgainstLimit: MicroCredits;
}

const NO_SPENDING: KeySpending = { spent: 0n, countsAgainstLimit: 0n };

/** What each of these keys or grants to apps has spent. */
export async function spendingOfKeys(
  db: Db,
  keys: readonly { readonly id: string; readonly accountId: string }[],
  now: Date,
): Promise<(keyId: string) => KeySpending> {
  const accountIds = [...new Set(keys.map((key) => key.accountId))];
  await postJournal(db, accountIds.length === 1 ? accountIds[0] : accountIds);
  const rows = await db.rows<KeySpending & { id: string }>(
    `select key_id as id, spent, coalesce((
       select sum(s.held + spent_in_period(s, k.credit_limit_reset, greatest($2, b.updated_at)))
       from api_keys sibling join key_spending s on s.key_id = sibling.id
       where sibling.id = k.id or sibling.lineage = k.lineage
     ), held + spent_in_period(key_spending, g.credit_limit_reset, greatest($2, b.updated_at)))::bigint
       as "countsAgainstLimit"
     from key_spending left join api_keys k on k.id = key_id left join oauth_grants g on g.id = key_id
     left join balances b on b.account_id = coalesce(k.account_id, g.account_id)
     where key_id = any($1)`,
    [keys.map(({ id }) => id), now],
  );
  const spending = new Map(rows.map(({ id, ...row }) => [id, row]));
  return (keyId) => spending.get(keyId) ?? NO_SPENDING;
}

/** One call as the ledger knows it. */
export interface BilledRequest {
  readonly requestId: string;
  readonly state: 'running' | 'settled' | 'refunded';
  readonly model: string;
  readonly endpoint: string;
  readonly units: JsonObject | null;
  readonly charged: MicroCredits;
  readonly createdAt: Date;
}

/** The newest of that id, which callers may use more than once; undefined alike for another account's. */
export async function findRequest(db: Db, accountId: string, requestId: string): Promise<BilledRequest | undefined> {
  await postJournal(db, accountId);
  const [request] = await db.rows<BilledRequest>(
    `select r.request_id as "requestId", r.model, r.endpoint, r.created_at as "createdAt",
       case when o.reservation_id is not null then 'running' else coalesce(ended.state, 'refunded') end as state,
       ended.units, coalesce(ended.charged, 0)::bigint as charged
     from reservations r
     left join open_reservations o on o.reservation_id = r.id
     left join lateral (
       select sum(e.charged) as charged, (array_agg(e.units) filter (where e.units is not null))[1] as units,
         max(case e.type when 'settle' then 'settled' end) as state
       from ledger_entries e where e.reservation_id = r.id
     ) ended on true
     where r.request_id = $1 and r.account_id = $2
     order by r.id desc limit 1`,
    [requestId, accountId],
  );
  return request;
}
