import type { Caller } from '../accounts/index.ts';
import { lengthExcess } from '../billing/index.ts';
import type { MicroCredits } from '../credits.ts';
import { ApiError, UpstreamError } from '../errors.ts';
import { SPEECH_INLINE_BYTES_MAX } from '../limits.ts';
import { type Candidate, noteLateFault, noteOverclaim } from '../routing/index.ts';
import type { MediaSource, SoundRequest } from '../schemas/index.ts';
import type { CallContext, CallDeps } from './deps.ts';
import { Clip, clipUnits, type Length } from './speech-clip.ts';
import { type Content, deliverContent, tooLargeToInline } from './speech-content.ts';
import { designVoices, type VoicePreviews } from './speech-design.ts';
import { firstThatSpeaks, openOrder, type SpeechOrder } from './speech-order.ts';
import type { Sound } from './speech-sound.ts';
import { openSpeech } from './speech-source.ts';

/** How often a long clip notes what is owed, so that a process that dies in it loses little. */
const NOTE_EVERY_MS = 2_000;

/** The first clip, as it comes. */
export interface SpeechStream {
  readonly kind: 'stream';
  readonly sound: Sound;
  /** Ends with the error to be told. However it ends, what was delivered is charged. */
  readonly pieces: AsyncIterable<Buffer>;
  /** What the call costs, where that is known from the start. */
  readonly credits: MicroCredits | undefined;
  /** What was charged, once the pieces have ended. */
  readonly charged: () => MicroCredits | undefined;
}

/** Every clip that was made, settled. */
export interface SpeechClips {
  readonly kind: 'clips';
  /** At least one. */
  readonly clips: readonly MadeClip[];
  readonly characters: number;
  readonly charged: MicroCredits;
}

export interface MadeClip {
  readonly sound: Sound;
  readonly length: Length;
  readonly content: Content;
}

export type Spoken = SpeechStream | SpeechClips | VoicePreviews;

/**
 * Reads text aloud, or designs voices where that is asked. A stream begins with its first bytes in hand: until then a
 * failure is an error and another candidate may be tried. Throws ApiError, and then nothing is charged.
 */
export async function speak(
  deps: CallDeps,
  caller: Caller,
  soundRequest: SoundRequest<MediaSource>,
  context: CallContext,
): Promise<Spoken> {
  try {
    return await orRefund(await openOrder(deps, caller, soundRequest, context));
  } catch (error) {
    throw context.signal.aborted ? new ApiError('request_canceled', { cause: error }) : error;
  }
}

async function orRefund(order: SpeechOrder): Promise<Spoken> {
  try {
    if (order.isDesign) return await designVoices(order);
    return await (order.request.output === 'binary' ? startStream(order) : makeClips(order));
  } catch (error) {
    await order.bill.refund();
    throw error;
  }
}

async function startStream(order: SpeechOrder): Promise<SpeechStream> {
  const { candidates, context, request, credits } = order;
  const begun = await firstThatSpeaks(order, candidates, context.signal, async (work, upstream, candidate) => ({
    clip: await Clip.begin(await openSpeech(order.deps, await work.speak(request, upstream), upstream.signal)),
    candidate,
  }));
  const result: { charged?: MicroCredits } = {};
  return {
    kind: 'stream',
    sound: begun.clip.sound,
    pieces: delivered(order, begun, result),
    credits,
    charged: () => result.charged,
  };
}

interface BegunClip {
  readonly clip: Clip;
  readonly candidate: Candidate;
}

async function* delivered(
  order: SpeechOrder,
  { clip, candidate }: BegunClip,
  result: { charged?: MicroCredits },
): AsyncGenerator<Buffer, void, void> {
  const { deps, context, bill, charactersPerClip, clipLength } = order;
  const others = new FurtherClips(order, candidate);
  let notedAtMs = performance.now();
  try {
    for await (const piece of clip.pieces()) {
      yield piece;
      if (performance.now() - notedAtMs < NOTE_EVERY_MS) continue;
      notedAtMs = performance.now();
      // If it is not noted, the next note or the settlement says it all again.
      bill.meter(clipUnits(charactersPerClip, clipLength, [clip.reckoned(clipLength)])).catch(() => undefined);
    }
    await others.lengths;
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    noteLateFault(deps, candidate, context.requestId, error);
    throw new ApiError('upstream_failed', { cause: error });
  } finally {
    await using _clip = clip;
    others.giveUp();
    const length = await clip.length(clipLength);
    noteLongClip(order, candidate, length);
    const lengths = [length, ...(await others.lengths)];
    result.charged = await bill.settle(clipUnits(charactersPerClip, clipLength, lengths));
  }
}

