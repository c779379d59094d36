import type { Endpoint } from '../configuration/index.ts';
import type { Db, Queries, Tx } from '../db/index.ts';
import { parseJson } from '../json.ts';
import type { StoredMedia } from '../objects/index.ts';
import type { MediaRequest } from '../schemas/index.ts';
import type { Collected, Job, JobKind, JobStatus, LeasedJob } from './job.ts';

/** A job as it is admitted. */
export interface NewJob
  extends Pick<
    LeasedJob['job'],
    'id' | 'accountId' | 'kind' | 'endpoint' | 'model' | 'groups' | 'wanted' | 'estimate'
  > {
  /** An API key or a grant to an app; undefined is the console. */
  readonly keyId: string | undefined;
  readonly requestId: string;
  readonly reservationId: string;
  readonly request: MediaRequest<StoredMedia>;
  readonly traceparent: string | undefined;
  readonly createdAt: Date;
  readonly dispatchDeadlineAt: Date;
  /** How many open jobs the account has before it. */
  readonly behind: number;
}

const PLACE_HANDICAP_MS = 1_000;

export async function insertJobs(tx: Tx, jobs: readonly NewJob[]): Promise<void> {
  const place = ({ createdAt, behind }: NewJob) => new Date(createdAt.getTime() + behind * PLACE_HANDICAP_MS);
  await tx.run(
    `with job as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[],
         $9::json[], $10::text[], $11::uuid[], $12::timestamptz[], $13::timestamptz[], $14::timestamptz[])
         as job (id, account_id, key_id, groups, kind, endpoint, model, wanted, request, request_id, reservation_id,
           created_at, deadline, place)
     ), made as (
       insert into jobs (id, account_id, key_id, groups, kind, endpoint, model, status, wanted, request, request_id,
         reservation_id, created_at, dispatch_deadline_at)
       select id, account_id, key_id, string_to_array(groups, ' '), kind, endpoint, model, 'queued', wanted, request,
         request_id, reservation_id, created_at, deadline
       from job
     )
     insert into open_jobs (job_id, account_id, due_at, place) select id, account_id, created_at, place from job`,
    [
      jobs.map((job) => job.id),
      jobs.map((job) => job.accountId),
      jobs.map((job) => job.keyId ?? null),
      // A group's name has no space.
      jobs.map((job) => job.groups.join(' ')),
      jobs.map((job) => job.kind),
      jobs.map((job) => job.endpoint),
      jobs.map((job) => job.model),
      jobs.map((job) => job.wanted),
      jobs.map(({ request, estimate, traceparent }) => JSON.stringify({ request, estimate, traceparent })),
      jobs.map((job) => job.requestId),
      jobs.map((job) => job.reservationId),
      jobs.map((job) => job.createdAt),
      jobs.map((job) => job.dispatchDeadlineAt),
      jobs.map(place),
    ],
  );
}

/** How many open jobs each account has. Only right under the accounts' lock. */
export async function countOpen(tx: Tx, accountIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx.rows<{ id: string; open: number }>(
    `select account_id as id, count(*)::int as open from open_jobs where account_id = any ($1) group by account_id`,
    [accountIds],
  );
  return new Map(rows.map(({ id, open }) => [id, open]));
}

export const JOB_COLUMNS = `id, account_id as "accountId", kind, model, status, progress, created_at as "createdAt",
  updated_at as "updatedAt", accepted_at as "acceptedAt", finished_at as "finishedAt",
  dispatch_deadline_at as "dispatchDeadlineAt", error_code as "errorCode", charged`;

export async function selectJob(db: Queries, accountId: string, id: string): Promise<Job | undefined> {
  const [row] = await db.rows<Job>(`select ${JOB_COLUMNS} from jobs where id = $2 and account_id = $1`, [
    accountId,
    id,
  ]);
  return row;
}

/** Which of these jobs have ended. */
export async function selectEnded(db: Queries, ids: readonly string[]): Promise<string[]> {
  const rows = await db.rows<{ id: string }>('select id from jobs where id = any ($1) and finished_at is not null', [
    ids,
  ]);
  return rows.map(({ id }) => id);
}

/** A job with what was requested. */
export interface RequestedJob extends Job {
  readonly endpoint: Endpoint;
  readonly request: MediaRequest<StoredMedia>;
}

