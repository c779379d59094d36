import type { Db, Queries, Tx } from '../db/index.ts';
import { parseJson } from '../json.ts';
import type { Job } from './job.ts';
import { JOB_COLUMNS } from './store.ts';

/** A video job with what was asked and what was made of it. */
export interface VideoJob extends Job {
  readonly prompt: string | null;
  /** As they were asked for; null where that was left to the model. */
  readonly seconds: number | null;
  readonly size: string | null;
  /** Null until there is a result. */
  readonly madeSeconds: number | null;
  readonly madeWidth: number | null;
  readonly madeHeight: number | null;
}

export interface VideoPage {
  readonly after: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

/** What its account has deleted counts as not there, and so does what succeeded and has no results any more. */
const VIDEO_JOBS = `select ${JOB_COLUMNS}, request::text as body, "madeSeconds", "madeWidth", "madeHeight"
  from jobs left join lateral (
    select seconds as "madeSeconds", width as "madeWidth", height as "madeHeight", true as "isKept"
    from job_assets made where made.job_id = jobs.id and made.kind = 'video' order by ordinal limit 1) made on true
  where account_id = $1 and kind = 'video' and deleted_at is null and (status <> 'succeeded' or "isKept")`;

export async function selectVideo(db: Queries, accountId: string, id: string): Promise<VideoJob | undefined> {
  const [row] = await db.rows<VideoRow>(`${VIDEO_JOBS} and id = $2`, [accountId, id]);
  return row === undefined ? undefined : videoOf(row);
}

/** By the time of their creation. An `after` that is no job of this account gives nothing. */
export async function selectVideos(db: Db, accountId: string, { after, limit, order }: VideoPage): Promise<VideoJob[]> {
  const isBeyond = order === 'desc' ? '<' : '>';
  const rows = await db.rows<VideoRow>(
    `${VIDEO_JOBS} and ($2::text is null or (created_at, id) ${isBeyond} (
       select place.created_at, place.id from jobs place where place.id = $2 and place.account_id = $1))
     order by created_at ${order}, id ${order} limit $3`,
    [accountId, after ?? null, limit],
  );
  return rows.map(videoOf);
}

type VideoRow = Omit<VideoJob, 'prompt' | 'seconds' | 'size'> & { readonly body: string };

/** The request is read here, because PostgreSQL reads nothing of a JSON text with a NUL in it, as a prompt may have. */
function videoOf({ body, ...row }: VideoRow): VideoJob {
  const { request } = parseJson(body).value as { request: Partial<Pick<VideoJob, 'prompt' | 'seconds' | 'size'>> };
  const { prompt = null, seconds = null, size = null } = request;
  return { ...row, prompt, seconds, size };
}

/** Marks an ended job as deleted and deletes its results. Tells where they lie in the store. Harmless when repeated. */
export async function deleteResults(tx: Tx, accountId: string, jobId: string, now: Date): Promise<string[]> {
  await tx.run(
    `update jobs set deleted_at = $3
     where id = $2 and account_id = $1 and finished_at is not null and deleted_at is null`,
    [accountId, jobId, now],
  );
  const rows = await tx.rows<{ objectKey: string }>(
    `delete from job_assets using jobs
     where job_id = jobs.id and jobs.id = $2 and account_id = $1 and finished_at is not null
     returning object_key as "objectKey"`,
    [accountId, jobId],
  );
  return rows.map(({ objectKey }) => objectKey);
}
