import assert from 'node:assert/strict';
import type { JsonObject } from '../../../json.ts';
import type { MediaRequest } from '../../../schemas/index.ts';
import { withUpstream } from '../../emulator/calls.ts';
import type { Media, TaskOrder, TaskWork, Upstream } from '../../index.ts';
import { LumaEmulator } from '../emulator.ts';

export { isFault } from '../../emulator/calls.ts';

export const KEY = 'key-of-the-operator';
export const RESULTS = { image: Buffer.from('a picture'), video: Buffer.from('a clip') };
const ORDER: TaskOrder = { id: 'order-1', count: 1, startWithinMs: 600_000 };

export interface Bench {
  readonly emulator: LumaEmulator;
  readonly upstream: Upstream;
}

export function withEmulator(run: (bench: Bench) => Promise<void>): Promise<void> {
  const emulator = new LumaEmulator(KEY, RESULTS);
  return withUpstream(emulator, { model: 'ray-2', apiKey: KEY }, (upstream) => run({ emulator, upstream }));
}

export async function submit<Request extends MediaRequest<Media>>(
  work: TaskWork<Request> | undefined,
  request: Request,
  upstream: Upstream,
): Promise<JsonObject> {
  const submitted = await work?.submit(request, ORDER, upstream);
  assert.ok(submitted?.state === 'accepted');
  return submitted.task;
}
