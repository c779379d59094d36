import type { VendorContract } from '../emulator/contract.ts';
import { HumeEmulator, LIBRARY_VOICE } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (code) => ({ code, error: 'marker', message: 'marker' }),
  isErrorInSuccess: false,
  emulator: (apiKey) => new HumeEmulator(apiKey, 'marker'),
  works: [{ kind: 'speech', model: 'octave-2', fields: { voice: LIBRARY_VOICE } }],
  policy: () => [400, { code: 'E0603', error: 'moderation', message: 'The text was refused by moderation.' }],
  models: ['octave-2', 'octave-1', 'voice-design'],
  credential: {
    what: 'a list of its voices',
    request: 'GET /v0/tts/voices?provider=HUME_AI&page_size=1',
  },
};
