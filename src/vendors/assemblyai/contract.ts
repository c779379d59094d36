import type { VendorContract } from '../emulator/contract.ts';
import { AssemblyAiEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  // It tells its errors in words only.
  refusal: (error) => ({ error }),
  isErrorInSuccess: false,
  credential: {
    what: 'a list of the account’s transcripts',
    request: 'GET /v2/transcript?limit=1',
    emulator: (apiKey) => new AssemblyAiEmulator({ apiKey }),
  },
};
