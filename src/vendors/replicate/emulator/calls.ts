import assert from 'node:assert/strict';
import type { JsonObject } from '../../../json.ts';
import { withUpstream } from '../../emulator/calls.ts';
import type { Progress, TaskOrder, TaskWork, Upstream } from '../../index.ts';
import { ReplicateEmulator } from '../emulator.ts';
import { versionOf } from './models.ts';

export { isFault } from '../../emulator/calls.ts';

export const KEY = 'r8_key-of-the-operator';
export const RESULT = Buffer.from('a result');
export const ORDER: TaskOrder = {
  id: 'order-1',
  count: 1,
  startWithinMs: 600_000,
  calledAt: new Date('2026-11-18T06:00:00Z'),
};

/** As a model of the community is named in a route. */
export function versioned(name: `${string}/${string}`): `${string}/${string}:${string}` {
  return `${name}:${versionOf(name)}`;
}

export interface Bench {
  readonly emulator: ReplicateEmulator;
  /** For one model. */
  readonly upstream: (model: string) => Upstream;
}

export function withEmulator(run: (bench: Bench) => Promise<void>): Promise<void> {
  const emulator = new ReplicateEmulator(KEY, RESULT);
  return withUpstream(emulator, { model: '', apiKey: KEY }, (upstream) =>
    run({ emulator, upstream: (model) => ({ ...upstream, model }) }),
  );
}

export async function submit<Request>(
  work: TaskWork<Request> | undefined,
  request: Request,
  upstream: Upstream,
  order = ORDER,
): Promise<JsonObject> {
  work?.check(request, upstream.model);
  const submitted = await work?.submit(request, order, upstream);
  assert.ok(submitted?.state === 'accepted');
  return submitted.task;
}

export async function poll<Request>(
  work: TaskWork<Request> | undefined,
  task: JsonObject,
  upstream: Upstream,
): Promise<Progress> {
  return (await work?.poll?.(task, upstream)) ?? assert.fail('nothing to poll');
}
