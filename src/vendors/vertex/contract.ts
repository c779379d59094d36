import type { SentRequest, VendorContract, WireBody } from '../emulator/contract.ts';
import { sentPicture } from '../gemini/contract.ts';
import { VertexEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (reason) => ({ error: { message: 'marker', details: [{ reason }] } }),
  isErrorInSuccess: true,
  emulator: (apiKey, { picture, clip, wave }) => {
    const samples = { picture, pictureType: 'image/jpeg', clip, wave, samples: wave.subarray(44) };
    const emulator = new VertexEmulator({ apiKey, samples });
    emulator.operations.readsUntilDone = 0;
    return emulator;
  },
  works: [
    { kind: 'chat', model: 'gemini-2.5-pro' },
    { kind: 'native', model: 'gemini-2.5-pro' },
    { kind: 'embedding', model: 'gemini-embedding-001' },
    { kind: 'image', model: 'gemini-3.1-flash-image' },
    // A poll has a body as well.
    { kind: 'video', model: 'veo-3.1-generate-001', submission: /:predictLongRunning$/ },
    { kind: 'speech', model: 'gemini-3.8-flash-tts' },
  ],
  policy: (kind) => {
    if (kind === 'video') return [400, { error: { message: 'The prompt violates the usage guidelines.' } }];
    // The native format has it as a success, which is the caller's to read.
    return kind === 'native' || kind === 'embedding' ? undefined : [200, { promptFeedback: { blockReason: 'SAFETY' } }];
  },
  models: ['gemini-3.1-flash-image', 'gemini-2.5-flash-tts', 'gemini-3.8-flash-tts', 'veo-3.1-generate-001'],
  priced: [
    { kind: 'image', models: ['gemini-3.1-flash-image', 'gemini-3-pro-image'], read: sentPicture },
    { kind: 'video', models: ['veo-3.1-generate-001', 'veo-3.1-fast-generate-001'], read: sentClip },
  ],
};

const LINES: Readonly<Record<string, number>> = { '720p': 720, '1080p': 1080, '4k': 2160 };

function sentClip({ instances: [{ video }], parameters }: WireBody): SentRequest {
  const { resolution, aspectRatio, durationSeconds, generateAudio } = parameters;
  const lines = LINES[resolution] ?? 0;
  const sides = [(lines * 16) / 9, lines];
  return {
    tier: resolution,
    size: (aspectRatio === '9:16' ? sides.reverse() : sides).join('x'),
    seconds: durationSeconds,
    hasAudio: generateAudio,
    hasReferenceVideo: video !== undefined,
  };
}
