import type { Vendor } from '../vendor.ts';
import { image } from './image.ts';
import { music } from './music.ts';
import { DIALECTS } from './terms.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';
import { video } from './video.ts';

export const fal: Vendor = {
  name: 'fal',
  address: 'origin',
  apiKey: 'required',
  dialects: DIALECTS,
  image,
  video,
  music,
  speech,
  transcription,
};
