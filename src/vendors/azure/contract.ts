import type { VendorContract } from '../emulator/contract.ts';
import { sentPicture } from '../openai/contract.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (code) => ({ error: { code } }),
  isErrorInSuccess: true,
  priced: [
    { kind: 'image', models: ['gpt-image-2-east'], read: sentPicture },
    { kind: 'image', models: ['pictures'], read: (wire) => ({ ...sentPicture(wire), tier: '1k' }) },
  ],
};
