import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { LINK_MS } from '../limits.ts';
import { type FoundObject, findObjects, type StoredMedia } from '../objects/index.ts';
import { slots, wireBodies } from '../schemas/index.ts';
import { StorageUnavailable } from '../storage/index.ts';
import type { JobDeps } from './deps.ts';
import { fileNameOf, isJobId } from './read.ts';
import { type RequestedJob, selectRequestedJob } from './store.ts';

/** One picture or clip that a job was given. */
interface JobInput extends InputPlaces {
  /** Where it stands in the body, such as `reference_images[1]`. */
  readonly path: string;
  readonly mimeType: string;
  readonly bytes: number;
}

interface InputPlaces {
  /** A fresh link to look at it, while it is stored. */
  readonly link: string | undefined;
  /** What a new request may name: a file of the account, or the address that it was fetched from. */
  readonly url: string | undefined;
  /** Until when it is stored. */
  readonly keptUntil: Date | undefined;
}

export interface JobRequest {
  readonly job: RequestedJob;
  /** As a create call takes it again. Inputs that no new request can name are not in it. */
  readonly body: JsonObject;
  readonly inputs: readonly JobInput[];
}

/**
 * What a job was asked for. Throws `job_not_found`, alike for what is not there and what is another account's; without an
 * account, of any. Throws `job_service_unavailable` while no links can be made.
 */
export async function getJobRequest(deps: JobDeps, accountId: string | undefined, id: string): Promise<JobRequest> {
  const job = isJobId(id) ? await selectRequestedJob(deps.db, accountId, id) : undefined;
  if (job === undefined) throw new ApiError('job_not_found');
  const now = deps.clock.now();
  const named = slots.list(job.request);
  const keys = named.map(({ media }) => media.key);
  const kept = keys.length === 0 ? undefined : await findObjects(deps.db, job.accountId, keys, now);
  const places = new Map<string, InputPlaces>();
  for (const { media } of named) places.set(media.key, await placesOf(deps, media, kept?.get(media.key), now));
  const inputs = named.map(({ media: { key, mimeType, bytes }, path }) => ({
    path,
    mimeType,
    bytes,
    ...(places.get(key) ?? NOWHERE),
  }));
  return { job, body: wireBodies.toWireBody(job.request, ({ key }) => places.get(key)?.url), inputs };
}

const NOWHERE: InputPlaces = { link: undefined, url: undefined, keptUntil: undefined };

async function placesOf(
  { objects }: JobDeps,
  { key, mimeType, url }: StoredMedia,
  kept: FoundObject | undefined,
  now: Date,
): Promise<InputPlaces> {
  if (kept === undefined) return { ...NOWHERE, url };
  const expiresAt = new Date(Math.min(now.getTime() + LINK_MS, kept.deleteAt.getTime()));
  try {
    const link = await objects.link(key, { mimeType, fileName: fileNameOf('input', 0, mimeType), expiresAt, now });
    // What was stored for this job alone ends with it, and another job must not rely on it.
    return { link, url: kept.bytes > 0 ? link : url, keptUntil: kept.deleteAt };
  } catch (error) {
    if (error instanceof StorageUnavailable) throw new ApiError('job_service_unavailable', { cause: error });
    throw error;
  }
}
