import assert from 'node:assert/strict';
import { plainImage } from '../../../../test/support/plain-requests.ts';
import { ApiError, type Fault, UpstreamError } from '../../../errors.ts';
import { type Submitted, type Upstream, UpstreamPools } from '../../index.ts';
import { RecraftEmulator } from '../emulator.ts';
import { work } from '../work.ts';

export const KEY = 'key-of-the-operator';

export type Picture = Parameters<typeof plainImage>[0];

export interface Bench {
  readonly emulator: RecraftEmulator;
  readonly at: (model: string) => Upstream;
}

export async function withEmulator(run: (bench: Bench) => Promise<void>): Promise<void> {
  const emulator = new RecraftEmulator(KEY, Buffer.from('p'));
  await emulator.start();
  const pools = new UpstreamPools();
  const { signal } = new AbortController();
  const rest = { address: emulator.url, apiKey: KEY, timeoutMs: 60_000, signal, pools };
  try {
    await run({ emulator, at: (model) => ({ model, ...rest }) });
  } finally {
    await pools.close();
    await emulator.stop();
  }
}

/** Checked as the engine does it, and then submitted for as many as one call can bring. */
export async function draw(upstream: Upstream, fields: Picture = {}): Promise<Submitted> {
  const request = plainImage(fields);
  const image = work.image ?? assert.fail('no pictures');
  image.check(request, upstream.model);
  const count = image.perCall(request, upstream.model);
  return image.submit(request, { id: 'order-1', count, startWithinMs: 600_000 }, upstream);
}

export function isFault(fault: Fault, isUncertain?: boolean): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof UpstreamError, String(error));
    assert.equal(error.fault, fault, error.message);
    if (isUncertain !== undefined) assert.equal(error.isUncertain, isUncertain);
    return true;
  };
}

/** In the words of all vendors. */
export function isRefused(field: string, why = ''): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.code, 'unsupported_parameter');
    assert.equal(error.param, field);
    assert.ok(error.message.startsWith(`"${field}": this model ${why}`), error.message);
    return true;
  };
}
