import { readingCheck } from '../kit/credential-check.ts';
import type { VendorWork } from '../vendor.ts';
import { transcription } from './transcription.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of the account’s transcripts', '/v2/transcript?limit=1'),
  transcription,
};
