import {
  atFirstPoll,
  type SentRequest,
  tierOfPixels,
  type VendorContract,
  type WireBody,
} from '../emulator/contract.ts';
import { BflEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (error) => ({ error, message: 'marker' }),
  isErrorInSuccess: false,
  emulator: (apiKey, { picture, clip }, kind) =>
    atFirstPoll(new BflEmulator(apiKey, kind === 'video' ? clip : picture)),
  works: [
    { kind: 'image', model: 'flux-2-pro' },
    { kind: 'video', model: 'flux-3-video' },
  ],
  models: ['flux-pro-1.1', 'flux-pro-1.0-fill', 'flux-3-video'],
  priced: [
    { kind: 'image', models: ['flux-2-pro', 'flux-pro-1.1', 'flux-pro-1.1-ultra', 'any/painter'], read: sentPicture },
    { kind: 'video', models: ['flux-3-video'], read: sentClip },
  ],
};

function sentPicture({ width, height }: WireBody): SentRequest {
  if (width === undefined) return { count: 1 };
  return { count: 1, size: `${width}x${height}`, tier: tierOfPixels(width, height) };
}

function sentClip({ resolution, duration, generate_audio, start_video }: WireBody): SentRequest {
  const tier = ({ hd: '720p', fhd: '1080p' } as Record<string, string>)[resolution];
  return { tier, seconds: duration, hasAudio: generate_audio, hasReferenceVideo: start_video !== undefined };
}