/** Further clips beside one that is streamed: they have no place in its answer, and are made and charged all the same. */
class FurtherClips {
  readonly lengths: Promise<readonly Length[]>;
  readonly #leaving = new AbortController();

  constructor(order: SpeechOrder, candidate: Candidate) {
    const signals = [order.context.signal, this.#leaving.signal];
    this.lengths =
      order.request.n === 1
        ? Promise.resolve([])
        : lengthsOf(furtherClips(order, candidate, AbortSignal.any(signals)), order);
  }

  giveUp(): void {
    this.#leaving.abort();
  }
}

async function lengthsOf(making: Promise<readonly Clip[]>, { clipLength }: SpeechOrder): Promise<readonly Length[]> {
  return Promise.all(
    (await making).map(async (made) => {
      await using clip = made;
      return await clip.length(clipLength);
    }),
  );
}

async function makeClips(order: SpeechOrder): Promise<SpeechClips> {
  const { candidates, context, request, bill, charactersPerClip, clipLength } = order;
  const begun = Promise.withResolvers<Candidate>();
  const making = wholeClip(order, 0, candidates, context.signal, begun.resolve);
  making.catch(begun.reject);
  // Together with the first, once that has begun; if it never does, neither do they.
  const further = begun.promise.then(
    (candidate) => furtherClips(order, candidate, context.signal),
    () => [],
  );
  const [first, others] = [(await Promise.allSettled([making]))[0], await further];
  const made = first.status === 'fulfilled' ? [first.value, ...others] : others;
  if (first.status === 'rejected' && others.length === 0) throw first.reason;
  await using stack = new AsyncDisposableStack();
  for (const clip of made) stack.use(clip);
  const inline = made.reduce((sum, { bytes }) => sum + bytes, 0);
  if (request.output === 'b64_json' && inline > SPEECH_INLINE_BYTES_MAX) throw tooLargeToInline();
  const clips = await Promise.all(
    made.map(async (clip) => ({
      sound: clip.sound,
      length: await clip.length(clipLength),
      content: await deliverContent(order, { sound: clip.sound, bytes: clip.bytes, pieces: () => clip.stored() }),
    })),
  );
  const lengths = clips.map(({ length }) => length);
  const charged = await bill.settle(clipUnits(charactersPerClip, clipLength, lengths));
  return { kind: 'clips', clips, characters: charactersPerClip * made.length, charged };
}

/** What is longer than ordered is delivered as it is and charged as ordered. */
function noteLongClip(
  { deps, context, clipLength }: SpeechOrder,
  candidate: Candidate,
  { milliseconds }: Length,
): void {
  const excess = lengthExcess(milliseconds, clipLength);
  if (excess !== undefined) noteOverclaim(deps, candidate, context.requestId, excess);
}

/** Those that succeed, in their order. Each begins at the candidate that served the first, and counts its seed on. */
async function furtherClips(order: SpeechOrder, candidate: Candidate, signal: AbortSignal): Promise<readonly Clip[]> {
  const rest = order.candidates.slice(order.candidates.indexOf(candidate));
  // Waited for whole, where the first is timed to its first piece.
  const candidates = rest.map((one) => ({ ...one, latency: undefined }));
  const indexes = Array.from({ length: order.request.n - 1 }, (_, index) => index + 1);
  const settled = await Promise.allSettled(indexes.map((index) => wholeClip(order, index, candidates, signal)));
  return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

/** Nothing of it has been sent, so one that breaks off is made elsewhere. */
function wholeClip(
  order: SpeechOrder,
  index: number,
  candidates: readonly Candidate[],
  signal: AbortSignal,
  onBegun?: (candidate: Candidate) => void,
): Promise<Clip> {
  const { seed, output } = order.request;
  const request = { ...order.request, seed: seed === undefined ? undefined : seed + index };
  return firstThatSpeaks(order, candidates, signal, async (work, upstream, candidate) => {
    const clip = await Clip.begin(await openSpeech(order.deps, await work.speak(request, upstream), upstream.signal));
    onBegun?.(candidate);
    try {
      for await (const _ of clip.pieces()) {
        if (output === 'b64_json' && clip.bytes > SPEECH_INLINE_BYTES_MAX) throw tooLargeToInline();
      }
      await clip.refuseImpossible();
      noteLongClip(order, candidate, await clip.length(order.clipLength));
      return clip;
    } catch (error) {
      await clip[Symbol.asyncDispose]();
      throw error;
    }
  });
}
