import type { VendorContract } from '../emulator/contract.ts';
import { CartesiaEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (error_code) => ({ error_code, title: 'marker', message: 'marker' }),
  isErrorInSuccess: false,
  models: ['sonic-3.5', 'sonic-2', 'ink-whisper'],
  credential: {
    what: 'a list of its voices',
    request: 'GET /voices?limit=1',
    emulator: (apiKey) => new CartesiaEmulator(apiKey, 'marker'),
  },
};
