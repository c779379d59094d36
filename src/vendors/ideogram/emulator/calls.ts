import { type Picture, submitPicture, withUpstream } from '../../emulator/calls.ts';
import type { Submitted, Upstream } from '../../index.ts';
import { IdeogramEmulator } from '../emulator.ts';
import { work } from '../work.ts';

export const KEY = 'key-of-the-operator';

interface Bench {
  readonly emulator: IdeogramEmulator;
  readonly at: (model: string) => Upstream;
}

export function withEmulator(run: (bench: Bench) => Promise<void>): Promise<void> {
  const emulator = new IdeogramEmulator(KEY, Buffer.from('p'));
  return withUpstream(emulator, { model: '', apiKey: KEY }, (upstream) =>
    run({ emulator, at: (model) => ({ ...upstream, model }) }),
  );
}

export function draw(upstream: Upstream, fields?: Picture): Promise<Submitted> {
  return submitPicture(work, upstream, fields);
}
