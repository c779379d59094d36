import { type SentRequest, sidesOf, tierOfPixels, type VendorContract, type WireBody } from '../emulator/contract.ts';
import { wire } from '../formats/chat-completions/index.ts';
import { OpenAiEmulator } from './emulator.ts';

export const contract: VendorContract = {
  wire,
  refusal: (code) => ({ error: { code } }),
  isErrorInSuccess: true,
  emulator: (apiKey) => new OpenAiEmulator({ apiKey }),
  works: [
    { kind: 'chat', model: 'gpt-5' },
    { kind: 'embedding', model: 'text-embedding-3-small' },
    { kind: 'image', model: 'gpt-image-2' },
    { kind: 'speech', model: 'gpt-4o-mini-tts' },
    { kind: 'transcription', model: 'whisper-1' },
  ],
  models: ['gpt-image-1', 'tts-1', 'whisper-1', 'gpt-4o-transcribe'],
  priced: [
    { kind: 'image', models: ['gpt-image-2', 'painter'], read: sentPicture },
    // Its three sizes are all of one tier.
    { kind: 'image', models: ['gpt-image-1.5'], read: (wire) => ({ ...sentPicture(wire), tier: '1k' }) },
  ],
  credential: {
    what: 'a list of its models',
    request: 'GET /v1/models',
  },
};

export function sentPicture(wire: WireBody): SentRequest {
  const isExact = typeof wire.size === 'string' && wire.size !== 'auto';
  const tier = wire.resolution ?? (isExact ? tierOfPixels(...sidesOf(wire.size)) : undefined);
  return { quality: wire.quality, size: wire.size, tier, count: wire.n };
}
