import { readingCheck } from '../kit/credential-check.ts';
import type { VendorWork } from '../vendor.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'the balance of its account', '/wallet/self/api-credit'),
  speech,
  transcription,
};
