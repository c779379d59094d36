import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSeeds, showFailure } from '../simulate/lanes.ts';
import { catchPlanted, showCaught } from '../simulate/planted.ts';
import { makeDatabase } from '../support/simulate.ts';

const STEPS = 32;

test('R-270, R-271, R-272, R-273, R-274, R-275, R-276: the ledger does what the model does, whatever the seed', async () => {
  const seeds = Array.from({ length: 300 }, (_, place) => 1_000_000 + place);
  const failure = await runSeeds(makeDatabase, { seeds, steps: STEPS, impatient: true, lanes: 3 });
  assert.equal(failure && showFailure(failure), undefined);
});

test('the simulator catches each of ten planted bugs', async () => {
  const results = await catchPlanted(makeDatabase, { seedsMax: 60, steps: STEPS });
  assert.equal(results.filter(({ failure }) => failure !== undefined).length, 10, showCaught(results));
});
