import type { MicroCredits } from '../credits.ts';
import type { Db } from '../db/index.ts';
import { firstUuidAt } from '../ids.ts';
import { postJournal, verdicts } from '../ledger/index.ts';
import { hourFrom, usageBetween } from '../usage/index.ts';

interface OpenJobs {
  readonly kind: string;
  readonly status: string;
  readonly count: number;
}

/** The deployment at a glance. */
export interface Overview {
  /** For work, refused ones included. */
  readonly requests: number;
  /** Of these, how many were refused or failed, the jobs among them also later. */
  readonly errors: number;
  readonly charged: MicroCredits;
  /** What was charged for requests whose route states its cost, less that cost; null where none does. */
  readonly margin: MicroCredits | null;
  readonly reserved: MicroCredits;
  readonly openJobs: readonly OpenJobs[];
  readonly oldestQueuedAt: Date | null;
  readonly openTranscriptions: number;
  readonly accounts: number;
  readonly suspendedAccounts: number;
  /** Of the last check; undefined before the first. */
  readonly books: verdicts.Verdict | undefined;
}

/** Figures since a time and of now: a statement each, over an index or a table of what is open. */
export async function readOverview(db: Db, since: Date): Promise<Overview> {
  await postJournal(db, undefined);
  const [traffic, charged, margin, reserved, openJobs, oldest, transcriptions, accounts, books] = await Promise.all([
    only<Pick<Overview, 'requests' | 'errors'>>(db, TRAFFIC, [firstUuidAt(since.getTime())]),
    only<Pick<Overview, 'charged'>>(db, CHARGED, [since, hourFrom(since)]),
    only<Pick<Overview, 'margin'>>(db, MARGIN, [firstUuidAt(since.getTime()), since]),
    only<Pick<Overview, 'reserved'>>(db, 'select coalesce(sum(reserved), 0)::bigint as reserved from balances'),
    db.rows<OpenJobs>(
      `select kind, status, count(*)::int as count from open_jobs join jobs on jobs.id = job_id
       group by kind, status order by kind, status`,
    ),
    only<Pick<Overview, 'oldestQueuedAt'>>(
      db,
      `select min(created_at) as "oldestQueuedAt" from open_jobs join jobs on jobs.id = job_id where status = 'queued'`,
    ),
    only<Pick<Overview, 'openTranscriptions'>>(
      db,
      `select count(*)::int as "openTranscriptions" from transcriptions where status in ('pending', 'processing')`,
    ),
    only<Pick<Overview, 'accounts' | 'suspendedAccounts'>>(
      db,
      `select count(*)::int as accounts, count(*) filter (where status = 'suspended')::int as "suspendedAccounts"
       from accounts`,
    ),
    verdicts.lastVerdict(db),
  ]);
  return {
    ...traffic,
    ...charged,
    ...margin,
    ...reserved,
    openJobs,
    ...oldest,
    ...transcriptions,
    ...accounts,
    books,
  };
}

/** Estimates and uploads only prepare work. Ids are in the order of time. */
const TRAFFIC = `
  select coalesce(sum(l.requests), 0)::int as requests,
    coalesce(sum(l.requests) filter (
      where l.status >= 400 or coalesce(l.error_code, j.error_code) is not null), 0)::int as errors
  from request_log l left join jobs j on j.id = l.job_id
  where l.id >= $1 and l.endpoint <> 'files'`;

const NO_END = `'infinity'::timestamptz`;
const CHARGED = `select coalesce(sum(credits), 0)::bigint as charged
  from (${usageBetween({ from: '$1', to: NO_END, firstHour: '$2', endOfHours: NO_END })}) as used`;

/** An entry is never older than its request, so those of this time are enough. */
const MARGIN = `
  with known as (
    select l.reservation_id, coalesce(l.cost, t.cost, j.cost) as cost
    from request_log l left join jobs j on j.reservation_id = l.reservation_id
    left join transcriptions t on t.reservation_id = l.reservation_id
    where l.id >= $1 and coalesce(l.cost, t.cost, j.cost) is not null
  )
  select ((
    select coalesce(sum(e.charged), 0) from ledger_entries e join known using (reservation_id) where e.created_at >= $2
  ) - (select sum(cost) from known))::bigint as margin`;

/** The one row of an aggregate. */
async function only<Row extends object>(db: Db, sql: string, values: readonly unknown[] = []): Promise<Row> {
  const [row] = await db.rows<Row>(sql, values);
  if (row === undefined) throw new Error('an aggregate gave no row');
  return row;
}
