import { IMAGE_MODELS } from './image-models.ts';
import type { Model } from './model.ts';
import { MUSIC_MODELS } from './music-models.ts';
import { SPEECH_MODELS } from './speech-models.ts';
import { TRANSCRIPTION_MODELS } from './transcription-models.ts';
import { VIDEO_MODELS } from './video-models.ts';

/** The models that the emulator has, by name. */
export const MODELS: ReadonlyMap<string, Model> = new Map([
  ...IMAGE_MODELS,
  ...VIDEO_MODELS,
  ...MUSIC_MODELS,
  ...SPEECH_MODELS,
  ...TRANSCRIPTION_MODELS,
]);
