import { type SentRequest, tierOfPixels, type VendorContract, type WireBody } from '../emulator/contract.ts';
import { FalEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (type) => ({ detail: [{ type, msg: 'marker' }] }),
  isErrorInSuccess: false,
  // Speech comes from the host that answers a call with its result.
  emulator: (apiKey, { picture, clip, sound }, kind) => {
    const files = { image: picture, video: clip, audio: sound };
    return new FalEmulator({ apiKey, readsUntilDone: 0, files, isDirect: kind === 'speech' });
  },
  works: [
    { kind: 'image', model: 'fal-ai/flux/dev' },
    { kind: 'video', model: 'fal-ai/veo3.1' },
    { kind: 'music', model: 'fal-ai/elevenlabs/music' },
    { kind: 'speech', model: 'fal-ai/kokoro/american-english', fields: { voice: 'af_sky' } },
    { kind: 'transcription', model: 'fal-ai/whisper' },
  ],
  models: ['fal-ai/flux/dev'],
  priced: [
    {
      kind: 'image',
      models: [
        'fal-ai/flux/dev',
        'fal-ai/bytedance/seedream/v4/text-to-image',
        'fal-ai/nano-banana-pro',
        'any/gpt-image-1.5',
        'any/painter',
        'fal-ai/recraft/v4',
      ],
      read: sentRequest,
    },
    {
      kind: 'video',
      models: [
        'fal-ai/veo3',
        'fal-ai/kling-video/v3/pro/text-to-video',
        'fal-ai/kling-video/o1/edit',
        'any/seedance-2/reference-to-video',
        'any/film',
      ],
      read: sentRequest,
    },
    {
      kind: 'music',
      models: ['fal-ai/elevenlabs/music', 'fal-ai/stable-audio-25/text-to-audio', 'any/tune'],
      read: sentRequest,
    },
  ],
};

function sentRequest(wire: WireBody): SentRequest {
  const { image_size: size } = wire;
  const free = typeof size === 'string' ? /^auto_(\dk)$/i.exec(size)?.[1]?.toLowerCase() : undefined;
  const sides = typeof size === 'object' ? ([size.width, size.height] as const) : undefined;
  const seconds = wire.duration ?? wire.duration_seconds ?? wire.seconds_total;
  return {
    quality: wire.quality,
    size: sides?.join('x') ?? (typeof size === 'string' && /^\d+x\d+$/.test(size) ? size : undefined),
    tier: wire.resolution?.toLowerCase() ?? free ?? (sides && tierOfPixels(...sides)),
    count: wire.num_images,
    seconds: wire.music_length_ms === undefined ? seconds && Number.parseFloat(seconds) : wire.music_length_ms / 1000,
    hasAudio: wire.generate_audio,
    hasReferenceVideo: wire.video_url !== undefined || wire.video_urls !== undefined,
  };
}
