import { readingCheck } from '../kit/credential-check.ts';
import type { VendorWork } from '../vendor.ts';
import { image } from './image.ts';
import { speech } from './speech.ts';
import { LAST_TASK } from './tasks.ts';
import { transcription } from './transcription.ts';
import { video } from './video.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of the account’s tasks', LAST_TASK),
  image,
  video,
  speech,
  transcription,
};
