import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runChaos, showRun } from '../packages/verify/src/audio/run.ts';
import { type Server, startServer } from '../packages/verify/src/server.ts';

// A smoke; test/long/chaos-audio.test.ts kills more often and plays the planted bugs.

// A server of its own: it is killed as well.
let server: Server;
before(async () => {
  server = await startServer(process.env);
});
after(() => server.stop());

test('R-277, R-422, R-423, R-426, R-427, R-435, R-436, R-450: a few kills of speech and transcriptions lose, double and leave behind nothing', async () => {
  const run = await runChaos(server, { kills: 2, seed: 1, progress: () => undefined });
  assert.equal(run.findings.length, 0, showRun(run));
  assert.ok(run.kills >= 2 && run.orders > 0, showRun(run));
});
