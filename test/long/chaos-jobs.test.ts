import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runChaos, showRun } from '../../packages/verify/src/jobs/run.ts';
import { type Server, startServer } from '../../packages/verify/src/server.ts';
import { catchPlanted } from '../chaos/jobs-planted.ts';
import { showCaught } from '../chaos/planted.ts';

// A server of its own: it is killed as well.
let server: Server;
before(async () => {
  server = await startServer(process.env);
});
after(() => server.stop());

test('R-197, R-200, R-204, R-207, R-211, R-214, R-215: twenty kills lose, double and leave behind nothing, whatever the point', async () => {
  const run = await runChaos(server, { kills: 20, seed: 1, progress: () => undefined });
  assert.equal(run.findings.length, 0, showRun(run));
  assert.ok(run.kills >= 20 && run.jobs > run.kills, showRun(run));
});

test('the checker of the chaos catches each of six planted bugs', async () => {
  const caught = await catchPlanted(server, { seed: 1, roundsMax: 10 });
  assert.equal(caught.filter(({ finding }) => finding !== undefined).length, 6, showCaught(caught));
});
