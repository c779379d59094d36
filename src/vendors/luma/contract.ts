import { atFirstPoll, type SentRequest, type VendorContract, type WireBody } from '../emulator/contract.ts';
import { LumaEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  // It tells its errors in words only.
  refusal: (detail) => ({ detail }),
  isErrorInSuccess: false,
  emulator: (apiKey, { picture, clip }) => atFirstPoll(new LumaEmulator(apiKey, { image: picture, video: clip })),
  works: [
    { kind: 'image', model: 'photon-1' },
    { kind: 'video', model: 'ray-2' },
  ],
  policy: () => [400, { detail: 'Your prompt was moderated.' }],
  models: ['ray-2', 'photon-1'],
  priced: [
    { kind: 'image', models: ['photon-1'], read: sentRequest },
    { kind: 'video', models: ['ray-2'], read: sentRequest },
  ],
  credential: {
    what: 'the balance of its account',
    request: 'GET /dream-machine/v1/credits',
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
