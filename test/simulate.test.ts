import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDb } from '../src/db/index.ts';
import { generate } from './simulate/generate.ts';
import { INVARIANTS } from './simulate/invariants.ts';
import { type Database, runSeeds, showFailure } from './simulate/lanes.ts';
import { catchPlanted, showCaught } from './simulate/planted.ts';
import { createDatabase, silentLog } from './support/database.ts';

const STEPS = 32;

test('R-270, R-271, R-272, R-273, R-274, R-275, R-276: the ledger does what the model does, whatever the seed', async () => {
  const seeds = Array.from({ length: 120 }, (_, place) => 1_000_000 + place);
  const failure = await runSeeds(makeDatabase, { seeds, steps: STEPS, impatient: true, lanes: 3 });
  assert.equal(failure && showFailure(failure), undefined);
});

test('the simulator catches each of ten planted bugs', async () => {
  const results = await catchPlanted(makeDatabase, { seedsMax: 60, steps: STEPS });
  assert.equal(results.filter(({ failure }) => failure !== undefined).length, 10, showCaught(results));
});

test('a seed always gives the same scenario, and another seed another', () => {
  assert.deepEqual(generate(7, STEPS), generate(7, STEPS));
  assert.notDeepEqual(generate(7, STEPS), generate(8, STEPS));
});

test('there are fifteen invariants', () => {
  assert.equal(Object.keys(INVARIANTS).length, 15);
});

async function makeDatabase(): Promise<Database> {
  const database = await createDatabase();
  const { address } = database;
  const db = openDb(address, silentLog);
  // As in the simulator's own server: sessions are too short for plans to pay. Holds for new connections.
  await db.run(`alter database ${address.database} set plan_cache_mode = force_generic_plan`);
  await db.run(`alter database ${address.database} set jit = off`);
  await db.close();
  const own = openDb(address, silentLog);
  const drop = async () => {
    await own.close();
    await database.drop();
  };
  return { db: own, drop };
}
