// Hostile traffic against the whole program: `npm run fuzz -- --requests 10000 --seed 7 [--lanes 16] [--from CASE] [--only CASE]
// [--coverage]`.
// Requests are made from the gateway's own /openapi.json and from corpora of bad JSON, forms, media and bytes on the wire.
// The exit code tells whether anything was found.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startServer } from '../../packages/verify/src/server.ts';
import { runCampaign } from './campaign.ts';
import { showCampaign, showCoverage } from './show.ts';
import { type FuzzDatabase, FuzzWorld } from './world.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    lanes: { type: 'string', default: '16' },
    from: { type: 'string', default: '0' },
    only: { type: 'string' },
    coverage: { type: 'boolean', default: false },
  },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
const [seed, only] = [Number(values.seed), values.only === undefined ? undefined : Number(values.only)];
const server = await startServer(process.env);
try {
  const dataFolder = join(server.folder, 'fuzz');
  await mkdir(dataFolder, { mode: 0o700 });
  const database: FuzzDatabase = { ...(await server.makeDatabase('fuzz')), dataFolder };
  const world = await FuzzWorld.open({ database, seed });
  try {
    const requests = only === undefined ? Number(values.requests) : only + 1;
    const run = await runCampaign(world, database, {
      seed,
      requests,
      lanes: Number(values.lanes),
      from: Number(values.from),
      only,
      progress: console.log,
    });
    console.log(showCampaign(run, seed));
    if (values.coverage) console.log(showCoverage(run));
    if (run.findings.length > 0) process.exitCode = 1;
  } finally {
    await world.close();
  }
} finally {
  await server.stop();
}
