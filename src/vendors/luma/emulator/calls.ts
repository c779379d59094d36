import assert from 'node:assert/strict';
import { type Fault, UpstreamError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import type { MediaRequest } from '../../../schemas/index.ts';
import { type Media, type TaskOrder, type TaskWork, type Upstream, UpstreamPools } from '../../index.ts';
import { LumaEmulator } from '../emulator.ts';

export const KEY = 'key-of-the-operator';
export const RESULTS = { image: Buffer.from('a picture'), video: Buffer.from('a clip') };
const ORDER: TaskOrder = { id: 'order-1', count: 1, startWithinMs: 600_000 };

export interface Bench {
  readonly emulator: LumaEmulator;
  readonly upstream: Upstream;
}

export async function withEmulator(run: (bench: Bench) => Promise<void>): Promise<void> {
  const emulator = new LumaEmulator(KEY, RESULTS);
  await emulator.start();
  const pools = new UpstreamPools();
  const { signal } = new AbortController();
  const upstream = { model: 'ray-2', address: emulator.url, apiKey: KEY, timeoutMs: 60_000, signal, pools };
  try {
    await run({ emulator, upstream });
  } finally {
    await pools.close();
    await emulator.stop();
  }
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

export function isFault(fault: Fault, fields: Partial<UpstreamError> = {}): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof UpstreamError, String(error));
    assert.equal(error.fault, fault, error.message);
    for (const [name, value] of Object.entries(fields)) assert.equal(error[name as keyof UpstreamError], value, name);
    return true;
  };
}
