import { type Actor, recordChange } from '../audit/index.ts';
import { ApiError } from '../errors.ts';
import { deleteObjectsAt } from '../objects/index.ts';
import type { JobDeps } from './deps.ts';
import { isTerminal } from './job.ts';
import { isJobId } from './read.ts';
import { deleteResults, selectVideo, type VideoJob } from './videos-store.ts';

export { selectVideos as listVideos } from './videos-store.ts';

/** Throws `job_not_found`, alike for what is not there, what is another account's, what is no video and what was deleted. */
export async function getVideo({ db }: Pick<JobDeps, 'db'>, accountId: string, id: string): Promise<VideoJob> {
  const video = isJobId(id) ? await selectVideo(db, accountId, id) : undefined;
  if (video === undefined) throw new ApiError('job_not_found');
  return video;
}

/**
 * Forgets a video that has ended, with its results if it has some; the job and what it cost stay. Throws
 * `job_asset_not_ready` for one that runs: there is no cancel.
 */
export async function deleteVideo(deps: JobDeps, by: Actor, accountId: string, id: string): Promise<void> {
  const video = await getVideo(deps, accountId, id);
  if (!isTerminal(video)) {
    throw new ApiError('job_asset_not_ready', { message: 'The video is still being made and cannot be deleted yet.' });
  }
  const now = deps.clock.now();
  await deps.db.transaction(async (tx) => {
    const keys = await deleteResults(tx, accountId, id, now);
    await deleteObjectsAt(tx, keys, now);
    await recordChange(tx, by, { at: now, action: 'video.delete', target: id, detail: { account: accountId } });
  });
}
