import {
  atFirstPoll,
  type SentRequest,
  sidesOf,
  tierOfPixels,
  type VendorContract,
  type WireBody,
} from '../emulator/contract.ts';
import { ReplicateEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  // It tells its errors in words, with a code in some.
  refusal: (code) => ({ detail: `It failed (${code})` }),
  isErrorInSuccess: false,
  emulator: (apiKey, { picture, clip, sound }, kind = 'image') => {
    const result = { image: picture, video: clip }[kind as string] ?? sound;
    return atFirstPoll(new ReplicateEmulator(apiKey, result));
  },
  works: [
    { kind: 'image', model: 'black-forest-labs/flux-schnell' },
    { kind: 'video', model: 'bytedance/seedance-1-pro' },
    { kind: 'music', model: 'stability-ai/stable-audio-2.5' },
    { kind: 'speech', model: 'minimax/speech-02-hd', fields: { voice: 'v' } },
    { kind: 'transcription', model: 'openai/gpt-4o-transcribe', submission: /predictions$/ },
  ],
  models: [
    'black-forest-labs/flux-schnell',
    'bytedance/seedream-4',
    'bytedance/seedance-1-pro',
    'minimax/speech-02-hd',
    'elevenlabs/music',
    'openai/whisper',
  ],
  priced: [
    {
      kind: 'image',
      models: [
        'black-forest-labs/flux-schnell',
        'black-forest-labs/flux-2-pro',
        'google/nano-banana-pro',
        'google/imagen-4',
        'bytedance/seedream-4',
        'any/painter',
      ],
      read: sentRequest,
    },
    {
      kind: 'video',
      models: [
        'bytedance/seedance-1-pro',
        'bytedance/seedance-2.0',
        'google/veo-3.1',
        'kwaivgi/kling-v2.6',
        'any/film',
      ],
      read: sentRequest,
    },
    { kind: 'music', models: ['elevenlabs/music', 'stability-ai/stable-audio-2.5', 'any/tune'], read: sentRequest },
  ],
  credential: {
    what: 'the account',
    request: 'GET /v1/account',
  },
};

function sentRequest({ input }: WireBody): SentRequest {
  const sides = [input.width, input.height].every(Boolean) ? ([input.width, input.height] as const) : undefined;
  const size = sides?.join('x') ?? (/^\d+x\d+$/.test(input.size) ? input.size : undefined);
  const named = /^\dk$/i.test(input.size) ? input.size : (input.resolution ?? input.image_size);
  const tier = input.megapixels === '1' ? '1k' : named?.toLowerCase();
  const milliseconds = input.music_length_ms;
  return {
    size,
    tier: tier ?? (size === undefined ? undefined : tierOfPixels(...sidesOf(size))),
    count: input.num_outputs ?? 1,
    seconds: milliseconds === undefined ? input.duration : milliseconds / 1000,
    hasAudio: input.generate_audio,
    hasReferenceVideo: input.reference_videos !== undefined || input.video !== undefined,
  };
}
