import assert from 'node:assert/strict';
import { plainImage, plainSound } from '../../../../test/support/plain-requests.ts';
import { ApiError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import type { ImageRequest, SoundRequest } from '../../../schemas/index.ts';
import { withUpstream } from '../../emulator/calls.ts';
import type { Media, Submitted, TaskOrder, Upstream } from '../../index.ts';
import { StabilityEmulator } from '../emulator.ts';
import { work } from '../work.ts';

export const KEY = 'key-of-the-operator';
const ORDER: TaskOrder = { id: 'order-1', count: 1, startWithinMs: 600_000 };
export const MADE = { image: Buffer.from('a picture'), audio: Buffer.from('a sound') };
export const image = work.image ?? assert.fail('the vendor makes pictures');
export const music = work.music ?? assert.fail('the vendor makes music');

export function withEmulator(run: (emulator: StabilityEmulator, upstream: Upstream) => Promise<void>): Promise<void> {
  const emulator = new StabilityEmulator(KEY, MADE);
  return withUpstream(emulator, { model: 'core', apiKey: KEY }, (upstream) => run(emulator, upstream));
}

/** Checked as before a job is admitted, then sent. */
export async function draw(upstream: Upstream, fields: Partial<ImageRequest<Media>> = {}): Promise<Submitted> {
  const request = plainImage(fields);
  image.check(request, upstream.model);
  return image.submit(request, ORDER, upstream);
}

export async function play(upstream: Upstream, fields: Partial<SoundRequest<Media>> = {}): Promise<Submitted> {
  const request = plainSound({ prompt: 'A march', ...fields });
  music.check(request, upstream.model);
  return music.submit(request, ORDER, upstream);
}

export function taskOf(submitted: Submitted): JsonObject {
  assert.ok(submitted.state === 'accepted');
  return submitted.task;
}

export function isRefused(field: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof ApiError && error.code === 'unsupported_parameter', String(error));
    assert.ok(error.message.startsWith(`"${field}": this model `), error.message);
    assert.doesNotMatch(error.message, /stab|diffusion|sd3/i);
    return error.param === field;
  };
}
