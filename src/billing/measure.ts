import type { ListedModel } from '../catalogue/index.ts';
import type { Endpoint } from '../configuration/index.ts';
import type { Selectors, Units } from '../pricing/index.ts';
import type { MediaRequest, NativeAsked, SoundRequest, VideoRequest } from '../requests/index.ts';
import { isOfTier } from '../shape.ts';
import { countCharacters } from '../text.ts';

/** What of a request decides its price: amounts, and what selects the ratios. */
export interface Measures {
  readonly units: Units;
  readonly selectors: Selectors;
}

const OUTPUT_TOKENS_UNSTATED = 4_096;
const VIDEO_SECONDS_UNSTATED = 10;
/** Of sound that is no text read aloud. */
const UNSTATED_SECONDS: Partial<Record<Endpoint, number>> = { audio_music: 60, audio_speech: 30 };
const SPOKEN_CHARS_PER_SECOND = 10;

/** The upper estimate of a media request's units, from what it asks and the model's own bounds. */
export function measureMedia(request: MediaRequest<unknown>, endpoint: Endpoint, model: ListedModel): Measures {
  switch (request.kind) {
    case 'image': {
      const { n, size, quality, resolution } = request;
      return { units: { images: n, requests: 1 }, selectors: { size, quality, resolution } };
    }
    case 'video':
      return ofVideo(request, model);
    case 'audio':
      return ofSound(request, endpoint, model);
  }
}

function ofVideo(request: VideoRequest<unknown>, model: ListedModel): Measures {
  const { size, generateAudio } = request;
  const length = request.seconds ?? model.accepts.seconds_max ?? VIDEO_SECONDS_UNSTATED;
  const referenceVideo = request.sourceVideo !== undefined || request.referenceVideos.length > 0;
  const resolution = request.resolution ?? tierOf(size, model);
  return {
    units: { milliseconds: milliseconds(length), requests: 1 },
    selectors: { size, resolution, generateAudio, referenceVideo },
  };
}

/** A size may stand for a resolution, and then costs what that costs, unless it has a price of its own. */
function tierOf(size: string | undefined, { pricing }: ListedModel): string | undefined {
  if (size === undefined || Object.hasOwn(pricing.size_ratio ?? {}, size)) return undefined;
  return Object.keys(pricing.resolution_ratio ?? {}).find((tier) => isOfTier(size, tier) === true);
}

function ofSound(request: SoundRequest<unknown>, endpoint: Endpoint, { accepts }: ListedModel): Measures {
  const { input = '', lyrics = '', n } = request;
  const words = countCharacters(input) + countCharacters(lyrics);
  // A model that is given no words to say makes what it is told: then that is what it is given.
  const characters = words || countCharacters(request.prompt ?? request.voiceDescription ?? '');
  const isSpoken = endpoint === 'audio_speech' && words > 0;
  const unstated = isSpoken ? words / SPOKEN_CHARS_PER_SECOND : (accepts.seconds_max ?? UNSTATED_SECONDS[endpoint]);
  const length = milliseconds(request.durationSeconds ?? unstated ?? 0);
  return { units: { characters: characters * n, milliseconds: length * n, requests: n }, selectors: {} };
}

export function measureNative({ inputTokens, maxOutputTokens, answers }: NativeAsked, model: ListedModel): Measures {
  return measureTokens(inputTokens, maxOutputTokens, answers, model);
}

/** The input as counted, and the most output that was asked for, or else that the model gives. */
export function measureTokens(
  inputTokens: number,
  asked: number | undefined,
  answers: number,
  model: ListedModel,
): Measures {
  const outputTokens = outputTokensPerAnswer(asked, model) * answers;
  return { units: { inputTokens, outputTokens, requests: 1 }, selectors: {} };
}

/** What is held for one answer. */
export function outputTokensPerAnswer(asked: number | undefined, { max_output_tokens }: ListedModel): number {
  return asked ?? max_output_tokens ?? OUTPUT_TOKENS_UNSTATED;
}

export function measureTranscription(seconds: number): Measures {
  return { units: { milliseconds: milliseconds(seconds), requests: 1 }, selectors: {} };
}

function milliseconds(length: number): number {
  return Math.ceil(length * 1000);
}
