import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import type { JsonObject } from '../../src/json.ts';
import { type Upstream, UpstreamPools } from '../../src/vendors/kit/http.ts';
import { inMemoryMedia } from '../../src/vendors/kit/in-memory-media.ts';
import type { Media, Output, Progress, TaskWork } from '../../src/vendors/vendor.ts';
import { plainImage, plainSound, plainVideo } from './plain-requests.ts';

// What the tests of the sandbox's media ask with, and how they wait.

export const IMAGE = plainImage({ model: 'sandbox/image', prompt: 'a red circle', size: '128x128', seed: 7 });

export const VIDEO = plainVideo({
  model: 'sandbox/video',
  prompt: 'a red boat on the sea',
  seconds: 1,
  size: '128x128',
  fps: 12,
  seed: 7,
});

export const MUSIC = plainSound({ model: 'sandbox/music', prompt: 'a happy piano tune', durationSeconds: 2, seed: 7 });

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
  return inMemoryMedia(bytes, mimeType);
}

/** A picture from SVG. */
export async function pictureMedium(inner: string, width = 128, height = width): Promise<Media> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${inner}</svg>`;
  return medium(await sharp(Buffer.from(svg)).png().toBuffer());
}

export function plainMedium(color: string, width = 128, height = width): Promise<Media> {
  return pictureMedium(`<rect width="${width}" height="${height}" fill="${color}"/>`, width, height);
}
