import type { VendorContract } from '../emulator/contract.ts';
import { AnthropicEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (type) => ({ type: 'error', error: { type, message: 'marker' } }),
  isErrorInSuccess: true,
  credential: {
    what: 'a list of its models',
    request: 'GET /v1/models?limit=1',
    emulator: (apiKey) => new AnthropicEmulator({ apiKey }),
  },
};
