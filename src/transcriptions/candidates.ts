import type { Caller } from '../accounts/index.ts';
import type { ListedModel } from '../catalogue/index.ts';
import { ApiError } from '../errors.ts';
import type { TranscriptionRequest } from '../requests/index.ts';
import { type Candidate, candidatesFor, narrowed } from '../routing/index.ts';
import type { TranscriptionWork } from '../vendors/index.ts';
import type { TranscriptionParts } from './parts.ts';

/**
 * Who can transcribe this; `seconds` once they are known. Throws the ApiError that names what is at fault when nobody can
 * for a reason of the request's; else as `candidatesFor` does.
 */
export function ableCandidates(
  parts: TranscriptionParts,
  caller: Pick<Caller, 'groups'>,
  model: ListedModel,
  request: TranscriptionRequest,
  seconds = 0,
): Candidate[] {
  let refusal: ApiError | undefined;
  try {
    return candidatesFor(parts, caller, model, ({ vendor, accepts, upstreamModel }) => {
      if (vendor.transcription === undefined) return false;
      try {
        checkLength(narrowed(model.accepts, accepts).seconds_max, seconds);
        vendor.transcription.check(request, upstreamModel);
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

function checkLength(most = Number.POSITIVE_INFINITY, seconds: number): void {
  if (seconds > most) {
    throw new ApiError('unsupported_parameter', { message: `"file": this model takes at most ${most} seconds.` });
  }
}

export function workOf({ vendor }: Candidate): TranscriptionWork {
  if (vendor.transcription === undefined) throw new Error(`vendor ${vendor.name} transcribes nothing`);
  return vendor.transcription;
}
