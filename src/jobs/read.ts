import { ApiError } from '../errors.ts';
import { LINK_MS, OUTPUT_KEPT_MS } from '../limits.ts';
import { StorageUnavailable } from '../storage/index.ts';
import type { JobDeps } from './deps.ts';
import type { Job } from './job.ts';
import { type Asset, type JobFilter, selectAssets, selectJob, selectJobs } from './store.ts';

const JOB_ID = /^job_[A-Za-z0-9_-]{10,64}$/;

export function isJobId(id: string): boolean {
  return JOB_ID.test(id);
}

/** Throws `job_not_found`, alike for what is not there and what is another account's. */
export async function getJob({ db }: Pick<JobDeps, 'db'>, accountId: string, id: string): Promise<Job> {
  const job = isJobId(id) ? await selectJob(db, accountId, id) : undefined;
  if (job === undefined) throw new ApiError('job_not_found');
  return job;
}

/** Newest first. */
export function listJobs({ db }: Pick<JobDeps, 'db'>, accountId: string, filter: JobFilter): Promise<Job[]> {
  return selectJobs(db, accountId, filter);
}

export interface LinkedAsset extends Asset {
  readonly url: string;
  readonly expiresAt: Date;
  /** What holds it. */
  readonly storage: JobDeps['objects']['kind'];
}

/** Freshly signed. Throws `job_asset_not_ready` as long as there are none; none any more is an empty list. */
export async function getAssets(
  deps: JobDeps,
  accountId: string,
  id: string,
  linkMs = LINK_MS,
): Promise<LinkedAsset[]> {
  const job = await getJob(deps, accountId, id);
  if (job.status !== 'succeeded') throw new ApiError('job_asset_not_ready');
  const now = deps.clock.now();
  if (isGone(job, now)) return [];
  return linked(deps, await selectAssets(deps.db, job.id), now, linkMs);
}

async function linked(deps: JobDeps, assets: readonly Asset[], now: Date, linkMs: number): Promise<LinkedAsset[]> {
  const expiresAt = new Date(now.getTime() + linkMs);
  try {
    return await Promise.all(
      assets.map(async (asset) => ({
        ...asset,
        storage: deps.objects.kind,
        expiresAt,
        url: await linkTo(deps, asset, now, expiresAt),
      })),
    );
  } catch (error) {
    if (error instanceof StorageUnavailable) throw new ApiError('job_service_unavailable', { cause: error });
    throw error;
  }
}

function linkTo({ objects }: JobDeps, asset: Asset, now: Date, expiresAt: Date): Promise<string> {
  const { objectKey, mimeType, kind, ordinal } = asset;
  return objects.link(objectKey, { mimeType, fileName: fileNameOf(kind, ordinal, mimeType), expiresAt, now });
}

export function fileNameOf(what: string, place: number, mimeType: string): string {
  return `${what}-${place}.${extensionOf(mimeType)}`;
}

function isGone({ finishedAt }: Job, now: Date): boolean {
  return finishedAt !== null && now.getTime() >= finishedAt.getTime() + OUTPUT_KEPT_MS;
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'video/quicktime': 'mov',
};

function extensionOf(mimeType: string): string {
  return EXTENSIONS[mimeType] ?? mimeType.replace(/^\w+\/(x-)?/, '');
}
