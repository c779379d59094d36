import type { Caller } from '../accounts/index.ts';
import type { ListedModel } from '../catalogue/index.ts';
import { type Candidate, judgedCandidates } from '../routing/index.ts';
import type { TranscriptionRequest } from '../schemas/index.ts';
import { unsupported, unsupportedWork } from '../unsupported.ts';
import type { TranscriptionWork } from '../vendors/index.ts';
import type { TranscriptionDeps } from './deps.ts';

/** Who can transcribe this; `seconds` once they are known. Throws as `judgedCandidates` does. */
export function ableCandidates(
  deps: TranscriptionDeps,
  caller: Pick<Caller, 'groups'>,
  model: ListedModel,
  request: TranscriptionRequest,
  seconds = 0,
): Candidate[] {
  return judgedCandidates(deps, caller, model, ({ vendor, upstreamModel }, accepts) => {
    if (vendor.transcription === undefined) return false;
    if (request.task === 'translate' && vendor.transcription.translates?.(upstreamModel) !== true)
      throw unsupportedWork('translate');
    checkLength(accepts.seconds_max, seconds);
    vendor.transcription.check(request, upstreamModel);
    return true;
  });
}

function checkLength(most = Number.POSITIVE_INFINITY, seconds: number): void {
  if (seconds > most) throw unsupported('file', { atMost: most, unit: 'seconds' });
}

export function workOf({ vendor }: Candidate): TranscriptionWork {
  if (vendor.transcription === undefined) throw new Error(`vendor ${vendor.name} transcribes nothing`);
  return vendor.transcription;
}
