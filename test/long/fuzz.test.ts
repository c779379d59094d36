import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Edit } from '../../packages/verify/src/edits.ts';
import { type Campaign, runCampaign } from '../fuzz/campaign.ts';
import { showCampaign } from '../fuzz/show.ts';
import { FuzzWorld } from '../fuzz/world.ts';
import { createDatabase } from '../support/database.ts';

const SEED = 20_261_117;

async function campaign(requests: number, edits: readonly Edit[] = []): Promise<Campaign> {
  const database = await createDatabase();
  try {
    const world = await FuzzWorld.open({ database, seed: SEED, edits });
    try {
      return await runCampaign(world, database, { seed: SEED, requests, lanes: 8, progress: () => undefined });
    } finally {
      await world.close();
    }
  } finally {
    await database.drop();
  }
}

test('R-021, R-072, R-080: hostile requests of every kind are answered as the contract says, and none for money', async () => {
  const run = await campaign(2_000);
  assert.deepEqual(run.findings, [], showCampaign(run, SEED));
  assert.equal(run.requests, 2_000);
});

test('a route that throws and a refusal without a request id are found', async () => {
  const { findings } = await campaign(300, [
    {
      file: 'http/edge/authorize.ts',
      from: `if (credential === undefined) throw new ApiError('missing_token');`,
      to: `if (credential === undefined) throw new Error('planted');`,
    },
    { file: 'http/edge/refuse.ts', from: `'x-request-id': requestId,`, to: `'x-other-id': requestId,` },
    { file: 'http/edge/refuse.ts', from: 'X-Request-Id: ', to: 'X-Other-Id: ' },
  ]);
  const faults = findings.map(({ fault, repeat }) => `${fault} ${repeat}`).join('\n');
  assert.match(faults, /500: .*internal_error.*\n.*in the log: .*planted/);
  assert.match(faults, /without a request id/);
  assert.match(faults, /npm run fuzz -- --seed 20261117 --only \d+/);
});
