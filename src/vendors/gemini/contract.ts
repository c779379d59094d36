import type { SentRequest, VendorContract, WireBody } from '../emulator/contract.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (reason) => ({ error: { message: 'marker', details: [{ reason }] } }),
  isErrorInSuccess: true,
  models: ['gemini-3.1-flash-image', 'gemini-3.1-flash-tts-preview', 'gemini-3.8-flash-tts', 'lyria-3-clip-preview'],
  priced: [
    { kind: 'image', models: ['gemini-3.1-flash-image', 'gemini-3-pro-image', 'any/painter'], read: sentPicture },
    { kind: 'video', models: ['gemini-omni-1.1-flash'], read: sentClip },
    { kind: 'music', models: ['lyria-3.5', 'lyria-3-clip-preview'], read: sentSong },
  ],
};

function sentPicture({ generationConfig: { imageConfig = {} } }: WireBody): SentRequest {
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
