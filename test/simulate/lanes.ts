import type { Db } from '../../src/db/index.ts';
import { generate } from './generate.ts';
import { type Failure, play } from './play.ts';
import { type Scenario, show } from './scenario.ts';
import { realVerbs, type Verbs } from './verbs.ts';

/** A migrated database of the simulator's own. */
export interface Database {
  readonly db: Db;
  drop(): Promise<void>;
}

export type MakeDatabase = () => Promise<Database>;

export interface SeedRun {
  readonly seeds: readonly number[];
  readonly steps: number;
  readonly impatient?: boolean;
  /** How many seeds run at the same time, each lane in a database of its own. */
  readonly lanes: number;
  readonly progress?: (done: number) => void;
}

/** Plays every seed; the first that fails ends the run, cut down to the operations that matter. */
export async function runSeeds(makeDatabase: MakeDatabase, run: SeedRun): Promise<Failure | undefined> {
  const left = run.seeds[Symbol.iterator]();
  const state: { done: number; failure: Failure | undefined } = { done: 0, failure: undefined };
  const lane = async () => {
    const database = await makeDatabase();
    const { db } = database;
    let played = 0;
    try {
      for (const seed of left) {
        const failure = await playSeed(db, generate(seed, run.steps, run.impatient));
        state.failure ??= failure;
        if (state.failure !== undefined) return;
        if (++played % WIPE_EVERY === 0) await wipe(db);
        run.progress?.(++state.done);
      }
    } finally {
      await database.drop();
    }
  };
  await Promise.all(Array.from({ length: run.lanes }, lane));
  return state.failure;
}

const WIPE_EVERY = 12;

async function playSeed(db: Db, scenario: Scenario): Promise<Failure | undefined> {
  const failure = await play(db, realVerbs, scenario);
  return failure && shrink(db, realVerbs, failure);
}

/** An empty ledger, so that the books stay short. The simulator's own: no gateway may do this. */
export async function wipe(db: Db): Promise<void> {
  await db.transaction((tx) =>
    tx.script(`set local session_replication_role = replica;
      truncate ledger_entries, ledger_checkpoints, open_reservations, reservation_owners, reservations, grants, balances, key_spending,
        api_keys, oauth_grants, oauth_clients, people, accounts cascade;`),
  );
}

const REPLAYS_MAX = 200;

/** Cuts out operations, in ever smaller pieces, as long as the same rule still breaks. */
export async function shrink(db: Db, verbs: Verbs, failure: Failure): Promise<Failure> {
  let best = withoutRest(failure);
  let replays = 0;
  for (let size = best.scenario.operations.length >> 1; size >= 1; size >>= 1) {
    for (let from = 0; from < best.scenario.operations.length && replays < REPLAYS_MAX; replays++) {
      await wipe(db);
      const shorter = await play(db, verbs, without(best.scenario, from, size));
      if (shorter?.rule === failure.rule) best = withoutRest(shorter);
      else from += size;
    }
  }
  return best;
}

function without(scenario: Scenario, from: number, size: number): Scenario {
  return { ...scenario, operations: scenario.operations.toSpliced(from, size) };
}

function withoutRest(failure: Failure): Failure {
  const operations = failure.scenario.operations.slice(0, failure.step + 1);
  return { ...failure, scenario: { ...failure.scenario, operations } };
}

export function showFailure({ scenario, step, rule, detail }: Failure): string {
  const keys = scenario.keys.map(({ account, limit, reset }, place) => `k${place} a${account} ${limit} ${reset}`);
  const operations = scenario.operations.slice(0, step + 1).map((operation, place) => `${place}  ${show(operation)}`);
  return [
    `Seed ${scenario.seed} fails at step ${step}: ${rule}`,
    detail,
    `start ${new Date(scenario.startMs).toISOString()}, keys ${keys.join(', ')}`,
    ...operations,
    `Replay: npm run simulate -- --seed ${scenario.seed} --steps ${scenario.steps}${scenario.impatient ? '' : ' --patient'}`,
  ].join('\n');
}
