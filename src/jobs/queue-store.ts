import { announce, type Db, type Queries, type Tx } from '../db/index.ts';
import { parseJson } from '../json.ts';
import type { Fenced } from '../leased/index.ts';
import type { JobFault } from './faults.ts';
import type { Attempt, Collected, LeasedJob, OutputPlace } from './job.ts';

/** The queue: taking jobs, and writing what became of them. Every write names its fence. */

/** Kept as one JSON. */
type BodyFields = 'request' | 'estimate' | 'traceparent';

interface LeasedRow extends Omit<LeasedJob['job'], BodyFields> {
  readonly fence: number;
  readonly body: string;
}

/** Takes up to `limit` jobs that are due: leases them, so that no other worker sees them until `leaseUntil`. */
export async function takeJobs(
  db: Db,
  now: Date,
  leaseUntil: Date,
  limit: number,
  except: readonly string[],
): Promise<LeasedJob[]> {
  const rows = await db.rows<LeasedRow>(
    `with leased as (
       update open_jobs set due_at = $2, fence = fence + 1
       where job_id in (
         select job_id from open_jobs where due_at <= $1 and job_id <> all ($4)
         order by place limit $3 for update skip locked)
       returning job_id, fence)
     select id, account_id as "accountId", kind, model, status, progress, created_at as "createdAt",
       updated_at as "updatedAt", accepted_at as "acceptedAt", finished_at as "finishedAt",
       dispatch_deadline_at as "dispatchDeadlineAt", error_code as "errorCode", charged, groups, endpoint, wanted,
       request_id as "requestId", reservation_id as "reservationId", fence, request::text as body
     from leased join jobs on id = job_id`,
    [now, leaseUntil, limit, except],
  );
  if (rows.length === 0) return [];
  const attempts = await attemptsOf(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map(({ fence, body, ...row }) => ({
    id: row.id,
    fence,
    job: { ...row, ...(parseJson(body).exact() as Pick<LeasedJob['job'], BodyFields>) },
    attempts: attempts.get(row.id) ?? [],
  }));
}

interface AttemptRow extends Omit<Attempt, 'task' | 'outputs' | 'collected'> {
  readonly jobId: string;
  readonly task: string | null;
  readonly outputs: readonly OutputPlace[] | null;
  readonly collected: readonly Collected[] | null;
}

async function attemptsOf(queries: Queries, jobIds: readonly string[]): Promise<Map<string, Attempt[]>> {
  const rows = await queries.rows<AttemptRow>(
    `select job_id as "jobId", number, upstream_id as "upstreamId", upstream_model as "upstreamModel", count, state,
       task::text as task, outputs, collected, error_code as "errorCode", detail, tries,
       started_at as "startedAt", updated_at as "updatedAt"
     from job_attempts where job_id = any ($1) order by job_id, number`,
    [jobIds],
  );
  const attempts = new Map<string, Attempt[]>();
  for (const { jobId, task, ...row } of rows) {
    const attempt = { ...row, task: task === null ? null : (parseJson(task).exact() as Attempt['task']) };
    attempts.set(jobId, [...(attempts.get(jobId) ?? []), attempt]);
  }
  return attempts;
}

/** What a step leaves behind: changed attempts, how far the job is, and from when on it can be taken again. */
export interface StepSave {
  readonly jobId: string;
  readonly fence: number;
  readonly status: 'queued' | 'running';
  readonly progress: number;
  readonly acceptedAt: Date | null;
  readonly dueAt: Date;
  readonly attempts: readonly Attempt[];
}

/** Tells which jobs were still leased. One statement, so all of a job's write or none of it. */
export async function saveSteps(db: Db, saves: readonly StepSave[], now: Date): Promise<ReadonlySet<string>> {
  const rows = await db.rows<{ id: string }>(SAVE_STEPS, [
    now,
    saves.map((save) => save.jobId),
    saves.map((save) => save.fence),
    saves.map((save) => save.status),
    saves.map((save) => save.progress),
    saves.map((save) => save.acceptedAt),
    saves.map((save) => save.dueAt),
    ...attemptColumns(saves),
  ]);
  return new Set(rows.map(({ id }) => id));
}

const ATTEMPT_COLUMNS = `job_id, number, upstream_id, upstream_model, count, state, task, outputs, collected, error_code,
  detail, tries, started_at, updated_at`;

const ATTEMPT_CONFLICT = `on conflict (job_id, number) do update set state = excluded.state, task = excluded.task,
  outputs = excluded.outputs, collected = excluded.collected, error_code = excluded.error_code, detail = excluded.detail,
  tries = excluded.tries, updated_at = excluded.updated_at`;

const SAVE_STEPS = `
  with step as (
    select * from unnest($2::text[], $3::int[], $4::text[], $5::int[], $6::timestamptz[], $7::timestamptz[])
      as step (id, fence, status, progress, accepted_at, due_at)
  ), saved as (
    update open_jobs set due_at = step.due_at from step
    where job_id = step.id and open_jobs.fence = step.fence
    returning job_id as id
  ), changed as (
    update jobs set status = step.status, progress = step.progress, accepted_at = step.accepted_at, updated_at = $1
    from step join saved using (id)
    where jobs.id = step.id and (jobs.status <> step.status or jobs.progress < step.progress)
  ), written as (
    insert into job_attempts (${ATTEMPT_COLUMNS})
    select attempt.*
    from unnest($8::text[], $9::int[], $10::text[], $11::text[], $12::int[], $13::text[], $14::json[], $15::json[],
      $16::json[], $17::text[], $18::text[], $19::int[], $20::timestamptz[], $21::timestamptz[]) as attempt (${ATTEMPT_COLUMNS})
    join saved on saved.id = attempt.job_id
    ${ATTEMPT_CONFLICT}
  )
  select id from saved`;

function attemptColumns(saves: readonly { jobId: string; attempts: readonly Attempt[] }[]): unknown[] {
  const all = saves.flatMap(({ jobId, attempts }) => attempts.map((attempt) => ({ jobId, ...attempt })));
  const json = (value: unknown) => (value === null ? null : JSON.stringify(value));
  return [
    all.map((one) => one.jobId),
    all.map((one) => one.number),
    all.map((one) => one.upstreamId),
    all.map((one) => one.upstreamModel),
    all.map((one) => one.count),
    all.map((one) => one.state),
    all.map((one) => json(one.task)),
    all.map((one) => json(one.outputs)),
    all.map((one) => json(one.collected)),
    all.map((one) => one.errorCode),
    all.map((one) => one.detail),
    all.map((one) => one.tries),
    all.map((one) => one.startedAt),
    all.map((one) => one.updatedAt),
  ];
}

/**
 * Extends the leases of jobs. It waits for no row: one that is locked is just being saved, which sets its lease, and two
 * statements that lock several rows each in an order of their own could wait for each other.
 */
export async function extendJobs(db: Db, leased: readonly Fenced[], leaseUntil: Date): Promise<void> {
  await db.run(
    `update open_jobs set due_at = $3
     where job_id in (
       select job_id from open_jobs join unnest($1::text[], $2::int[]) as leased (id, fence)
         on job_id = leased.id and open_jobs.fence = leased.fence
       for update of open_jobs skip locked)`,
    [leased.map(({ id }) => id), leased.map(({ fence }) => fence), leaseUntil],
  );
}

/** Ends a lease and announces it. A write under it changes something still, so the caller makes no more of them. */
export function releaseJob(db: Db, { id, fence }: Fenced, now: Date): Promise<void> {
  return db.transaction(async (tx) => {
    const touched = await tx.run('update open_jobs set due_at = $3 where job_id = $1 and fence = $2', [id, fence, now]);
    if (touched > 0) await announce(tx, 'job', '');
  });
}

/**
 * What a worker stored for a job that another worker has ended since has no owner, unless it is a result of it: then the
 * other worker stored the same. While the job is open, its end will find it.
 */
export async function disownOutputs(
  db: Db,
  { id, accountId }: Pick<LeasedJob['job'], 'id' | 'accountId'>,
  keys: readonly string[],
  deleteAt: Date,
): Promise<void> {
  await db.run(
    `insert into stored_objects as known (key, account_id, mime_type, bytes, delete_at)
     select stored.key, $2, '', 0, $4 from unnest($3::text[]) as stored (key)
     where not exists (select from jobs where id = $1 and status in ('queued', 'running'))
       and not exists (select from job_assets where job_id = $1 and object_key = stored.key)
     on conflict (key) do update set delete_at = greatest(known.delete_at, excluded.delete_at)`,
    [id, accountId, keys, deleteAt],
  );
}

/** How a job ends. */
export interface JobEnd {
  readonly jobId: string;
  readonly fence: number;
  readonly status: 'succeeded' | 'failed' | 'queue_expired';
  readonly errorCode: JobFault | null;
  readonly charged: bigint;
  /** What it cost the operator, where that is known. */
  readonly cost: bigint | undefined;
  readonly attempts: readonly Attempt[];
}

/** Tells which jobs were still leased, and have ended now. */
export async function endJobs(tx: Tx, ends: readonly JobEnd[], now: Date): Promise<ReadonlySet<string>> {
  const rows = await tx.rows<{ id: string }>(END_JOBS, [
    now,
    ends.map((end) => end.jobId),
    ends.map((end) => end.fence),
    ends.map((end) => end.status),
    ends.map((end) => end.errorCode),
    ends.map((end) => end.charged),
    ...attemptColumns(ends),
    ends.map((end) => end.cost),
  ]);
  return new Set(rows.map(({ id }) => id));
}

// A job that no upstream accepted and that fails for good passes through `running` in this very statement.
const END_JOBS = `
  with ending as (
    select * from unnest($2::text[], $3::int[], $4::text[], $5::text[], $6::bigint[], $21::bigint[])
      as ending (id, fence, status, error_code, charged, cost)
  ), gone as (
    delete from open_jobs using ending where job_id = ending.id and open_jobs.fence = ending.fence returning job_id as id
  ), ended as (
    update jobs set status = ending.status, error_code = ending.error_code, charged = ending.charged, cost = ending.cost,
      finished_at = $1,
      updated_at = $1, progress = case when ending.status = 'succeeded' then 100 else jobs.progress end,
      accepted_at = case when ending.status = 'queue_expired' then null else coalesce(jobs.accepted_at, $1) end
    from ending join gone using (id)
    where jobs.id = ending.id
      and (jobs.status = 'queued' or (jobs.status = 'running' and ending.status <> 'queue_expired'))
    returning jobs.id
  ), written as (
    insert into job_attempts (${ATTEMPT_COLUMNS})
    select attempt.*
    from unnest($7::text[], $8::int[], $9::text[], $10::text[], $11::int[], $12::text[], $13::json[], $14::json[],
      $15::json[], $16::text[], $17::text[], $18::int[], $19::timestamptz[], $20::timestamptz[]) as attempt (${ATTEMPT_COLUMNS})
    join ended on ended.id = attempt.job_id
    ${ATTEMPT_CONFLICT}
  )
  select id from ended`;

/** Jobs that are due and not leased. */
export async function countDue(db: Db, now: Date): Promise<number> {
  const [row] = await db.rows<{ due: number }>('select count(*)::int as due from open_jobs where due_at <= $1', [now]);
  return row?.due ?? 0;
}
