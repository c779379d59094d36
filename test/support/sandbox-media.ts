import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import type { JsonObject } from '../../src/json.ts';
import type { ImageRequest, SoundRequest, VideoRequest } from '../../src/requests/index.ts';
import { heldMedia } from '../../src/vendors/held-media.ts';
import { type Upstream, UpstreamPools } from '../../src/vendors/http.ts';
import type { Media, Output, Progress, TaskWork } from '../../src/vendors/vendor.ts';

// What the tests of the sandbox's media ask with, and how they wait.

export const IMAGE: ImageRequest<Media> = {
  kind: 'image',
  model: 'sandbox/image',
  prompt: 'a red circle',
  n: 1,
  size: '128x128',
  resolution: undefined,
  aspectRatio: undefined,
  quality: undefined,
  style: undefined,
  negativePrompt: undefined,
  background: undefined,
  outputFormat: undefined,
  responseFormat: undefined,
  seed: 7,
  watermark: undefined,
  referenceImages: [],
  mask: undefined,
  extra: {},
};

export const VIDEO: VideoRequest<Media> = {
  kind: 'video',
  model: 'sandbox/video',
  prompt: 'a red boat on the sea',
  seconds: 1,
  resolution: undefined,
  size: '128x128',
  aspectRatio: undefined,
  fps: 12,
  seed: 7,
  negativePrompt: undefined,
  cameraFixed: undefined,
  watermark: undefined,
  generateAudio: undefined,
  inputReference: undefined,
  referenceImages: [],
  firstFrame: undefined,
  lastFrame: undefined,
  referenceVideos: [],
  referenceAudios: [],
  sourceVideo: undefined,
  extra: {},
};

export const MUSIC: SoundRequest<Media> = {
  kind: 'audio',
  model: 'sandbox/music',
  input: undefined,
  prompt: 'a happy piano tune',
  lyrics: undefined,
  voice: undefined,
  referenceId: undefined,
  voiceDescription: undefined,
  language: undefined,
  format: undefined,
  output: 'binary',
  speed: undefined,
  volume: undefined,
  loudness: undefined,
  guidanceScale: undefined,
  promptInfluence: undefined,
  sampleRate: undefined,
  bitrate: undefined,
  durationSeconds: 2,
  n: 1,
  seed: 7,
  instrumental: undefined,
  loop: undefined,
  autoGenerateText: undefined,
  referenceAudio: [],
  extra: {},
};

export function sandboxUpstream(): Upstream {
  const { signal } = new AbortController();
  return { model: 'media', address: '', apiKey: '', timeoutMs: 60_000, signal, pools: new UpstreamPools() };
}

export function order(id: string, count = 1) {
  return { id, count, startWithinMs: 600_000 };
}

/** Submits, and asks until it is over. */
export async function made<Request>(work: TaskWork<Request>, request: Request, count = 1): Promise<Progress> {
  const submitted = await work.submit(request, order(`order-${JSON.stringify(request)}`, count), sandboxUpstream());
  return submitted.state === 'succeeded' ? submitted : ended(work, submitted.task);
}

export async function ended<Request>(work: TaskWork<Request>, task: JsonObject): Promise<Progress> {
  for (;;) {
    const progress = await work.poll?.(JSON.parse(JSON.stringify(task)), sandboxUpstream());
    if (progress === undefined) throw new Error('it cannot be asked');
    if (progress.state !== 'running') return progress;
    await sleep(10);
  }
}

export function bytesOf(progress: Progress): Buffer[] {
  if (progress.state !== 'succeeded') throw new Error(`it is ${JSON.stringify(progress)}`);
  return progress.outputs.map(dataOf);
}

function dataOf(output: Output): Buffer {
  if (!('data' in output)) throw new Error('the result is elsewhere');
  return output.data;
}

export function medium(bytes: Buffer, mimeType = 'image/png'): Media {
  return heldMedia(bytes, mimeType);
}

/** A picture from SVG. */
export async function pictureMedium(inner: string, width = 128, height = width): Promise<Media> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${inner}</svg>`;
  return medium(await sharp(Buffer.from(svg)).png().toBuffer());
}

export function plainMedium(color: string, width = 128, height = width): Promise<Media> {
  return pictureMedium(`<rect width="${width}" height="${height}" fill="${color}"/>`, width, height);
}
