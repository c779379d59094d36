// Kills a busy gateway at named points of a job's life, over and over. After each round everything is brought to rest and
// looked at by a checker of its own. `npm run chaos:jobs -- --kills 500 [--seed 7] [--verbose]`, or with `--planted`: the
// checker is put to the test with mistakes that it must find.

import { runChaos, showRun } from '../../packages/verify/src/jobs/run.ts';
import { commandOf } from './command.ts';
import { catchPlanted } from './jobs-planted.ts';

await commandOf({ run: runChaos, show: showRun, catchPlanted });
