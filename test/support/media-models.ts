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
  return requestModel('audio', 'audio_music', CLIP_PRICE)(id, routes);
}

/** Models of one endpoint, paid by the request. */
export function requestModel(modality: string, endpoint: string, price: number) {
  const pricing = { mode: 'per_request', credits: { base: price } };
  return (id: string, routes: readonly Fields[]): Fields => {
    return { id, modality, owned_by: 'studio', endpoints: [endpoint], pricing, routes };
  };
}