/** Without an account, a job of any. */
export async function selectRequestedJob(
  db: Queries,
  accountId: string | undefined,
  id: string,
): Promise<RequestedJob | undefined> {
  const [row] = await db.rows<Omit<RequestedJob, 'request'> & { body: string }>(
    `select ${JOB_COLUMNS}, endpoint, request::text as body from jobs
     where id = $2 and ($1::text is null or account_id = $1)`,
    [accountId ?? null, id],
  );
  if (row === undefined) return undefined;
  const { body, ...job } = row;
  return { ...job, ...(parseJson(body).exact() as Pick<RequestedJob, 'request'>) };
}

export interface JobFilter {
  readonly status: JobStatus | undefined;
  readonly kind: JobKind | undefined;
  /** The public name that the caller asked for. */
  readonly model: string | undefined;
  readonly after: string | undefined;
  readonly limit: number;
}

/** Newest first. An `after` that is no job of this account gives nothing. */
export function selectJobs(db: Db, accountId: string, filter: JobFilter): Promise<Job[]> {
  return db.rows<Job>(
    `select ${JOB_COLUMNS} from jobs
     where account_id = $1 and ($2::text is null or status = $2) and ($3::text is null or kind = $3)
       and ($6::text is null or model = $6)
       and ($4::text is null or (created_at, id) < (
         select created_at, id from jobs where id = $4 and account_id = $1))
     order by created_at desc, id desc limit $5`,
    [accountId, filter.status ?? null, filter.kind ?? null, filter.after ?? null, filter.limit, filter.model ?? null],
  );
}

export interface Asset extends Omit<Collected, 'key'> {
  readonly id: string;
  readonly jobId: string;
  readonly ordinal: number;
  readonly objectKey: string;
  readonly createdAt: Date;
}

interface AssetRow extends Omit<Asset, 'bytes'> {
  readonly bytes: bigint;
}

export async function insertAssets(tx: Tx, assets: readonly Asset[]): Promise<void> {
  await tx.run(
    `insert into job_assets (id, job_id, ordinal, kind, object_key, mime_type, bytes, width, height, seconds, created_at)
     select * from unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::int[],
       $9::int[], $10::float8[], $11::timestamptz[])`,
    [
      assets.map((asset) => asset.id),
      assets.map((asset) => asset.jobId),
      assets.map((asset) => asset.ordinal),
      assets.map((asset) => asset.kind),
      assets.map((asset) => asset.objectKey),
      assets.map((asset) => asset.mimeType),
      assets.map((asset) => asset.bytes),
      assets.map((asset) => asset.width ?? null),
      assets.map((asset) => asset.height ?? null),
      assets.map((asset) => asset.seconds ?? null),
      assets.map((asset) => asset.createdAt),
    ],
  );
}

/** In the order of their ordinals. */
export async function selectAssets(db: Db, jobId: string): Promise<Asset[]> {
  const rows = await db.rows<AssetRow>(
    `select id, job_id as "jobId", ordinal, kind, object_key as "objectKey", mime_type as "mimeType", bytes, width, height,
       seconds, created_at as "createdAt"
     from job_assets where job_id = $1 order by ordinal`,
    [jobId],
  );
  return rows.map((row) => ({
    ...row,
    bytes: Number(row.bytes),
    width: row.width ?? undefined,
    height: row.height ?? undefined,
    seconds: row.seconds ?? undefined,
  }));
}

/** The job that made a result of this account. */
export async function selectJobOfAsset(db: Db, accountId: string, id: string): Promise<string | undefined> {
  const [row] = await db.rows<{ jobId: string }>(
    `select job_id as "jobId" from job_assets join jobs on jobs.id = job_id
     where job_assets.id = $2 and account_id = $1`,
    [accountId, id],
  );
  return row?.jobId;
}

/** The price that each job's credits were held at. */
export async function selectPrices(db: Queries, reservationIds: readonly string[]): Promise<Map<string, unknown>> {
  const rows = await db.rows<{ id: string; price: unknown }>(
    'select r.id, price from reservations r join prices on prices.id = price_id where r.id = any ($1)',
    [reservationIds],
  );
  return new Map(rows.map(({ id, price }) => [id, price]));
}
