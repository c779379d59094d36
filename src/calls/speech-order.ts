import type { Caller } from '../accounts/index.ts';
import { type Bill, type LengthOrder, lengthOrder, measureMedia, openBill, quote } from '../billing/index.ts';
import type { MicroCredits } from '../credits.ts';
import { ApiError, UpstreamError } from '../errors.ts';
import { atField } from '../parse.ts';
import { ableCandidates, asksForVoiceDesign, type Candidate, firstThatWorks, modelFor } from '../routing/index.ts';
import { type MediaSource, type SoundRequest, urlsIn } from '../schemas/index.ts';
import { inMemoryMedia, type Media, type SpeechWork, type Upstream } from '../vendors/index.ts';
import type { CallContext, CallDeps } from './deps.ts';
import { readSample } from './speech-sample.ts';

/** A request for speech that was admitted: who can do it, and what is held for it. */
export interface SpeechOrder {
  readonly deps: CallDeps;
  readonly context: CallContext;
  readonly accountId: string;
  readonly request: SoundRequest<Media>;
  readonly candidates: readonly Candidate[];
  readonly isDesign: boolean;
  readonly bill: Bill;
  /** What each clip counts in characters, and how long it was ordered to be. */
  readonly charactersPerClip: number;
  readonly clipLength: LengthOrder;
  /** What it will cost, where that is known already: one clip, at a price that does not ask how long it is. */
  readonly credits: MicroCredits | undefined;
}

/** Throws ApiError, and then nothing is held and no upstream was asked. */
export async function openOrder(
  deps: CallDeps,
  caller: Caller,
  soundRequest: SoundRequest<MediaSource>,
  context: CallContext,
): Promise<SpeechOrder> {
  const model = modelFor(deps, caller, soundRequest.model, 'audio_speech');
  const isDesign = asksForVoiceDesign(model.accepts, soundRequest);
  const able = (request: SoundRequest<Media>) =>
    ableCandidates(deps, caller, model, request, ({ vendor }, accepts) =>
      isDesign && (vendor.speech?.design === undefined || !accepts.voice_design) ? undefined : vendor.speech,
    );
  const atFirst = able({ ...soundRequest, referenceAudio: soundRequest.referenceAudio.map(unread) });
  const { units, selectors } = measureMedia(soundRequest, 'audio_speech', model);
  const quoted = quote(model.pricing, selectors, units);
  // What is only passed on is not fetched here; an upstream may, so it must be something that could be.
  for (const url of urlsIn(soundRequest.extra)) deps.guardedFetch.check(url);
  const { accountId, keyId, hasKeyLimit } = caller;
  const samples = soundRequest.referenceAudio.map((source, place) =>
    readSample(deps, accountId, source, context.signal).catch((error: unknown) => {
      throw atField(error, (source.from === 'bytes' && source.field) || `reference_audio[${place}]`);
    }),
  );
  const request = { ...soundRequest, referenceAudio: await Promise.all(samples) };
  // Some models are particular about what a sample is, and that is known only now.
  const ableNow = samples.length === 0 ? atFirst : able(request);
  const answer = request.output === 'binary' && !isDesign ? 'stream' : 'whole';
  const candidates = deps.health.preferred(model, ableNow, { units, selectors, answer });
  const { requestId, trace } = context;
  const booked = { accountId, keyId, hasKeyLimit, requestId, model: model.id, endpoint: 'audio_speech', trace };
  const bill = await openBill(deps, booked, quoted);
  const isByLength = quoted.price.rates.some(({ unit }) => unit === 'milliseconds');
  return {
    deps,
    context,
    accountId,
    request,
    candidates,
    isDesign,
    bill,
    charactersPerClip: (units.characters ?? 0) / soundRequest.n,
    clipLength: lengthOrder(units, soundRequest.n),
    credits: isByLength || soundRequest.n > 1 ? undefined : quoted.amount,
  };
}

/** Until it is read, a sample is what every model takes. */
function unread(): Media {
  return inMemoryMedia(Buffer.alloc(0), 'audio/mpeg');
}

/** As `firstThatWorks`; when the last of them gave something that is no sound, the caller is told that. */
export async function firstThatSpeaks<Result>(
  { deps, context }: SpeechOrder,
  candidates: readonly Candidate[],
  signal: AbortSignal,
  ask: (work: SpeechWork, upstream: Upstream, candidate: Candidate) => Promise<Result>,
): Promise<Result> {
  try {
    return await firstThatWorks(deps, candidates, { ...context, signal }, (candidate, upstream) =>
      ask(workOf(candidate), upstream, candidate),
    );
  } catch (error) {
    const isEmpty =
      error instanceof ApiError && error.cause instanceof UpstreamError && error.cause.fault === 'garbled';
    throw isEmpty ? new ApiError('empty_audio_response', { cause: error.cause }) : error;
  }
}

function workOf({ vendor }: Candidate): SpeechWork {
  if (vendor.speech === undefined) throw new Error(`vendor ${vendor.name} has no speech`);
  return vendor.speech;
}
