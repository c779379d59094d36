import type { VendorContract } from '../emulator/contract.ts';
import { DeepgramEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (err_code) => ({ err_code, err_msg: 'marker' }),
  isErrorInSuccess: false,
  emulator: (apiKey) => new DeepgramEmulator(apiKey, 'marker'),
  works: [
    { kind: 'speech', model: 'aura-2-thalia-en' },
    { kind: 'transcription', model: 'nova-3' },
  ],
  policy: 'none',
  models: ['aura-2-thalia-en', 'nova-3-medical'],
  credential: {
    what: 'a list of its projects',
    request: 'GET /v1/projects',
  },
};
