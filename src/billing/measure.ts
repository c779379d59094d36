import type { ConfigModel, Endpoint } from '../configuration/index.ts';
import { isOfTier } from '../media/index.ts';
import { isWriteDearer, type Selectors, type Units } from '../pricing/index.ts';
import { type MediaRequest, type SoundRequest, slots, type VideoRequest } from '../schemas/index.ts';
import { countCharacters } from '../text/index.ts';

/** Units as estimated from a request. */
export interface Estimate extends Units {
  /** Neither the request nor its model says how long a result may be; then the length is a usual one. */
  readonly isOpenEnded?: boolean;
}

/** Of a model, all that decides a price. */
export type PricedModel = Pick<ConfigModel, 'pricing' | 'accepts' | 'max_output_tokens'>;

/** What of a request decides its price: amounts, and what selects the ratios. */
export interface Measures {
  readonly units: Estimate;
  readonly selectors: Selectors;
}

const OUTPUT_TOKENS_UNSTATED = 4_096;
const VIDEO_SECONDS_UNSTATED = 10;
/** Of sound that is no text read aloud. */
const UNSTATED_SECONDS: Partial<Record<Endpoint, number>> = { audio_music: 60, audio_speech: 30 };
const SPOKEN_CHARS_PER_SECOND = 10;
const OPEN_ENDED = { isOpenEnded: true };

/** The upper estimate of a media request's units, from what it asks and the model's own bounds. */
export function measureMedia(request: MediaRequest<unknown>, endpoint: Endpoint, model: PricedModel): Measures {
  switch (request.kind) {
    case 'image': {
      // No quality leaves it to the model, as `auto` does; where that has a price, it is the price of both.
      const { n, size, quality = 'auto', resolution } = request;
      return { units: { images: n, requests: 1 }, selectors: { size, quality, resolution } };
    }
    case 'video':
      return measureVideo(request, model);
    case 'audio':
      return measureSound(request, endpoint, model);
  }
}

function measureVideo(request: VideoRequest<unknown>, model: PricedModel): Measures {
  const { size, generateAudio } = request;
  const stated = request.seconds ?? model.accepts.seconds_max;
  const length = stated ?? VIDEO_SECONDS_UNSTATED;
  const referenceVideo = slots.list(request).some(({ kind }) => kind === 'video');
  const resolution = request.resolution ?? tierOf(size, model);
  return {
    units: { milliseconds: milliseconds(length), requests: 1, ...(stated === undefined && OPEN_ENDED) },
    selectors: { size, resolution, generateAudio, referenceVideo },
  };
}

/** A size may stand for a resolution, and then costs what that costs, unless it has a price of its own. */
function tierOf(size: string | undefined, { pricing }: PricedModel): string | undefined {
  if (size === undefined || Object.hasOwn(pricing.size_ratio ?? {}, size)) return undefined;
  return Object.keys(pricing.resolution_ratio ?? {}).find((tier) => isOfTier(size, tier) === true);
}

function measureSound(request: SoundRequest<unknown>, endpoint: Endpoint, { accepts }: PricedModel): Measures {
  const { input = '', lyrics = '', n } = request;
  const words = countCharacters(input) + countCharacters(lyrics);
  // A model that is given no words to say makes what it is told: then that is what it is given.
  const characters = words || countCharacters(request.prompt ?? request.voiceDescription ?? '');
  const isSpoken = endpoint === 'audio_speech' && words > 0;
  const stated = request.durationSeconds ?? (isSpoken ? undefined : accepts.seconds_max);
  const usual = isSpoken ? words / SPOKEN_CHARS_PER_SECOND : UNSTATED_SECONDS[endpoint];
  const length = milliseconds(stated ?? usual ?? 0);
  const units = { characters: characters * n, milliseconds: length * n, requests: n };
  return { units: stated === undefined ? { ...units, ...OPEN_ENDED } : units, selectors: {} };
}

/** What a request asks of a model that is priced by tokens. */
export interface TokenRequest {
  readonly inputTokens: number;
  readonly maxOutputTokens: number | undefined;
  readonly answers: number;
  /** Whether its upstream may write the prompt to a cache. */
  readonly writesCache?: () => boolean;
}

/** The input as counted, and the most output that was asked for, or else that the model gives. */
export function measureTokens(request: TokenRequest, model: PricedModel): Measures {
  const { inputTokens, maxOutputTokens, answers, writesCache } = request;
  const outputTokens = outputTokensPerAnswer(maxOutputTokens, model) * answers;
  const isWritten = isWriteDearer(model.pricing, inputTokens) && writesCache?.() === true;
  const prompt = isWritten ? { cacheWriteTokens: inputTokens } : { inputTokens };
  return { units: { ...prompt, outputTokens, requests: 1 }, selectors: {} };
}

/** What is held for one answer. */
export function outputTokensPerAnswer(maxOutputTokens: number | undefined, { max_output_tokens }: PricedModel): number {
  return maxOutputTokens ?? max_output_tokens ?? OUTPUT_TOKENS_UNSTATED;
}

export function measureTranscription(seconds: number): Measures {
  return { units: { milliseconds: milliseconds(seconds), requests: 1 }, selectors: {} };
}

function milliseconds(length: number): number {
  return Math.ceil(length * 1000);
}
