import { randomUUIDv7 } from 'node:crypto';
import type { Caller } from '../accounts/index.ts';
import { isRefusal, measureTranscription, quote } from '../billing/index.ts';
import { abandonInput, type BufferedMedia, releaseMemory, type StoredMedia } from '../objects/index.ts';
import type { RequestTrace } from '../request-log/index.ts';
import { modelFor } from '../routing/index.ts';
import { type TranscriptionRequest, urlsIn } from '../schemas/index.ts';
import { ableCandidates } from './candidates.ts';
import type { TranscriptionDeps } from './deps.ts';
import { audioFileOf, fetchClip, secondsOf } from './input.ts';
import type { Wanted } from './record.ts';
import type { Started, Transcriptions } from './transcriptions.ts';

export interface StartDeps extends TranscriptionDeps {
  readonly transcriptions: Transcriptions;
}

export interface TranscriptionOrder {
  /** Made here, never the caller's own. */
  readonly id: string;
  readonly request: TranscriptionRequest;
  /** What has been received already, or where it is to be fetched from. */
  readonly clip: BufferedMedia | StoredMedia | { readonly url: string };
  /** Aborted when the caller leaves; that counts until the credits are held. */
  readonly signal: AbortSignal;
  readonly trace: RequestTrace;
}

/**
 * Turns a checked request into a record with its credits held, on which the work has begun. Throws ApiError, and then
 * nothing is held, kept or asked of an upstream; `precheck_failed` alone leaves that open.
 */
export async function startTranscription(deps: StartDeps, caller: Caller, order: TranscriptionOrder): Promise<Started> {
  const { request, clip, signal } = order;
  const model = modelFor(deps, caller, request.model, 'transcriptions');
  ableCandidates(deps, caller, model, request);
  // What is only passed on is not fetched here; an upstream may, so it must be something that could be.
  for (const url of urlsIn(request.extra)) deps.guardedFetch.check(url);
  const input = 'mimeType' in clip ? clip : await fetchClip(deps, caller.accountId, clip.url, signal);
  try {
    const audio = audioFileOf(deps, input);
    const able = ableCandidates(deps, caller, model, request, audio.seconds);
    const { units, selectors } = measureTranscription(audio.seconds);
    const candidates = deps.health.preferred(model, able, { units, selectors, answer: 'task' });
    const { amount, price, priceText } = quote(model.pricing, selectors, units);
    const record = recordOf(deps, caller, order, input);
    const { accountId, keyId } = caller;
    const booked = {
      accountId,
      keyId,
      requestId: order.id,
      jobId: undefined,
      model: model.id,
      endpoint: 'transcriptions',
    };
    const reservation = { ...booked, id: record.reservationId, amount, price: priceText };
    return await deps.transcriptions.begin(
      { record, reservation, price, inputs: input.key === undefined ? [] : [input.key] },
      {
        request,
        audio,
        candidates,
        trace: order.trace,
        release: () => releaseMemory(input),
      },
    );
  } catch (error) {
    await abandonInput(deps, input, !isRefusal(error));
    throw error;
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

function recordOf(
  { clock, transcriptDays }: TranscriptionDeps,
  { accountId, keyId }: Caller,
  { id, request }: TranscriptionOrder,
  input: BufferedMedia | StoredMedia,
) {
  const createdAt = clock.now();
  return {
    id,
    accountId,
    keyId,
    model: request.model,
    wanted: wantedOf(request),
    objectKey: input.key ?? null,
    seconds: secondsOf(input),
    reservationId: randomUUIDv7(),
    createdAt,
    expiresAt: transcriptDays < 0 ? null : new Date(createdAt.getTime() + transcriptDays * DAY_MS),
  };
}

function wantedOf({ task, responseFormat, language, temperature, granularities }: TranscriptionRequest): Wanted {
  return { task, responseFormat, language, temperature, granularities };
}
