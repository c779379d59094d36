import type { SentRequest, VendorContract, WireBody } from '../emulator/contract.ts';
import { ElevenLabsEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (status) => ({ detail: { status } }),
  isErrorInSuccess: false,
  emulator: (apiKey) => new ElevenLabsEmulator({ apiKey, hasWebhook: true }),
  works: [
    { kind: 'music', model: 'music_v1', fields: { duration_seconds: 3 } },
    { kind: 'speech', model: 'eleven_flash_v2_5', fields: { voice: 'v' } },
    { kind: 'transcription', model: 'scribe_v2', upstream: { dialect: 'webhook' } },
  ],
  models: ['eleven_multilingual_v2', 'eleven_text_to_sound_v2', 'music_v1'],
  priced: [{ kind: 'music', models: ['music_v1', 'eleven_text_to_sound_v2'], read: sentSound }],
  credential: {
    what: 'a list of its voices',
    request: 'GET /v2/voices?page_size=1',
  },
};

function sentSound({ music_length_ms: ms, duration_seconds: seconds }: WireBody): SentRequest {
  return { count: 1, seconds: ms === undefined ? seconds : ms / 1000 };
}
