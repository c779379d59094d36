import assert from 'node:assert/strict';
import { type Fault, UpstreamError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import { type Progress, type TaskOrder, type TaskWork, type Upstream, UpstreamPools } from '../../index.ts';
import { ReplicateEmulator } from '../emulator.ts';
import { versionOf } from './models.ts';

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

export async function withEmulator(run: (bench: Bench) => Promise<void>): Promise<void> {
  const emulator = new ReplicateEmulator(KEY, RESULT);
  await emulator.start();
  const pools = new UpstreamPools();
  const { signal } = new AbortController();
  const upstream = (model: string) => ({ model, address: emulator.url, apiKey: KEY, timeoutMs: 60_000, signal, pools });
  try {
    await run({ emulator, upstream });
  } finally {
    await pools.close();
    await emulator.stop();
  }
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

export function isFault(fault: Fault, fields: Partial<UpstreamError> = {}): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof UpstreamError, String(error));
    assert.equal(error.fault, fault, error.message);
    for (const [name, value] of Object.entries(fields)) assert.equal(error[name as keyof UpstreamError], value, name);
    return true;
  };
}
