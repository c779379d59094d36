import {
  atFirstPoll,
  type SentRequest,
  sidesOf,
  tierOfPixels,
  type VendorContract,
  type WireBody,
} from '../emulator/contract.ts';
import { DashscopeEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (code) => ({ code, message: 'marker', request_id: 'r' }),
  isErrorInSuccess: true,
  emulator: (apiKey, { clip, picture, wave }) => {
    return atFirstPoll(new DashscopeEmulator(apiKey, { clip, picture, sound: wave }));
  },
  works: [
    { kind: 'image', model: 'wan2.5-t2i-preview' },
    { kind: 'video', model: 'wan2.7-t2v' },
    { kind: 'speech', model: 'qwen3-tts-flash', fields: { voice: 'Cherry' } },
    { kind: 'transcription', model: 'qwen3-asr-flash' },
  ],
  models: [
    ...['qwen-image-plus', 'qwen-image-edit-plus', 'wan2.5-t2i-preview', 'wan2.6-image', 'wan2.7-image-pro'],
    ...['wan2.2-kf2v-flash', 'wan2.5-t2v-preview', 'wan2.6-i2v', 'wan2.6-r2v', 'wan2.7-t2v', 'wan2.7-videoedit'],
  ],
  priced: [
    {
      kind: 'image',
      models: ['qwen-image-plus', 'qwen-image-2.0', 'wan2.2-t2i-flash', 'wan2.5-t2i-preview', 'wan2.7-image-pro'],
      read: sentPicture,
    },
    { kind: 'video', models: ['wan2.5-t2v-preview', 'wan2.6-r2v'], read: sentClip },
    { kind: 'video', models: ['wan2.7-t2v', 'wan2.7-r2v', 'wan2.7-videoedit', 'wan3.0-video'], read: sentClip },
  ],
  credential: {
    what: 'a list of the account’s tasks',
    request: 'GET /api/v1/tasks?page_no=1&page_size=1',
  },
};

function sentPicture({ parameters: { size, n } }: WireBody): SentRequest {
  if (size === undefined || /^\dK$/.test(size)) return { count: n, tier: size?.toLowerCase() };
  const sides = size.replace('*', 'x');
  return { count: n, size: sides, tier: tierOfPixels(...sidesOf(sides)) };
}

/** Every shape of a tier has the pixels of its widest or fewer. */
function sentClip({ model, input, parameters }: WireBody): SentRequest {
  const { size, resolution, duration, audio } = parameters;
  const [width = 0, height = 0] = size === undefined ? [] : sidesOf(size.replace('*', 'x'));
  const tier = width * height > 1280 * 720 ? '1080p' : width * height > 832 * 480 ? '720p' : '480p';
  const isClip = (url: string) => url.endsWith('.mp4');
  return {
    tier: resolution?.toLowerCase() ?? tier,
    size: size?.replace('*', 'x'),
    seconds: duration,
    hasAudio: /^wan2\.7/.test(model) ? 'always' : audio,
    hasReferenceVideo:
      input.reference_urls?.some(isClip) ??
      input.media?.some(({ type }: { type: string }) => type === 'video' || type === 'reference_video'),
  };
}
