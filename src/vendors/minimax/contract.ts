import {
  atFirstPoll,
  type SentRequest,
  tierOfPixels,
  type VendorContract,
  type WireBody,
} from '../emulator/contract.ts';
import { MinimaxEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (code) =>
    /^\d/.test(code) ? { base_resp: { status_code: Number(code), status_msg: 'marker' } } : { error: { type: code } },
  isErrorInSuccess: true,
  emulator: (apiKey, results) => atFirstPoll(new MinimaxEmulator(apiKey, results)),
  works: [
    { kind: 'image', model: 'image-01' },
    { kind: 'video', model: 'MiniMax-Hailuo-2.3' },
    { kind: 'music', model: 'music-2.6' },
    { kind: 'speech', model: 'speech-2.8-hd', fields: { voice: 'v' } },
    { kind: 'transcription', model: 'speech-to-text' },
  ],
  statuses: [[422, 'policy']],
  lost: '2013',
  models: ['MiniMax-Hailuo-2.3', 'MiniMax-H3', 'S2V-01', 'music-cover', 'voice-design'],
  priced: [
    { kind: 'image', models: ['image-01'], read: sentRequest },
    { kind: 'video', models: ['MiniMax-Hailuo-2.3', 'MiniMax-H3'], read: sentRequest },
    { kind: 'music', models: ['music-2.6'], read: sentRequest },
  ],
};

function sentRequest({ width, height, n, resolution, duration, content }: WireBody): SentRequest {
  return {
    count: n,
    size: width && `${width}x${height}`,
    // Every shape has one megapixel.
    tier: resolution?.toLowerCase() ?? (width === undefined ? '1k' : tierOfPixels(width, height)),
    seconds: duration,
    hasReferenceVideo: content?.some(({ type }: { type: string }) => type === 'video_url'),
  };
}
