import { atFirstPoll, type SentRequest, type VendorContract, type WireBody } from '../emulator/contract.ts';
import { XaiEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (code) => ({ code, error: 'marker' }),
  isErrorInSuccess: true,
  emulator: (apiKey, results) => atFirstPoll(new XaiEmulator(apiKey, results)),
  works: [
    { kind: 'image', model: 'grok-imagine-image' },
    { kind: 'video', model: 'grok-imagine-video-1.5' },
    { kind: 'speech', model: 'grok-tts' },
    { kind: 'transcription', model: 'grok-stt' },
  ],
  models: ['grok-imagine-image-2.0', 'grok-imagine-video'],
  priced: [
    { kind: 'image', models: ['grok-imagine-image', 'grok-imagine-image-2.0'], read: sentRequest },
    { kind: 'video', models: ['grok-imagine-video', 'grok-imagine-video-1.5'], read: sentRequest },
  ],
};

function sentRequest(wire: WireBody): SentRequest {
  return {
    quality: wire.quality,
    count: wire.n,
    tier: wire.resolution,
    seconds: wire.duration,
    hasAudio: wire.generate_audio,
    hasReferenceVideo: wire.video !== undefined,
  };
}
