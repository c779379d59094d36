import { withUpstream } from '../../emulator/calls.ts';
import type { TaskOrder, Upstream } from '../../index.ts';
import { MinimaxEmulator } from '../emulator.ts';

export { isFault, isRefused } from '../../emulator/calls.ts';

export const KEY = 'key-of-the-operator';
export const ORDER: TaskOrder = { id: 'order-1', count: 1, startWithinMs: 600_000 };
export const SOUND = Buffer.from('ID3 a sound');

export interface Bench {
  readonly emulator: MinimaxEmulator;
  readonly at: (model: string) => Upstream;
}

export function withEmulator(run: (bench: Bench) => Promise<void>): Promise<void> {
  const emulator = new MinimaxEmulator(KEY, { picture: Buffer.from('p'), clip: Buffer.from('c'), sound: SOUND });
  return withUpstream(emulator, { model: '', apiKey: KEY }, (upstream) =>
    run({ emulator, at: (model) => ({ ...upstream, model }) }),
  );
}
