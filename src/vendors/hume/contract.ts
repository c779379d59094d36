import type { VendorContract } from '../emulator/contract.ts';
import { HumeEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (code) => ({ code, error: 'marker', message: 'marker' }),
  isErrorInSuccess: false,
  models: ['octave-2', 'octave-1', 'voice-design'],
  credential: {
    what: 'a list of its voices',
    request: 'GET /v0/tts/voices?provider=HUME_AI&page_size=1',
    emulator: (apiKey) => new HumeEmulator(apiKey, 'marker'),
  },
};
