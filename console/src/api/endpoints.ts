import type { LoggedEndpoint } from '../../../src/request-log/index.ts';
import type { Model } from './schema.ts';

export type Endpoint = Model['endpoints'][number];

/** The endpoints that the playground has; the native format and vectors have no place in it. */
export const PLAYGROUND_ENDPOINTS = [
  'chat',
  'images',
  'image_edits',
  'videos',
  'audio_speech',
  'audio_music',
  'transcriptions',
] as const satisfies readonly Endpoint[];
export type PlaygroundEndpoint = (typeof PLAYGROUND_ENDPOINTS)[number];

/** Those that a model's page shows a call of. */
export const SAMPLE_ENDPOINTS = [...PLAYGROUND_ENDPOINTS, 'embeddings'] as const satisfies readonly Endpoint[];
export type SampleEndpoint = (typeof SAMPLE_ENDPOINTS)[number];

/** Every name that a route has in the request log; the compiler compares. */
export const LOGGED_ENDPOINTS = Object.keys({
  chat: true,
  images: true,
  image_edits: true,
  videos: true,
  audio_speech: true,
  audio_music: true,
  transcriptions: true,
  native: true,
  embeddings: true,
  files: true,
} satisfies Record<LoggedEndpoint, true>);
