import assert from 'node:assert/strict';
import { plainImage } from '../../../../test/support/plain-requests.ts';
import type { ImageRequest } from '../../../schemas/index.ts';
import { type Media, type TaskOrder, type Upstream, UpstreamPools } from '../../index.ts';
import { BflEmulator } from '../emulator.ts';
import { work as bfl } from '../work.ts';

export { isFault } from '../../emulator/calls.ts';

export const KEY = 'key-of-the-operator';
const ORDER: TaskOrder = { id: 'order-1', count: 1, startWithinMs: 600_000 };
export const PICTURE = Buffer.from('a picture');
export const work = bfl.image ?? assert.fail('the vendor makes pictures');

/** Sends every request to the emulator, whatever origin it is meant for, and remembers which that was. */
class EmulatedPools extends UpstreamPools {
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

export interface Bench {
  readonly emulator: BflEmulator;
  readonly upstream: Upstream;
  /** Whom the requests were meant for. */
  readonly origins: readonly string[];
}

export async function withEmulator(run: (bench: Bench) => Promise<void>): Promise<void> {
  const emulator = new BflEmulator(KEY, PICTURE);
  await emulator.start();
  const pools = new EmulatedPools(emulator.url);
  const { signal } = new AbortController();
  const upstream = { model: 'flux-2-pro', address: emulator.url, apiKey: KEY, timeoutMs: 60_000, signal, pools };
  try {
    await run({ emulator, upstream, origins: pools.origins });
  } finally {
    await pools.close();
    await emulator.stop();
  }
}

/** Submits as plainly as can be. */
export async function submit(upstream: Upstream, fields: Partial<ImageRequest<Media>> = {}) {
  const submitted = await work.submit(plainImage(fields), ORDER, upstream);
  assert.ok(submitted.state === 'accepted');
  return submitted.task;
}

export async function poll(task: Awaited<ReturnType<typeof submit>>, upstream: Upstream) {
  return work.poll?.(task, upstream);
}
