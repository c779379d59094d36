import type { VendorContract } from '../emulator/contract.ts';
import { CartesiaEmulator, VOICE } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (error_code) => ({ error_code, title: 'marker', message: 'marker' }),
  isErrorInSuccess: false,
  emulator: (apiKey) => new CartesiaEmulator(apiKey, 'marker'),
  works: [
    { kind: 'speech', model: 'sonic-3.5', fields: { voice: VOICE } },
    { kind: 'transcription', model: 'ink-whisper' },
  ],
  policy: () => [400, { error_code: 'content_policy', title: 'marker', message: 'marker' }],
  models: ['sonic-3.5', 'sonic-2', 'ink-whisper'],
  credential: {
    what: 'a list of its voices',
    request: 'GET /voices?limit=1',
  },
};
