import { atFirstPoll, type SentRequest, type VendorContract, type WireBody } from '../emulator/contract.ts';
import { KlingEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (code) => ({ code: Number(code), message: 'marker' }),
  isErrorInSuccess: true,
  emulator: (apiKey, results) => atFirstPoll(new KlingEmulator({ secret: apiKey }, results)),
  works: [
    { kind: 'image', model: 'kling-v2' },
    { kind: 'video', model: 'kling-v2-5-turbo' },
  ],
  models: ['kling-v2-master', 'kling-3.0-turbo'],
  priced: [
    { kind: 'image', models: ['kling-v2'], read: ({ resolution, n }) => ({ count: n, tier: resolution }) },
    { kind: 'video', models: ['kling-v2-5-turbo', 'kling-v2-master', 'kling-v3', 'kling-3.0-turbo'], read: sentClip },
  ],
  credential: {
    what: 'a list of the account’s clips',
    request: 'GET /v1/videos/text2video?pageNum=1&pageSize=1',
  },
};

function sentClip({ mode, duration, sound, settings }: WireBody): SentRequest {
  const tier = settings?.resolution ?? { std: '720p', pro: '1080p' }[mode as string];
  const seconds = settings?.duration ?? (duration && Number(duration));
  return { tier, seconds, hasAudio: sound === 'on' };
}
