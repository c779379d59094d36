import type { VendorWork } from '../vendor.ts';
import { image } from './image.ts';
import { music } from './music.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';
import { video } from './video.ts';
import { check } from './wire.ts';

export const work: VendorWork = { check, image, video, music, speech, transcription };
