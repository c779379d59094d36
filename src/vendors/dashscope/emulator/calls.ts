import assert from 'node:assert/strict';
import { plainImage, plainVideo } from '../../../../test/support/plain-requests.ts';
import type { JsonObject } from '../../../json.ts';
import type { ImageRequest, VideoRequest } from '../../../schemas/index.ts';
import { withUpstream } from '../../emulator/calls.ts';
import type { Media, TaskOrder, Upstream } from '../../index.ts';
import { DashscopeEmulator } from '../emulator.ts';
import { work } from '../work.ts';

export { isFault } from '../../emulator/calls.ts';

export const KEY = 'key-of-the-operator';
const ORDER: TaskOrder = { id: 'job_1-0', count: 1, startWithinMs: 600_000 };
export const image = work.image ?? assert.fail('the vendor makes pictures');
export const video = work.video ?? assert.fail('the vendor makes clips');
export const speech = work.speech ?? assert.fail('the vendor speaks');
export const transcription = work.transcription ?? assert.fail('the vendor transcribes');

export async function withEmulator(
  model: string,
  run: (emulator: DashscopeEmulator, upstream: Upstream) => Promise<void>,
): Promise<void> {
  const files = { clip: Buffer.from('a clip'), picture: Buffer.from('a picture'), sound: Buffer.from('a sound') };
  const emulator = new DashscopeEmulator(KEY, files);
  await withUpstream(emulator, { model, apiKey: KEY }, (upstream) => run(emulator, upstream));
}

/** Checks and submits a clip as plainly as can be, and gives its task as it is stored. */
export async function film(upstream: Upstream, fields: Partial<VideoRequest<Media>> = {}): Promise<JsonObject> {
  const request = plainVideo({ prompt: 'Waves', ...fields });
  video.check(request, upstream.model);
  const submitted = await video.submit(request, ORDER, upstream);
  assert.ok(submitted.state === 'accepted');
  return JSON.parse(JSON.stringify(submitted.task));
}

export async function draw(upstream: Upstream, fields: Partial<ImageRequest<Media>> = {}) {
  const request = plainImage(fields);
  image.check(request, upstream.model);
  const count = Math.min(request.n, image.perCall(request, upstream.model));
  return image.submit(request, { ...ORDER, count }, upstream);
}

export async function poll(task: JsonObject, upstream: Upstream) {
  return video.poll?.(task, upstream);
}
