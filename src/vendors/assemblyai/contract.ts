import type { VendorContract } from '../emulator/contract.ts';
import { AssemblyAiEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  // It tells its errors in words only.
  refusal: (error) => ({ error }),
  isErrorInSuccess: false,
  emulator: (apiKey) => new AssemblyAiEmulator({ apiKey, readsUntilDone: 0 }),
  works: [{ kind: 'transcription', model: 'universal-2', submission: /\/transcript$/ }],
  policy: 'none',
  credential: {
    what: 'a list of the account’s transcripts',
    request: 'GET /v2/transcript?limit=1',
  },
};
