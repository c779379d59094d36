import { readingCheck } from '../kit/credential-check.ts';
import type { VendorWork } from '../vendor.ts';
import { transcription } from './transcription.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of its transcripts', '/v2/pre-recorded?limit=1'),
  transcription,
};
