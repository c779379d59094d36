import type { VendorContract } from '../emulator/contract.ts';
import { VertexEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (reason) => ({ error: { message: 'marker', details: [{ reason }] } }),
  isErrorInSuccess: true,
  emulator: (apiKey) => new VertexEmulator({ apiKey }),
  works: [
    { kind: 'chat', model: 'gemini-2.5-pro' },
    { kind: 'native', model: 'gemini-2.5-pro' },
    { kind: 'embedding', model: 'gemini-embedding-001' },
  ],
  // The native format has it as a success, which is the caller's to read.
  policy: (kind) => (kind === 'chat' ? [200, { promptFeedback: { blockReason: 'SAFETY' } }] : undefined),
};
