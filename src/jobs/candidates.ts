import type { Caller } from '../accounts/index.ts';
import type { ListedModel } from '../catalogue/index.ts';
import { ApiError } from '../errors.ts';
import type { MediaRequest } from '../requests/index.ts';
import { type Candidate, candidatesFor, checkFits, modelFor, narrowed } from '../routing/index.ts';
import type { Media } from '../vendors/index.ts';
import type { HeldJob } from './job.ts';
import type { JobParts } from './parts.ts';
import { forVendor, taskWorkOf } from './task-work.ts';

/**
 * Who can do this request. Throws the ApiError that names the field at fault when nobody can for a reason of the
 * request's; else as `candidatesFor` does.
 */
export function ableCandidates(
  parts: JobParts,
  caller: Pick<Caller, 'groups'>,
  model: ListedModel,
  request: MediaRequest<Media>,
): Candidate[] {
  let refusal: ApiError | undefined;
  try {
    return candidatesFor(parts, caller, model, ({ vendor, accepts, upstreamModel }) => {
      const work = taskWorkOf(vendor, request.kind);
      if (work === undefined) return false;
      try {
        checkFits(narrowed(model.accepts, accepts), request);
        work.check(request, upstreamModel);
        return true;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        refusal ??= error;
        return false;
      }
    });
  } catch (error) {
    throw refusal !== undefined && error instanceof ApiError && error.code === 'no_capable_provider' ? refusal : error;
  }
}

/** For a job that is waiting: nobody, while its model is withdrawn or everybody is cooling down. */
export function jobCandidates(parts: JobParts, job: HeldJob['job']): Candidate[] {
  try {
    const model = modelFor(parts, job, job.model, job.endpoint);
    return ableCandidates(parts, job, model, forVendor(parts, job.request));
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}
