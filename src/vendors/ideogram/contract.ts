import { type SentRequest, sidesOf, tierOfPixels, type VendorContract, type WireBody } from '../emulator/contract.ts';
import { IdeogramEmulator } from './emulator.ts';
import { wire } from './wire.ts';

const QUALITIES: Readonly<Record<string, string>> = { TURBO: 'low', DEFAULT: 'medium', QUALITY: 'high' };

export const contract: VendorContract = {
  wire,
  refusal: (code) => ({ error: code }),
  isErrorInSuccess: false,
  statuses: [[422, 'policy']],
  models: ['ideogram-v3', 'ideogram-v3-transparent', 'ideogram-v4'],
  // 4.0 is sent forms, which its own tests read.
  priced: [{ kind: 'image', models: ['ideogram-v3', 'ideogram-v3-transparent'], read: sentPicture }],
  credential: {
    what: 'a list of its datasets',
    request: 'GET /datasets',
    emulator: (apiKey) => new IdeogramEmulator(apiKey, Buffer.alloc(0)),
  },
};

/** Every shape has one megapixel at most. */
function sentPicture({ num_images: count, rendering_speed, resolution: size }: WireBody): SentRequest {
  const tier = size === undefined ? '1k' : tierOfPixels(...sidesOf(size));
  return { count, quality: QUALITIES[rendering_speed], size, tier };
}
