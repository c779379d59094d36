import type { Model } from './schema.ts';

export type Endpoint = Model['endpoints'][number];

/** The endpoints that the playground has; the native format has no place in it. */
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
