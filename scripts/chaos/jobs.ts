// Kills a busy gateway at named points of a job's life, over and over. After each round everything is brought to rest and
// looked at by a checker of its own. `npm run chaos:jobs -- --kills 500 [--seed 7]`.
import { parseArgs } from 'node:util';
import { History, playRound } from './jobs-round.ts';
import { startServer, World } from './jobs-world.ts';

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '40' }, seed: { type: 'string' }, verbose: { type: 'boolean' } },
});
const startedMs = performance.now();
const server = await startServer();
const world = await World.open(server, 'chaos');
const history = new History();
let seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
let kills = 0;
let jobs = 0;
try {
  while (kills < Number(values.kills)) {
    const played = await playRound(world, history, seed++);
    kills += played.kills;
    jobs += played.jobs;
    if (values.verbose) console.log(kills, Math.round(performance.now() - startedMs), JSON.stringify(played));
    if (played.findings.length > 0) {
      console.error(JSON.stringify(played.plan), `seed ${played.seed}\n${played.findings.join('\n')}`);
      process.exitCode = 1;
      break;
    }
  }
  console.log(kills, jobs);
} finally {
  await world.close();
  await server.stop();
}
