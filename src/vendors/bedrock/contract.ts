import type { VendorContract } from '../emulator/contract.ts';
import { BedrockEmulator } from './emulator.ts';
import { wire } from './wire.ts';

const PAINTERS = [
  'stability.stable-image-core-v1:1',
  'stability.stable-image-ultra-v1:1',
  'us.stability.sd3-5-large-v1:0',
];

export const contract: VendorContract = {
  wire,
  refusal: (name) => ({ __type: `com.amazon#${name}`, message: 'marker' }),
  isErrorInSuccess: true,
  emulator: (apiKey, { picture }) => new BedrockEmulator({ apiKey, picture }),
  works: [
    { kind: 'chat', model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' },
    { kind: 'embedding', model: 'amazon.titan-embed-text-v2:0' },
    { kind: 'image', model: 'stability.stable-image-core-v1:1' },
  ],
  policy: (kind) =>
    kind === 'image' ? [200, { images: [], seeds: [], finish_reasons: ['Filter reason: prompt'] }] : undefined,
  models: PAINTERS,
  // Each makes pictures of one size, in some shape.
  priced: [{ kind: 'image', models: PAINTERS, read: () => ({ count: 1 }) }],
  statuses: [[424, 'server']],
  stream: ['application/vnd.amazon.eventstream', '\0\0\u0001\0'],
};
