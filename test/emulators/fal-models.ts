import { IMAGE_MODELS } from './fal-image-models.ts';
import type { Model } from './fal-model.ts';
import { MUSIC_MODELS } from './fal-music-models.ts';
import { VIDEO_MODELS } from './fal-video-models.ts';

/** The models that the emulator has, by name. */
export const MODELS: ReadonlyMap<string, Model> = new Map([...IMAGE_MODELS, ...VIDEO_MODELS, ...MUSIC_MODELS]);
