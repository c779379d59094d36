import { type SentRequest, sidesOf, tierOfPixels, type VendorContract, type WireBody } from '../emulator/contract.ts';
import { RecraftEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (code) => ({ code, message: 'marker' }),
  isErrorInSuccess: false,
  emulator: (apiKey, { picture }) => new RecraftEmulator(apiKey, picture),
  works: [{ kind: 'image', model: 'recraftv3' }],
  models: ['recraftv2', 'recraftv3', 'recraftv4_1', 'recraftv4_1_pro'],
  priced: [{ kind: 'image', models: ['recraftv3', 'recraftv4_1', 'recraftv4_1_pro'], read: sentPicture }],
  credential: {
    what: 'the account of its key',
    request: 'GET /v1/users/me',
  },
};

function sentPicture({ n: count, size }: WireBody): SentRequest {
  return { count, size, tier: size === undefined ? undefined : tierOfPixels(...sidesOf(size)) };
}
