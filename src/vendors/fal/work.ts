import type { VendorWork } from '../vendor.ts';
import { image } from './image.ts';
import { music } from './music.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';
import { video } from './video.ts';

export const work: VendorWork = { image, video, music, speech, transcription };
