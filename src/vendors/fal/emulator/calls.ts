import assert from 'node:assert/strict';
import { plainImage, plainSound, plainVideo } from '../../../../test/support/plain-requests.ts';
import type { ImageRequest, SoundRequest, VideoRequest } from '../../../schemas/index.ts';
import {
  inMemoryMedia,
  type Media,
  type Progress,
  type TaskOrder,
  type TaskWork,
  type Upstream,
  UpstreamPools,
  type Vendor,
} from '../../index.ts';
import { FalEmulator, type FalOptions } from '../emulator.ts';
import { work as vendor } from '../work.ts';
import { smallPng } from './files.ts';

export { isFault } from '../../emulator/calls.ts';

export const MARKER = 'mk7Q';
export const KEY = 'key-id:key-secret';
export const ORDER: TaskOrder = { id: 'order-1', count: 1, startWithinMs: 600_000 };

export const image = present(vendor.image);
export const video = present(vendor.video);
export const music = present(vendor.music);
export const speech = present(vendor.speech);
export const transcription = present(vendor.transcription);

function present<Work extends Vendor['image' | 'video' | 'music' | 'speech' | 'transcription']>(
  work: Work,
): NonNullable<Work> {
  assert.ok(work);
  return work;
}

export function mediaOf(mimeType: string, data: Buffer, url?: string): Media {
  return inMemoryMedia(data, mimeType, url);
}

export const PNG = smallPng();
export const PNG_URI = `data:image/png;base64,${PNG.toString('base64')}`;
export const picture = mediaOf('image/png', PNG);

export function imageRequest(fields: Partial<ImageRequest<Media>> = {}): ImageRequest<Media> {
  return plainImage({ prompt: 'A lighthouse', ...fields });
}

export function videoRequest(fields: Partial<VideoRequest<Media>> = {}): VideoRequest<Media> {
  return plainVideo({ prompt: 'Waves at night', ...fields });
}

export function soundRequest(fields: Partial<SoundRequest<Media>> = {}): SoundRequest<Media> {
  return plainSound({ prompt: 'A slow waltz for two violins', ...fields });
}

/** Sends every request to the emulator, whatever origin it is meant for, and remembers which that was. */
export class EmulatedPools extends UpstreamPools {
  readonly origins: string[] = [];
  readonly #origin: string;
  constructor(origin: string) {
    super();
    this.#origin = origin;
  }
  override at(address: string): ReturnType<UpstreamPools['at']> {
    this.origins.push(new URL(address).origin);
    return super.at(this.#origin);
  }
}

export async function withEmulator(
  options: FalOptions,
  run: (emulator: FalEmulator, upstream: Upstream, pools: EmulatedPools) => Promise<void>,
): Promise<void> {
  const emulator = new FalEmulator({ apiKey: KEY, marker: MARKER, ...options });
  await emulator.start();
  const pools = new EmulatedPools(emulator.url);
  const { signal } = new AbortController();
  const upstream = { model: 'fal-ai/flux/dev', address: emulator.url, apiKey: KEY, timeoutMs: 60_000, signal, pools };
  try {
    await run(emulator, upstream, pools);
  } finally {
    await pools.close();
    await emulator.stop();
  }
}

/** Submits, and gives what each question after the task brings. */
export async function submitted<Request>(
  work: TaskWork<Request>,
  request: Request,
  upstream: Upstream,
): Promise<() => Promise<Progress>> {
  const answer = await work.submit(request, ORDER, upstream);
  assert.equal(answer.state, 'accepted');
  // A task is stored as JSON between two questions.
  const task = JSON.parse(JSON.stringify(answer.task));
  return async () => {
    const progress = await work.poll?.(task, upstream);
    assert.ok(progress);
    return progress;
  };
}
