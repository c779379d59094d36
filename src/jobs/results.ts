import { ApiError } from '../errors.ts';
import type { JobDeps } from './deps.ts';
import { getAssets, type LinkedAsset } from './read.ts';
import { selectJobOfAsset } from './store.ts';

/** One result by its own id. Throws `job_not_found`, alike for what is not there, not kept any more, or another account's. */
export async function findAsset(deps: JobDeps, accountId: string, id: string): Promise<LinkedAsset> {
  const jobId = await selectJobOfAsset(deps.db, accountId, id);
  const assets = jobId === undefined ? [] : await getAssets(deps, accountId, jobId);
  const asset = assets.find((each) => each.id === id);
  if (asset === undefined) throw new ApiError('job_not_found');
  return asset;
}
