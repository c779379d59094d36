import type { VendorContract } from '../emulator/contract.ts';
import { CohereEmulator } from './emulator.ts';
import { wire } from './wire.ts';

/** It tells its errors in words only. */
export const contract: VendorContract = {
  wire,
  refusal: (message) => ({ message }),
  isErrorInSuccess: false,
  emulator: (apiKey) => new CohereEmulator(apiKey),
  works: [
    { kind: 'chat', model: 'command-a-03-2025' },
    { kind: 'embedding', model: 'embed-v4.0' },
  ],
  policy: 'none',
  statuses: [[498, 'unfit']],
  models: ['command-a-03-2025', 'embed-v4.0'],
  credential: {
    what: 'a list of its models',
    request: 'GET /v1/models?page_size=1',
  },
};
