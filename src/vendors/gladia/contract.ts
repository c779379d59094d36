import type { VendorContract } from '../emulator/contract.ts';
import { GladiaEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  // It tells its errors in words only.
  refusal: (message) => ({ message }),
  isErrorInSuccess: false,
  emulator: (apiKey) => new GladiaEmulator(apiKey, 'marker'),
  works: [{ kind: 'transcription', model: 'solaria-1', submission: /\/pre-recorded$/ }],
  policy: 'none',
  models: ['solaria-1'],
  credential: {
    what: 'a list of its transcripts',
    request: 'GET /v2/pre-recorded?limit=1',
  },
};
