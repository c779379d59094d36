import type { Caller } from '../accounts/index.ts';
import type { ListedModel } from '../catalogue/index.ts';
import { ApiError } from '../errors.ts';
import type { MediaRequest } from '../schemas/index.ts';
import { type Candidate, type CandidateDeps, candidatesFor } from './candidates.ts';
import { type Accepts, checkFits, narrowAccepts } from './fits.ts';

/** A vendor's work, as far as it judges requests. */
interface Judge<Request> {
  check(request: Request, upstreamModel: string): void;
}

/** Who can do this request for media by the work that `workOf` finds, undefined where there is none. */
export function ableCandidates<Request extends MediaRequest<unknown>>(
  deps: CandidateDeps,
  caller: Pick<Caller, 'groups'>,
  model: ListedModel,
  request: Request,
  workOf: (candidate: Candidate, accepts: Accepts) => Judge<Request> | undefined,
): Candidate[] {
  return judgedCandidates(deps, caller, model, (candidate, accepts) => {
    const work = workOf(candidate, accepts);
    if (work === undefined) return false;
    checkFits(accepts, request);
    work.check(request, candidate.upstreamModel);
    return true;
  });
}

/**
 * Those of which `isAble` says so; it throws the ApiError that names what is at fault with the request. When none can for
 * such a reason, the first of these is thrown; else as `candidatesFor` does.
 */
export function judgedCandidates(
  deps: CandidateDeps,
  caller: Pick<Caller, 'groups'>,
  model: ListedModel,
  isAble: (candidate: Candidate, accepts: Accepts) => boolean,
): Candidate[] {
  let refusal: ApiError | undefined;
  try {
    return candidatesFor(deps, caller, model, (candidate) => {
      try {
        return isAble(candidate, narrowAccepts(model.accepts, candidate.accepts));
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
