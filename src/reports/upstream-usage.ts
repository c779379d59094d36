import type { MicroCredits } from '../credits.ts';
import type { Db } from '../db/index.ts';
import { firstUuidAt } from '../ids.ts';
import { postJournal } from '../ledger/index.ts';
import { narrowedTo, type UsageFilter } from './usage-report.ts';

/** What one upstream brought in and took; for operators alone. */
export interface UpstreamUsageRow {
  /** UNKNOWN where the row of the call was lost with its process, or is no longer kept. */
  readonly upstream: string;
  readonly requests: number;
  readonly credits: MicroCredits;
  /** As in `UsageReportRow`; of calls that it was the last to be asked for. */
  readonly errors: number | null;
  /** Of the requests whose cost is known; null where none is. */
  readonly cost: MicroCredits | null;
  /** What was charged for those, less their cost. */
  readonly margin: MicroCredits | null;
  /** What was charged for the others: `credits` is the sum of this, of `cost` and of `margin`. */
  readonly creditsWithoutCost: MicroCredits;
}

/** No upstream can have this id. */
const UNKNOWN = '(unknown)';

/** A call's row is older than its settlement by as long as it took, which is never so long. */
const CALL_MS_MAX = 24 * 60 * 60 * 1000;

/**
 * Credits are the ledger's, to the micro-credit, and their sum over all rows is that of `usageReport`. Upstream and cost
 * are those of the request log, or of the job or transcription. A request that was charged nothing counts with its cost:
 * what is given away is paid for, too.
 */
export async function upstreamUsage(
  db: Db,
  { account, key, model, endpoint, from, to, after, limit }: UsageFilter,
  loggedSince: Date | undefined,
): Promise<readonly UpstreamUsageRow[]> {
  await postJournal(db, account);
  const rows = await db.rows<UpstreamUsageRow>(statement(account !== undefined), [
    account,
    from,
    to,
    key,
    model,
    endpoint,
    firstUuidAt(from.getTime()),
    firstUuidAt(to.getTime()),
    after?.group ?? '',
    firstUuidAt(from.getTime() - CALL_MS_MAX),
    limit,
  ]);
  const isLogged = loggedSince !== undefined && from.getTime() >= loggedSince.getTime();
  return isLogged ? rows : rows.map((row) => ({ ...row, errors: null }));
}

/** A job counts for the last upstream that delivered any of it. Where a charge exceeds its hold, two entries are one request. */
function statement(ofAccount: boolean): string {
  return `with settled as (
      select e.reservation_id, sum(e.charged)::bigint as charged, bool_or(e.type = 'settle') as is_settled
      from ledger_entries e join reservations r on r.id = e.reservation_id
      where (e.charged > 0 or e.type = 'settle') and e.created_at >= $2 and e.created_at < $3
        and ${narrowedTo(ofAccount, 'e', 'r')}
      group by e.reservation_id
    ), calls as (
      select l.reservation_id, max(l.upstream_id) as upstream_id, max(l.cost) as cost
      from request_log l
      where l.id >= $10 and l.id < $8 and l.reservation_id is not null and l.upstream_id is not null
        and ${narrowedTo(ofAccount, 'l', 'l')}
      group by l.reservation_id
    ), known as (
      select s.reservation_id, s.charged, coalesce(c.upstream_id, t.upstream_id, a.upstream_id, '${UNKNOWN}') as upstream,
        case when s.is_settled then coalesce(c.cost, t.cost, j.cost) end as cost
      from settled s
      left join calls c on c.reservation_id = s.reservation_id
      left join transcriptions t on t.reservation_id = s.reservation_id
      left join jobs j on j.reservation_id = s.reservation_id
      left join lateral (
        select upstream_id from job_attempts where job_id = j.id order by (state = 'collected') desc, number desc limit 1
      ) as a on true
    ), charged as (
      select upstream, count(*) filter (where charged > 0)::int as requests, sum(charged)::bigint as credits,
        sum(cost)::bigint as cost, (sum(charged) filter (where cost is not null) - sum(cost))::bigint as margin,
        coalesce(sum(charged) filter (where cost is null), 0)::bigint as "creditsWithoutCost"
      from known group by upstream
    ), failed as (
      select l.upstream_id as upstream, sum(l.requests)::int as errors
      from request_log l
      where l.id >= $7 and l.id < $8 and (l.status >= 400 or l.error_code is not null) and l.upstream_id is not null
        and ${narrowedTo(ofAccount, 'l', 'l')}
      group by l.upstream_id
    )
    select upstream, coalesce(requests, 0) as requests, coalesce(credits, 0) as credits, coalesce(errors, 0) as errors,
      cost, margin, coalesce("creditsWithoutCost", 0) as "creditsWithoutCost"
    from charged full join failed using (upstream)
    where upstream collate "C" > $9
    order by upstream collate "C" limit $11`;
}
