import {
  atFirstPoll,
  type SentRequest,
  tierOfPixels,
  type VendorContract,
  type WireBody,
} from '../emulator/contract.ts';
import { RunwayEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (failureCode) => ({ error: 'marker', failureCode }),
  isErrorInSuccess: false,
  emulator: (apiKey, { picture, clip, sound }) =>
    atFirstPoll(new RunwayEmulator(apiKey, { image: picture, video: clip, audio: sound })),
  works: [
    { kind: 'image', model: 'gpt_image_2' },
    { kind: 'video', model: 'gen4.5' },
    { kind: 'music', model: 'eleven_text_to_sound_v2' },
  ],
  models: ['gpt_image_2', 'gen4_turbo', 'veo3.1', 'seedance2', 'wan3', 'seed_audio'],
  priced: [
    {
      kind: 'image',
      models: ['gen4_image', 'gpt_image_2', 'gemini_image3_pro', 'seedream5_pro', 'any'],
      read: sentRequest,
    },
    {
      kind: 'video',
      models: ['gen4.5', 'veo3.1', 'seedance2', 'hailuo3', 'wan3', 'gemini_omni_flash_1.1', 'h3_max', 'aleph2'],
      read: sentRequest,
    },
    { kind: 'music', models: ['eleven_text_to_sound_v2', 'seed_audio'], read: sentRequest },
  ],
  credential: {
    what: 'the limits of its organization',
    request: 'GET /v1/organization',
  },
};

/** Tiers of lines are the vendor's groups; others are megapixels, which it overdraws a little in some shapes. */
function sentRequest({ ratio, resolution, ...wire }: WireBody): SentRequest {
  const [width, height] = (ratio ?? '').split(':').map(Number) as [number, number];
  const lines = [['480p', 0.5] as const, ['720p', 1.3] as const, ['1080p', 2.5] as const];
  const [ofClip] = lines.find(([, most]) => (width * height) / 1e6 <= most) ?? ['4k'];
  const isClip = wire.duration !== undefined || wire.videoUri !== undefined;
  const byLines = { 720: '720p', 912: '1080p', 1080: '1080p' }[Math.min(width, height)];
  const ofImage = byLines ?? (ratio === '1808:768' ? '1080p' : tierOfPixels(width / 1.05, height / 1.05));
  return {
    quality: wire.quality,
    size: width > 21 ? `${width}x${height}` : undefined,
    tier: resolution ?? (width > 21 ? (isClip ? ofClip : ofImage) : undefined),
    count: wire.outputCount ?? 1,
    seconds: wire.duration,
    hasAudio: /omni/.test(wire.model) ? 'always' : wire.audio,
    hasReferenceVideo: ['promptVideo', 'videoUri', 'referenceVideos'].some((name) => name in wire),
  };
}
