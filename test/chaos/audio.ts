// Kills a busy gateway at named points of transcriptions and speech, over and over. After each round everything is brought
// to rest and looked at by a checker of its own. `npm run chaos:audio -- --kills 100 [--seed 7] [--verbose]`, or with
// `--planted`: the checker is put to the test with mistakes that it must find.

import { runChaos, showRun } from '../../packages/verify/src/audio/run.ts';
import { catchPlanted } from './audio-planted.ts';
import { commandOf } from './command.ts';

await commandOf({ run: runChaos, show: showRun, catchPlanted });
