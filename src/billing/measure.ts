import { z } from 'zod';
import type { ListedModel } from '../catalogue/index.ts';
import type { Endpoint } from '../configuration/index.ts';
import type { Selectors, Units } from '../pricing/index.ts';
import { type MediaRequest, optional, parseWith, type SoundRequest, type VideoRequest } from '../requests/index.ts';
import { isOfTier } from '../shape.ts';
import { countCharacters } from '../text.ts';
import { estimatePromptTokens } from '../tokens.ts';

/** What of a request decides its price: amounts, and what selects the ratios. */
export interface Measures {
  readonly units: Units;
  readonly selectors: Selectors;
}

const OUTPUT_TOKENS_UNSTATED = 4_096;
const VIDEO_SECONDS_UNSTATED = 10;
const MUSIC_SECONDS_UNSTATED = 60;
const SPOKEN_CHARS_PER_SECOND = 10;
const TOKENS_MAX = 10_000_000;

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
  const characters = countCharacters(input) + countCharacters(lyrics);
  const unstated =
    endpoint === 'audio_music' ? (accepts.seconds_max ?? MUSIC_SECONDS_UNSTATED) : characters / SPOKEN_CHARS_PER_SECOND;
  const length = milliseconds(request.durationSeconds ?? unstated);
  return { units: { characters: characters * n, milliseconds: length * n, requests: n }, selectors: {} };
}

// What is wrong in the native format is for its upstream to say: here it only leaves the estimate at its highest.
const nativeCount = optional(z.int().min(1).max(TOKENS_MAX)).catch(undefined);
const native = z.looseObject({
  contents: z.unknown().optional(),
  systemInstruction: z.unknown().optional(),
  tools: z.unknown().optional(),
  generationConfig: optional(z.looseObject({ maxOutputTokens: nativeCount, candidateCount: nativeCount })).catch(
    undefined,
  ),
});

export function measureNative(body: unknown, model: ListedModel): Measures {
  const { contents, systemInstruction, tools, generationConfig: config } = parseWith(native, body);
  const prompt = estimatePromptTokens([contents, systemInstruction, tools]);
  return measureTokens(prompt, config?.maxOutputTokens, config?.candidateCount ?? 1, model);
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
