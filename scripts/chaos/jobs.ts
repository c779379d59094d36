// Kills a busy gateway at named points of a job's life, over and over. After each round everything is brought to rest and
// looked at by a checker of its own. `npm run chaos:jobs -- --kills 500 [--seed 7] [--verbose]`, or with `--planted`: the
// checker is put to the test with mistakes that it must find.
import { parseArgs } from 'node:util';
import { catchPlanted, showCaught } from './jobs-planted.ts';
import { runChaos, showRun } from './jobs-run.ts';
import { startServer } from './jobs-world.ts';

const SEEDS = 1_000_000;
const PLANTED_ROUNDS_MAX = 10;

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
const server = await startServer();
try {
  if (values.planted) {
    const caught = await catchPlanted(server, { seed, roundsMax: PLANTED_ROUNDS_MAX });
    console.log(showCaught(caught));
    if (caught.some(({ finding }) => finding === undefined)) process.exitCode = 1;
  } else {
    const progress = (line: string) => values.verbose && console.log(line);
    const run = await runChaos(server, { kills: Number(values.kills), seed, progress });
    console.log(showRun(run));
    if (run.findings.length > 0) process.exitCode = 1;
  }
  console.log(`from seed ${seed} on, ${Math.round((performance.now() - startedMs) / 1000)} seconds`);
} finally {
  await server.stop();
}
