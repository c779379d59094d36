import type { MicroCredits } from '../credits.ts';
import type { Db } from '../db/index.ts';

export type UsageGrouping = 'day' | 'model' | 'key';

export interface UsageRow {
  /** A day in UTC as YYYY-MM-DD, a model's id or a key's id. */
  readonly group: string;
  readonly requests: number;
  readonly credits: MicroCredits;
}

export interface UsageRange {
  readonly from: Date;
  /** Not included. */
  readonly to: Date;
}

const GROUPS: Readonly<Record<UsageGrouping, string>> = {
  day: `to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD')`,
  model: 'r.model',
  key: `coalesce(r.key_id, '')`,
};

/** What was charged in a time, added up. A request that cost nothing is no usage. */
export async function usageOf(
  db: Db,
  accountId: string,
  grouping: UsageGrouping,
  range: UsageRange,
): Promise<readonly UsageRow[]> {
  return db.rows<UsageRow>(
    `select ${GROUPS[grouping]} as "group", count(distinct e.reservation_id)::int as requests,
       sum(e.charged)::bigint as credits
     from ledger_entries e join reservations r on r.id = e.reservation_id
     where e.account_id = $1 and e.charged > 0 and e.created_at >= $2 and e.created_at < $3
     group by 1 order by 1`,
    [accountId, range.from, range.to],
  );
}

/** What each of these keys has spent in all. */
export async function spentByKeys(db: Db, keyIds: readonly string[]): Promise<ReadonlyMap<string, MicroCredits>> {
  const rows = await db.rows<{ id: string; spent: MicroCredits }>(
    'select key_id as id, spent from key_spending where key_id = any($1)',
    [keyIds],
  );
  return new Map(rows.map(({ id, spent }) => [id, spent]));
}
