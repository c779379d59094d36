import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runChaos, showRun } from '../../packages/verify/src/audio/run.ts';
import { type Server, startServer } from '../../packages/verify/src/server.ts';
import { catchPlanted } from '../chaos/audio-planted.ts';
import { showCaught } from '../chaos/planted.ts';

// A server of its own: it is killed as well.
let server: Server;
before(async () => {
  server = await startServer(process.env);
});
after(() => server.stop());

test('R-277, R-422, R-423, R-426, R-427, R-435, R-436, R-450: twelve kills of speech and transcriptions lose, double and leave behind nothing', async () => {
  const run = await runChaos(server, { kills: 12, seed: 1, progress: () => undefined });
  assert.equal(run.findings.length, 0, showRun(run));
  assert.ok(run.kills >= 12 && run.orders > run.kills, showRun(run));
});

test('the checker of the chaos for sound catches each of eight planted bugs', async () => {
  const caught = await catchPlanted(server, { seed: 1, roundsMax: 10 });
  assert.equal(caught.filter(({ finding }) => finding !== undefined).length, 8, showCaught(caught));
});
