import { readingCheck } from '../kit/credential-check.ts';
import type { VendorWork } from '../vendor.ts';
import { music } from './music.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of its voices', '/v2/voices?page_size=1'),
  music,
  speech,
  transcription,
};
