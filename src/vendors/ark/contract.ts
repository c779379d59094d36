import {
  atFirstPoll,
  type SentRequest,
  sidesOf,
  tierOfPixels,
  type VendorContract,
  type WireBody,
} from '../emulator/contract.ts';
import { ArkEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (code) => ({ error: { code, message: 'marker' } }),
  isErrorInSuccess: true,
  emulator: (apiKey, results) => atFirstPoll(new ArkEmulator(apiKey, results)),
  works: [
    { kind: 'image', model: 'seedream-4-0-250828' },
    { kind: 'video', model: 'seedance-1-5-pro-251215' },
  ],
  policy: () => [400, { error: { code: 'InputTextSensitiveContentDetected', message: 'marker' } }],
  models: ['seedream-5-0-pro-260628', 'seedance-1-0-lite-t2v-250428'],
  priced: [
    {
      kind: 'image',
      models: ['seedream-4-0-250828', 'seedream-4-5-251128', 'dola-seedream-5-0-pro-260628', 'ep-1'],
      read: sentPicture,
    },
    { kind: 'video', models: ['seedance-1-0-pro-250528', 'dreamina-seedance-2-5-260628', 'ep-1'], read: sentClip },
  ],
  credential: {
    what: 'a list of the account’s clips',
    request: 'GET /api/v3/contents/generations/tasks?page_num=1&page_size=1',
  },
};

function sentPicture({ size }: WireBody): SentRequest {
  if (size === undefined || /^\dK$/.test(size)) return { count: 1, tier: size?.toLowerCase() };
  return { count: 1, size, tier: tierOfPixels(...sidesOf(size)) };
}

function sentClip({ resolution, duration, generate_audio: hasAudio, content }: WireBody): SentRequest {
  const hasReferenceVideo = content.some(({ type }: { type: string }) => type === 'video_url');
  return { tier: resolution, seconds: duration, hasAudio, hasReferenceVideo };
}
