import type { Caller } from '../accounts/index.ts';
import { measureMedia } from '../billing/index.ts';
import type { ListedModel } from '../catalogue/index.ts';
import { ApiError } from '../errors.ts';
import { ableCandidates, type Candidate, modelFor } from '../routing/index.ts';
import type { MediaRequest } from '../schemas/index.ts';
import type { Media } from '../vendors/index.ts';
import type { JobDeps } from './deps.ts';
import type { LeasedJob } from './job.ts';
import { forVendor, taskWorkOf } from './task-work.ts';

/** Who can do this request, as routing tells. */
export function candidatesOf(
  deps: JobDeps,
  caller: Pick<Caller, 'groups'>,
  model: ListedModel,
  request: MediaRequest<Media>,
): Candidate[] {
  return ableCandidates(deps, caller, model, request, ({ vendor }) => taskWorkOf(vendor, request.kind));
}

/** For a job that is waiting: none, while its model is withdrawn or every breaker keeps requests away. */
export function jobCandidates(deps: JobDeps, job: LeasedJob['job']): readonly Candidate[] {
  try {
    const model = modelFor(deps, job, job.model, job.endpoint);
    const candidates = candidatesOf(deps, job, model, forVendor(deps, job.request));
    const { selectors } = measureMedia(job.request, job.endpoint, model);
    return deps.health.preferred(model, candidates, { units: job.estimate, selectors, answer: 'task' });
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}
