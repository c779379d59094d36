import type { SentRequest, VendorContract, WireBody } from '../emulator/contract.ts';
import { LumaEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  // It tells its errors in words only.
  refusal: (detail) => ({ detail }),
  isErrorInSuccess: false,
  models: ['ray-2', 'photon-1'],
  priced: [
    { kind: 'image', models: ['photon-1'], read: sentRequest },
    { kind: 'video', models: ['ray-2'], read: sentRequest },
  ],
  credential: {
    what: 'the balance of its account',
    request: 'GET /dream-machine/v1/credits',
    emulator: (apiKey) => new LumaEmulator(apiKey, { image: Buffer.alloc(0), video: Buffer.alloc(0) }),
  },
};

function sentRequest({ duration, resolution, media }: WireBody): SentRequest {
  return {
    count: 1,
    tier: resolution,
    seconds: duration && Number.parseInt(duration, 10),
    hasReferenceVideo: media !== undefined,
  };
}
