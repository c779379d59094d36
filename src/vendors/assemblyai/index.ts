import { readingCheck } from '../kit/credential-check.ts';
import type { Vendor } from '../vendor.ts';
import { transcription } from './transcription.ts';
import { wire } from './wire.ts';

export const assemblyai: Vendor = {
  name: 'assemblyai',
  address: 'origin',
  apiKey: 'required',
  check: readingCheck(wire, 'a list of the account’s transcripts', '/v2/transcript?limit=1'),
  transcription,
};
