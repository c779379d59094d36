import assert from 'node:assert/strict';
import { ApiError, type Fault, UpstreamError } from '../../../errors.ts';
import { type TaskOrder, type Upstream, UpstreamPools } from '../../index.ts';
import { XaiEmulator } from '../emulator.ts';

export const KEY = 'key-of-the-operator';
export const ORDER: TaskOrder = { id: 'order-1', count: 1, startWithinMs: 600_000 };
export const SOUND = Buffer.from('ID3 a sound');

export interface Bench {
  readonly emulator: XaiEmulator;
  readonly at: (model: string) => Upstream;
}

export async function withEmulator(run: (bench: Bench) => Promise<void>): Promise<void> {
  const emulator = new XaiEmulator(KEY, { picture: Buffer.from('p'), clip: Buffer.from('c'), sound: SOUND });
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
