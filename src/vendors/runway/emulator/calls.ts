import assert from 'node:assert/strict';
import type { JsonObject } from '../../../json.ts';
import type { MediaRequest } from '../../../schemas/index.ts';
import { withUpstream } from '../../emulator/calls.ts';
import type { Media, TaskOrder, TaskWork, Upstream } from '../../index.ts';
import { inMemoryMedia } from '../../kit/in-memory-media.ts';
import { RunwayEmulator } from '../emulator.ts';

export { isFault } from '../../emulator/calls.ts';

export const KEY = 'key-of-the-operator';
export const RESULTS = { image: Buffer.from('a picture'), video: Buffer.from('a clip'), audio: Buffer.from('a sound') };
const ORDER: TaskOrder = { id: 'order-1', count: 1, startWithinMs: 600_000 };

export const picture = inMemoryMedia(Buffer.from('abc'), 'image/png');
export const clip = inMemoryMedia(Buffer.from('abc'), 'video/mp4');
export const sound = inMemoryMedia(Buffer.from('abc'), 'audio/mpeg');
export const large = inMemoryMedia(Buffer.alloc(3_300_001), 'image/png', 'https://example.com/large.png');
export const PICTURE_URI = 'data:image/png;base64,YWJj';
export const CLIP_URI = 'data:video/mp4;base64,YWJj';
export const SOUND_URI = 'data:audio/mpeg;base64,YWJj';

export interface Bench {
  readonly emulator: RunwayEmulator;
  readonly upstream: Upstream;
}

export function withEmulator(run: (bench: Bench) => Promise<void>): Promise<void> {
  const emulator = new RunwayEmulator(KEY, RESULTS);
  return withUpstream(emulator, { model: 'gen4.5', apiKey: KEY }, (upstream) => run({ emulator, upstream }));
}

export async function submit<Request extends MediaRequest<Media>>(
  work: TaskWork<Request> | undefined,
  request: Request,
  upstream: Upstream,
  order: Partial<TaskOrder> = {},
): Promise<JsonObject> {
  const submitted = await work?.submit(request, { ...ORDER, ...order }, upstream);
  assert.ok(submitted?.state === 'accepted');
  return submitted.task;
}
