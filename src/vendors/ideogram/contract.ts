import { type SentRequest, sidesOf, tierOfPixels, type VendorContract, type WireBody } from '../emulator/contract.ts';
import { IdeogramEmulator } from './emulator.ts';
import { wire } from './wire.ts';

const QUALITIES: Readonly<Record<string, string>> = { TURBO: 'low', DEFAULT: 'medium', QUALITY: 'high' };

export const contract: VendorContract = {
  wire,
  refusal: (code) => ({ error: code }),
  isErrorInSuccess: false,
  emulator: (apiKey, { picture }) => new IdeogramEmulator(apiKey, picture),
  works: [{ kind: 'image', model: 'ideogram-v3' }],
  policy: () => [422, { prompt: 'marker', is_image_safe: false }],
  statuses: [[422, 'policy']],
  models: ['ideogram-v3', 'ideogram-v3-transparent', 'ideogram-v4'],
  priced: [
    { kind: 'image', models: ['ideogram-v3', 'ideogram-v3-transparent'], read: (wire) => sentPicture(wire, '1k') },
    { kind: 'image', models: ['ideogram-v4'], read: (wire) => sentPicture(wire, '2k') },
  ],
  credential: {
    what: 'a list of its datasets',
    request: 'GET /datasets',
  },
};

/** `usual` is the tier of what is made without a size. */
function sentPicture({ num_images: count, rendering_speed, resolution: size }: WireBody, usual: string): SentRequest {
  const tier = size === undefined ? usual : tierOfPixels(...sidesOf(size));
  return { count, quality: QUALITIES[rendering_speed], size, tier };
}
