import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generate } from './simulate/generate.ts';
import { runSeeds, showFailure } from './simulate/lanes.ts';
import { makeDatabase } from './support/simulate.ts';

// A smoke; test/long/simulate.test.ts plays more seeds and the planted bugs.

const STEPS = 32;

test('R-270, R-271, R-272, R-273, R-274, R-275, R-276: twenty seeds of the ledger do what the model does', async () => {
  const seeds = Array.from({ length: 20 }, (_, place) => 2_000_000 + place);
  const failure = await runSeeds(makeDatabase, { seeds, steps: STEPS, impatient: true, lanes: 3 });
  assert.equal(failure && showFailure(failure), undefined);
});

test('a seed always gives the same scenario, and another seed another', () => {
  assert.deepEqual(generate(7, STEPS), generate(7, STEPS));
  assert.notDeepEqual(generate(7, STEPS), generate(8, STEPS));
});
