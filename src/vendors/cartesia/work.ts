import { readingCheck } from '../kit/credential-check.ts';
import type { VendorWork } from '../vendor.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of its voices', '/voices?limit=1'),
  speech,
  transcription,
};
