import type { VendorContract } from '../emulator/contract.ts';
import { DeepgramEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (err_code) => ({ err_code, err_msg: 'marker' }),
  isErrorInSuccess: false,
  models: ['aura-2-thalia-en', 'nova-3-medical'],
  credential: {
    what: 'a list of its projects',
    request: 'GET /v1/projects',
    emulator: (apiKey) => new DeepgramEmulator(apiKey, 'marker'),
  },
};
