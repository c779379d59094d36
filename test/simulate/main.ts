// The seeded simulator of money: the real ledger and billing on a real PostgreSQL, against a small model.
//   --seeds N    plays seeds 1 to N (default 200)
//   --seed K     plays one seed again
//   --steps M    operations per seed (default 32)
//   --patient    no caller repeats or ends a reservation before its first answer
//   --planted    proves that each planted bug is caught
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { pino } from 'pino';
import { migrate, openDb } from '../../src/db/index.ts';
import { type MakeDatabase, runSeeds, showFailure } from './lanes.ts';
import { catchPlanted, showCaught } from './planted.ts';

const LANES = 4;
const log = pino({ level: 'warn' });

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    seed: { type: 'string' },
    steps: { type: 'string', default: '32' },
    patient: { type: 'boolean', default: false },
    planted: { type: 'boolean', default: false },
  },
});

const folder = await mkdtemp(join(tmpdir(), 'tollgate-simulate-'));
// The simulator tests the rules, not the disk, and its sessions are too short for plans to pay.
const quick = { plan_cache_mode: 'force_generic_plan', jit: 'off', autovacuum: 'off' };
const settings = { fsync: 'off', synchronous_commit: 'off', max_connections: '200', ...quick };
const server = await startEmbeddedPostgres({ folder, log, progress: () => undefined, settings });
try {
  const makeDatabase = await fromTemplate(server);
  process.exitCode = values.planted ? await runPlanted(makeDatabase) : await runClean(makeDatabase);
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function runClean(makeDatabase: MakeDatabase): Promise<number> {
  const seeds = values.seed === undefined ? upTo(wholeNumber(values.seeds)) : [wholeNumber(values.seed)];
  const steps = wholeNumber(values.steps);
  const begun = performance.now();
  const progress = (done: number) => {
    if (done % 500 === 0) console.log(`${done} seeds`);
  };
  const lanes = Math.min(LANES, seeds.length);
  const impatient = !values.patient;
  const failure = await runSeeds(makeDatabase, { seeds, steps, impatient, lanes, progress });
  if (failure !== undefined) console.log(showFailure(failure));
  else console.log(`${seeds.length} seeds of ${steps} steps are clean (${secondsSince(begun)} s)`);
  return failure === undefined ? 0 : 1;
}

async function runPlanted(makeDatabase: MakeDatabase): Promise<number> {
  const begun = performance.now();
  const results = await catchPlanted(makeDatabase, {
    seedsMax: wholeNumber(values.seeds),
    steps: wholeNumber(values.steps),
  });
  console.log(`${showCaught(results)} (${secondsSince(begun)} s)`);
  return results.every(({ failure }) => failure !== undefined) ? 0 : 1;
}

async function fromTemplate({ connection }: EmbeddedPostgres): Promise<MakeDatabase> {
  const postgres = openDb(connection, log);
  await postgres.run('create database simulate_template');
  const template = openDb({ ...connection, database: 'simulate_template' }, log);
  await migrate(template, () => undefined);
  await template.close();
  await postgres.close();
  let made = 0;
  return async () => {
    const database = `simulate_${made++}`;
    const maker = openDb(connection, log);
    await maker.run(`create database ${database} template simulate_template`);
    await maker.close();
    const db = openDb({ ...connection, database }, log);
    return { db, drop: () => db.close() };
  };
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, place) => place + 1);
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new RangeError(`"${text}" is not a whole number.`);
  return Number(text);
}

function secondsSince(begun: number): string {
  return ((performance.now() - begun) / 1000).toFixed(1);
}
