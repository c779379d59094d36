import type { Db } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import type { JobFault } from './faults.ts';
import type { Job, JobKind, JobStatus } from './job.ts';
import { JOB_COLUMNS } from './store.ts';

/** A job as the operator sees it, with the upstreams that were called for it. */
export interface JobRecord extends Job {
  readonly keyId: string | null;
  readonly endpoint: string;
  readonly requestId: string;
  readonly attempts: readonly {
    readonly upstream: string;
    readonly model: string;
    readonly state: string;
    readonly code: JobFault | null;
  }[];
}

/** What is left out does not matter. */
export interface JobSearch {
  readonly id?: string | undefined;
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly status?: JobStatus | undefined;
  readonly kind?: JobKind | undefined;
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
  readonly since?: Date | undefined;
  /** Not included. */
  readonly until?: Date | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Of all accounts, newest first. Throws `invalid_parameter` when `after` is no job. */
export async function listAllJobs(db: Db, search: JobSearch): Promise<readonly JobRecord[]> {
  const { id, account, key, model, endpoint, status, kind, code, requestId, since, until, after, limit } = search;
  const jobs = await db.rows<JobRecord>(SEARCH, [
    ...[account, key, model, endpoint, status, kind, code, requestId, since, until, after, limit, id],
  ]);
  if (jobs.length === 0 && after !== undefined && !(await isJob(db, after))) {
    throw new ApiError('invalid_parameter', { message: '"after" must be the id of a job.', param: 'after' });
  }
  return jobs;
}

async function isJob(db: Db, id: string): Promise<boolean> {
  return (await db.rows('select from jobs where id = $1', [id])).length > 0;
}

/** A request's id is looked for among the reservations, which have a list of them. */
const SEARCH = `
  select ${JOB_COLUMNS}, key_id as "keyId", endpoint, request_id as "requestId", calls.attempts
  from jobs
  cross join lateral (
    select coalesce(json_agg(json_build_object('upstream', upstream_id, 'model', upstream_model, 'state', state,
      'code', a.error_code) order by number), '[]') as attempts
    from job_attempts a where job_id = jobs.id
  ) as calls
  where ($1::text is null or account_id = $1) and ($2::text is null or coalesce(key_id, 'console') = $2) and ($3::text is null or model = $3)
    and ($4::text is null or endpoint = $4) and ($5::text is null or status = $5) and ($6::text is null or kind = $6)
    and ($7::text is null or jobs.error_code = $7)
    and ($8::text is null or reservation_id in (select r.id from reservations r where r.request_id = $8))
    and ($9::timestamptz is null or created_at >= $9) and ($10::timestamptz is null or created_at < $10)
    and ($11::text is null or (created_at, id) < (select created_at, id from jobs where id = $11))
    and ($13::text is null or id = $13)
  order by created_at desc, id desc limit $12`;
