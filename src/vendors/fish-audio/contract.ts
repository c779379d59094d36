import type { VendorContract } from '../emulator/contract.ts';
import { FishAudioEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (code) => ({ code, message: 'marker' }),
  isErrorInSuccess: false,
  emulator: (apiKey) => new FishAudioEmulator(apiKey, 'marker'),
  works: [
    { kind: 'speech', model: 's2.1-pro' },
    { kind: 'transcription', model: 'transcribe-1' },
  ],
  policy: () => [400, { code: 'content_policy', message: 'marker' }],
  models: ['s2.1-pro', 'voice-design-1', 'transcribe-1'],
  credential: {
    what: 'the balance of its account',
    request: 'GET /wallet/self/api-credit',
  },
};
