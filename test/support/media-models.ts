import type { Fields } from './documents.ts';
import { CLIP_PRICE, SECOND_PRICE } from './studio.ts';

export const VIDEOS = '/v1/videos';
export const MUSIC = '/v1/audio/music';

/** A model that makes clips, one route to each upstream model named. */
export function videoModel(id: string, routes: readonly Fields[], slots: readonly string[] = []): Fields {
  return {
    id,
    modality: 'video',
    owned_by: 'studio',
    endpoints: ['videos'],
    pricing: { mode: 'per_second', credits: { per_second: SECOND_PRICE } },
    accepts: { slots, seconds_max: 10 },
    routes,
  };
}

export function musicModel(id: string, routes: readonly Fields[]): Fields {
  return {
    id,
    modality: 'audio',
    owned_by: 'studio',
    endpoints: ['audio_music'],
    pricing: { mode: 'per_request', credits: { base: CLIP_PRICE } },
    routes,
  };
}
