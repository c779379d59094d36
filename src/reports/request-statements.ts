import { CONSOLE } from './usage.ts';

/** SQL over the request log and the ledger. A page of the log is cut first; only its rows are joined with the rest. */

interface PageShape {
  readonly ofAccount: boolean;
  /** What the walk is led by: the requests' order alone, a request id, what failed or may fail, or what is open. */
  readonly lead: 'all' | 'request' | 'failures' | 'open';
  /** Whether how a request ended decides about its row: then jobs and ledger are looked up during the walk. */
  readonly isJudged: boolean;
}

/**
 * Parameters: account, first id, id behind the last, key, model, endpoint, request id, status, code, state, limit. Few
 * constant texts, so that each is prepared once and its plan does not depend on which parameters are null.
 */
export function requestPage({ ofAccount, lead, isJudged }: PageShape): string {
  const conditions = [
    ofAccount ? 'l.account_id = $1' : '$1::text is null',
    'l.id >= $2 and l.id < $3',
    `($4::text is null or coalesce(l.key_id, '${CONSOLE}') = $4)`,
    '($5::text is null or l.model = $5)',
    '($6::text is null or l.endpoint = $6)',
    lead === 'request' ? 'l.request_id = $7' : '$7::text is null',
    ...(lead === 'failures' ? [MAY_HAVE_FAILED] : []),
    ...(lead === 'open' ? ['l.reservation_id = any (array(select reservation_id from open_reservations))'] : []),
    isJudged ? JUDGED : '$8::text is null and $9::text is null and $10::text is null',
  ];
  return detailed(`select l.* from request_log l where ${conditions.join(' and ')} order by l.id desc limit $11`);
}

/** The predicate of the index `request_log_failures`. */
const MAY_HAVE_FAILED = '(l.status >= 400 or l.error_code is not null or l.job_id is not null)';

const JOB_ERROR = 'case when l.job_id is not null then (select j.error_code from jobs j where j.id = l.job_id) end';

const ENTRIES = `select coalesce(sum(e.charged), 0)::bigint as charged,
    case when not coalesce(bool_or(e.type in ('settle', 'refund')), false) then 'running'
      when bool_or(e.type = 'settle') then 'settled' else 'refunded' end as state
  from ledger_entries e where e.reservation_id = l.reservation_id`;

/** Scalar subqueries and no joins: rows come in their order, and what a row itself tells is looked up nowhere else. */
const JUDGED = `($8::text is null
    or ($8 = 'error') = (l.status >= 400 or l.error_code is not null or ${JOB_ERROR} is not null))
  and ($9::text is null or coalesce(l.error_code, ${JOB_ERROR}) = $9)
  and ($10::text is null or l.reservation_id is not null and (select told.state from (${ENTRIES}) as told) = $10)`;

/**
 * `rows` selects from the log; its order is kept. What belongs to a row is looked up by a lateral subquery with a limit,
 * which the planner cannot flatten into a join: it takes a page for a few rows, and would read a whole table for each.
 */
function detailed(rows: string): string {
  return `select l.id, l.request_id as "requestId", l.account_id as "accountId", l.key_id as "keyId",
      coalesce(k.name, g.name) as "keyName", l.person_id as "personId", l.job_id as "jobId", l.model, l.endpoint, l.status,
      case when l.reservation_id is not null then told.state end as state,
      coalesce(l.error_code, j.error_code) as "errorCode", l.duration_ms as "durationMs", l.streamed as "isStreamed",
      l.requests, coalesce(l.upstream_id, t.upstream_id, a.upstream_id) as "upstreamId",
      l.reservation_id as "reservationId", case told.state when 'running' then coalesce(r.amount, 0) else 0 end as held,
      told.charged, coalesce(l.cost, case when l.reservation_id is not null then coalesce(t.cost, j.cost) end) as cost, l.created_at as "createdAt"
    from (${rows}) as l
    cross join lateral (${ENTRIES}) as told
    ${LOOKUPS.map(([name, one]) => `left join lateral (${one} limit 1) as ${name} on true`).join('\n')}
    order by l.id desc`;
}

const LOOKUPS = [
  ['r', 'select amount from reservations where id = l.reservation_id'],
  ['k', 'select name from api_keys where id = l.key_id'],
  ['g', 'select c.name from oauth_grants g join oauth_clients c on c.id = g.client_id where g.id = l.key_id'],
  ['j', 'select error_code, cost from jobs where id = l.job_id'],
  ['a', 'select upstream_id from job_attempts where job_id = l.job_id order by number desc'],
  ['t', 'select upstream_id, cost from transcriptions where reservation_id = l.reservation_id'],
] as const;

/** Parameters: id, account or null for any. */
export const ONE_REQUEST = detailed(
  'select l.* from request_log l where l.id = $1 and ($2::text is null or l.account_id = $2)',
);
