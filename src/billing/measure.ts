import { z } from 'zod';
import type { ListedModel } from '../catalogue/index.ts';
import type { Endpoint } from '../configuration/index.ts';
import { ApiError } from '../errors.ts';
import type { Selectors, Units } from '../pricing/index.ts';
import { estimatePromptTokens, optional, parseWith } from '../requests/index.ts';

/** What of a request decides its price: amounts, and what selects the ratios. */
export interface Measures {
  readonly units: Units;
  readonly selectors: Selectors;
}

const OUTPUT_TOKENS_UNSTATED = 4_096;
const VIDEO_SECONDS_UNSTATED = 10;
const MUSIC_SECONDS_UNSTATED = 60;
const SPOKEN_CHARS_PER_SECOND = 10;
const CHARS_MAX = 40_000;
const TOKENS_MAX = 10_000_000;

/**
 * The upper estimate of a create call's units, from its body and the model's own bounds. Reads only what decides the
 * price; the routes themselves check the rest. Throws the code of the field at fault.
 */
export function measure(endpoint: Endpoint, body: unknown, model: ListedModel): Measures {
  switch (endpoint) {
    case 'images':
    case 'image_edits':
      return ofImages(body);
    case 'videos':
      return ofVideo(body, model);
    case 'chat':
      return ofChat(body, model);
    case 'native':
      return ofNative(body, model);
    case 'audio_speech':
    case 'audio_music':
      return ofSound(body, endpoint, model);
    case 'transcriptions':
      return ofTranscription(body);
  }
}

const text = optional(z.string());
const seconds = (code: 'invalid_seconds' | 'invalid_duration') =>
  optional(z.coerce.number({ error: code }).min(0, { error: code }).max(86_400, { error: code }));
const tokens = optional(z.int().min(1).max(TOKENS_MAX));

const images = z.looseObject({
  prompt: z.string({ error: 'missing_prompt' }).min(1, { error: 'missing_prompt' }),
  n: optional(z.int({ error: 'invalid_n' }).min(1, { error: 'invalid_n' }).max(10, { error: 'invalid_n' })),
  size: text,
  quality: text,
  resolution: text,
  metadata: optional(z.looseObject({ resolution: text })),
});

function ofImages(body: unknown): Measures {
  const { n = 1, size, quality, resolution, metadata } = parseWith(images, body);
  if (resolution !== undefined && metadata?.resolution !== undefined && resolution !== metadata.resolution) {
    throw new ApiError('conflicting_parameters', { message: '"resolution" and "metadata.resolution" differ.' });
  }
  const selectors = { size, quality, resolution: resolution ?? metadata?.resolution };
  return { units: { images: n, requests: 1 }, selectors };
}

const video = z.looseObject({
  seconds: seconds('invalid_seconds'),
  duration: seconds('invalid_seconds'),
  size: text,
  resolution: text,
  generate_audio: optional(z.boolean()),
  ref_video_url: text,
  video_url: text,
  reference_videos: optional(z.array(z.string())),
});

function ofVideo(body: unknown, { accepts }: ListedModel): Measures {
  const asked = parseWith(video, body);
  if (asked.seconds !== undefined && asked.duration !== undefined && asked.seconds !== asked.duration) {
    throw new ApiError('conflicting_parameters', { message: '"seconds" and "duration" differ.' });
  }
  // Nothing or 0 leaves the length to the model.
  const length = asked.seconds || asked.duration || accepts.seconds_max || VIDEO_SECONDS_UNSTATED;
  const referenceVideo =
    asked.ref_video_url !== undefined || asked.video_url !== undefined || (asked.reference_videos?.length ?? 0) > 0;
  return {
    units: { milliseconds: milliseconds(length), requests: 1 },
    selectors: { size: asked.size, resolution: asked.resolution, generateAudio: asked.generate_audio, referenceVideo },
  };
}

const chat = z.looseObject({
  messages: z.array(z.unknown(), { error: 'missing_messages' }).min(1, { error: 'missing_messages' }),
  tools: optional(z.array(z.unknown())),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  n: optional(z.int({ error: 'invalid_n' }).min(1, { error: 'invalid_n' }).max(128, { error: 'invalid_n' })),
});

function ofChat(body: unknown, model: ListedModel): Measures {
  const { messages, tools = [], max_tokens, max_completion_tokens, n = 1 } = parseWith(chat, body);
  return measureTokens(estimatePromptTokens([messages, tools]), max_completion_tokens ?? max_tokens, n, model);
}

// What is wrong in the native format is for its upstream to say: here it only leaves the estimate at its highest.
const nativeCount = tokens.catch(undefined);
const native = z.looseObject({
  contents: z.unknown().optional(),
  systemInstruction: z.unknown().optional(),
  tools: z.unknown().optional(),
  generationConfig: optional(z.looseObject({ maxOutputTokens: nativeCount, candidateCount: nativeCount })).catch(
    undefined,
  ),
});

function ofNative(body: unknown, model: ListedModel): Measures {
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

const sound = z.looseObject({
  input: text,
  text,
  prompt: text,
  lyrics: text,
  voice_description: text,
  duration_seconds: seconds('invalid_duration'),
  seconds: seconds('invalid_duration'),
  duration: seconds('invalid_duration'),
  n: optional(z.int({ error: 'invalid_n' }).min(1, { error: 'invalid_n' }).max(8, { error: 'invalid_n' })),
});

function ofSound(body: unknown, endpoint: 'audio_speech' | 'audio_music', { accepts }: ListedModel): Measures {
  const asked = parseWith(sound, body);
  const spoken = asked.input ?? asked.text;
  if (
    [spoken, asked.prompt, asked.lyrics, asked.voice_description].every((words) => words === undefined || words === '')
  ) {
    throw new ApiError('missing_input');
  }
  const characters = countCharacters(spoken) + countCharacters(asked.lyrics);
  if (characters > CHARS_MAX) throw new ApiError('text_too_long');
  const unstated =
    endpoint === 'audio_music' ? (accepts.seconds_max ?? MUSIC_SECONDS_UNSTATED) : characters / SPOKEN_CHARS_PER_SECOND;
  const length = asked.duration_seconds || asked.seconds || asked.duration || unstated;
  const clips = asked.n ?? 1;
  return {
    units: { characters: characters * clips, milliseconds: milliseconds(length) * clips, requests: clips },
    selectors: {},
  };
}

const transcription = z.looseObject({ duration_seconds: seconds('invalid_duration') });

/** A clip's length is measured from its bytes when it is sent; an estimate has to be told. */
function ofTranscription(body: unknown): Measures {
  const { duration_seconds } = parseWith(transcription, body);
  if (duration_seconds === undefined) {
    throw new ApiError('invalid_duration', { message: 'Give the length of the clip as "duration_seconds".' });
  }
  return { units: { milliseconds: milliseconds(duration_seconds), requests: 1 }, selectors: {} };
}

function milliseconds(length: number): number {
  return Math.ceil(length * 1000);
}

/** Code points, as the limit counts them. */
function countCharacters(words: string | undefined): number {
  let count = 0;
  for (const _ of words ?? '') count++;
  return count;
}
