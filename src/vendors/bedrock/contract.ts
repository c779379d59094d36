import type { VendorContract } from '../emulator/contract.ts';
import { BedrockEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (name) => ({ __type: `com.amazon#${name}`, message: 'marker' }),
  isErrorInSuccess: true,
  emulator: (apiKey) => new BedrockEmulator({ apiKey }),
  works: [
    { kind: 'chat', model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' },
    { kind: 'embedding', model: 'amazon.titan-embed-text-v2:0' },
  ],
  policy: 'none',
  statuses: [[424, 'server']],
  stream: ['application/vnd.amazon.eventstream', '\0\0\u0001\0'],
};
