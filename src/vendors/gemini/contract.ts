import type { SentRequest, VendorContract, WireBody } from '../emulator/contract.ts';
import { wire } from '../formats/generate-content/index.ts';
import { GeminiEmulator } from './emulator.ts';

export const contract: VendorContract = {
  wire,
  refusal: (reason) => ({ error: { message: 'marker', details: [{ reason }] } }),
  isErrorInSuccess: true,
  emulator: (apiKey, { picture, clip, sound, wave }) => {
    const samples = { picture, pictureType: 'image/jpeg', clip, song: sound, wave, samples: wave.subarray(44) };
    const emulator = new GeminiEmulator({ apiKey, samples });
    Object.assign(emulator.interactions, { isSlow: true, readsUntilDone: 0 });
    return emulator;
  },
  works: [
    { kind: 'chat', model: 'gemini-3.8-flash' },
    { kind: 'native', model: 'gemini-3.8-flash' },
    { kind: 'embedding', model: 'gemini-embedding-001' },
    { kind: 'image', model: 'gemini-3.1-flash-image' },
    { kind: 'video', model: 'gemini-omni-1.1-flash' },
    { kind: 'music', model: 'lyria-3.5' },
    { kind: 'speech', model: 'gemini-3.8-flash-tts' },
    { kind: 'transcription', model: 'gemini-3.5-transcribe' },
  ],
  policy: () => [400, { error: { message: 'The prompt violates the use policy.' } }],
  models: ['gemini-3.1-flash-image', 'gemini-3.1-flash-tts-preview', 'gemini-3.8-flash-tts', 'lyria-3-clip-preview'],
  priced: [
    { kind: 'image', models: ['gemini-3.1-flash-image', 'gemini-3-pro-image', 'any/painter'], read: sentPicture },
    { kind: 'video', models: ['gemini-omni-1.1-flash'], read: sentClip },
    { kind: 'music', models: ['lyria-3.5', 'lyria-3-clip-preview'], read: sentSong },
  ],
};

export function sentPicture({ generationConfig: { imageConfig = {} } }: WireBody): SentRequest {
  const { imageSize, aspectRatio } = imageConfig;
  const side = Number.parseInt(imageSize ?? '', 10) * 1024;
  return {
    count: 1,
    tier: imageSize?.toLowerCase(),
    size: imageSize !== undefined && aspectRatio === '1:1' ? `${side}x${side}` : undefined,
  };
}

function sentClip({ response_format: format, input }: WireBody): SentRequest {
  return {
    tier: format.resolution,
    seconds: format.duration && Number.parseInt(format.duration, 10),
    hasAudio: 'always',
    hasReferenceVideo: input.some(({ type }: { type: string }) => type === 'video'),
  };
}

function sentSong({ model, input }: WireBody): SentRequest {
  const seconds = /The length is ([\d.]+) seconds/.exec(input)?.[1];
  const inWords = seconds === undefined ? undefined : Number(seconds);
  return { seconds: /clip/.test(model) ? 30 : inWords };
}
