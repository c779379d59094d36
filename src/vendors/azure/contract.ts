import type { OfferedWork, VendorContract } from '../emulator/contract.ts';
import { sentPicture } from '../openai/contract.ts';
import { AzureEmulator } from './emulator.ts';
import { wire } from './wire.ts';

const works: readonly OfferedWork[] = [
  { kind: 'chat', model: 'gpt-5-chat' },
  { kind: 'embedding', model: 'text-embedding-3-large' },
  { kind: 'image', model: 'gpt-image-2' },
  { kind: 'speech', model: 'gpt-4o-mini-tts' },
  { kind: 'transcription', model: 'whisper-1' },
];

export const contract: VendorContract = {
  wire,
  refusal: (code) => ({ error: { code } }),
  isErrorInSuccess: true,
  emulator: (apiKey) => new AzureEmulator({ apiKey, deployments: works.map(({ model }) => model) }),
  works,
  priced: [
    { kind: 'image', models: ['gpt-image-2-east'], read: sentPicture },
    { kind: 'image', models: ['pictures'], read: (wire) => ({ ...sentPicture(wire), tier: '1k' }) },
  ],
};
