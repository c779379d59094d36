import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runChaos, showRun } from '../packages/verify/src/jobs/run.ts';
import { type Server, startServer } from '../packages/verify/src/server.ts';

// A smoke; test/long/chaos-jobs.test.ts kills more often and plays the planted bugs.

// A server of its own: it is killed as well.
let server: Server;
before(async () => {
  server = await startServer(process.env);
});
after(() => server.stop());

test('R-197, R-200, R-204, R-207, R-211, R-214, R-215: a few kills lose, double and leave behind nothing', async () => {
  const run = await runChaos(server, { kills: 4, seed: 1, progress: () => undefined });
  assert.equal(run.findings.length, 0, showRun(run));
  assert.ok(run.kills >= 4 && run.jobs > 0, showRun(run));
});
