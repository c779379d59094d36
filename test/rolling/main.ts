// Restarts three processes in turn under constant load, behind a load balancer that asks for their readiness.
//   npm run rolling -- --restarts 20
import { parseArgs } from 'node:util';
import { isSound, roll, showRolled } from './run.ts';

const { values } = parseArgs({ options: { restarts: { type: 'string', default: '20' } } });
// An exit stops the database server; a signal alone would leave it.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
const rolled = await roll({ restarts: Number(values.restarts), progress: console.log });
console.log(showRolled(rolled));
process.exit(isSound(rolled) ? 0 : 1);
