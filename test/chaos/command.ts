// The command line of a kind of chaos: `--kills 500 [--seed 7] [--verbose]`, or `--planted`.
import { parseArgs } from 'node:util';
import type { Figures, RunOptions } from '../../packages/verify/src/run.ts';
import { type Server, startServer } from '../../packages/verify/src/server.ts';
import { type Caught, type Hunt, showCaught } from './planted.ts';

const SEEDS = 1_000_000;
const PLANTED_ROUNDS_MAX = 10;

export interface Chaos<Run extends Figures> {
  run(server: Server, options: RunOptions): Promise<Run>;
  show(run: Run): string;
  catchPlanted(server: Server, hunt: Hunt): Promise<readonly Caught[]>;
}

/** The exit code tells whether anything was found, or with `--planted` whether anything was not. */
export async function commandOf<Run extends Figures>(chaos: Chaos<Run>): Promise<void> {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '40' },
      seed: { type: 'string' },
      planted: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
    },
  });
  const seed = values.seed === undefined ? Math.floor(Math.random() * SEEDS) : Number(values.seed);
  // In order, so that the database stops with it.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  const startedMs = performance.now();
  const server = await startServer(process.env);
  try {
    if (values.planted) {
      const caught = await chaos.catchPlanted(server, { seed, roundsMax: PLANTED_ROUNDS_MAX });
      console.log(showCaught(caught));
      if (caught.some(({ finding }) => finding === undefined)) process.exitCode = 1;
    } else {
      const progress = (line: string) => values.verbose && console.log(line);
      const run = await chaos.run(server, { kills: Number(values.kills), seed, progress });
      console.log(chaos.show(run));
      if (run.findings.length > 0) process.exitCode = 1;
    }
    console.log(`from seed ${seed} on, ${Math.round((performance.now() - startedMs) / 1000)} seconds`);
  } finally {
    await server.stop();
  }
}
