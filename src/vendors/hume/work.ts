import { readingCheck } from '../kit/credential-check.ts';
import type { VendorWork } from '../vendor.ts';
import { speech } from './speech.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of its voices', '/v0/tts/voices?provider=HUME_AI&page_size=1'),
  speech,
};
