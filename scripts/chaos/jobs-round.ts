// One round: clients at work, one blow, everything brought to rest, and the check.
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../simulate/random.ts';
import { check } from './jobs-check.ts';
import { type Evidence, gather } from './jobs-evidence.ts';
import type { Gateway } from './jobs-gateways.ts';
import { makeOrder, type Outcome, place, sendUntilTold } from './jobs-load.ts';
import { type Blow, makePlan, type Plan } from './jobs-plan.ts';
import type { World } from './jobs-world.ts';

const GATEWAYS = 2;
const CUSTOMERS = 2;
const LEASE_SECONDS = 11;
const DAY_SECONDS = 24 * 60 * 60;
/** Time passes this many times at most before a blow that was to fall at a point falls at once. */
const STEPS_MAX = 12;
const ANY_TIME_MS_MAX = 150;
/** In which steps time passes until everything has ended: leases, cooldowns, claims, deadlines, an endless clip. */
const REST_STEPS_SECONDS = [LEASE_SECONDS, 3, LEASE_SECONDS, 31, 61, 330, 330, 700, 3_700, 3_700];
const REST_MOVES_MAX = 40;

export interface Played {
  readonly seed: number;
  readonly plan: Plan;
  readonly kills: number;
  readonly jobs: number;
  readonly findings: readonly string[];
}

/** Everything that was ever ordered in a world, for the last look. */
export class History {
  readonly outcomes: Outcome[] = [];
  readonly accountIds: string[] = [];
}

export async function playRound(
  world: World,
  history: History,
  seed: number,
  blows: readonly Blow[] = [],
): Promise<Played> {
  const random = new Random(seed);
  const plan = makePlan(random, blows);
  await world.gateways.fill(GATEWAYS);
  const customers = await Promise.all(Array.from({ length: CUSTOMERS }, () => world.newCustomer()));
  const accountIds = customers.map(({ accountId }) => accountId);
  const orders = plan.fates.map((fate, number) => makeOrder(random, fate, random.pick(customers), `${seed}-${number}`));
  const blown = strike(world, plan, random);
  const outcomes: Outcome[] = [];
  const clients = Promise.all(
    orders.map(async (order, number) => {
      outcomes.push(await place(world, new Random(seed * 100 + number), order));
    }),
  );
  const kills = await blown;
  const isAtRest = await rest(world, clients, accountIds);
  for (const outcome of outcomes) {
    if (outcome.jobIds.length > 0 && outcome.order.idempotencyKey !== undefined)
      await sendUntilTold(world, random, outcome);
  }
  if (plan.restDays > 0) await world.move(plan.restDays * DAY_SECONDS);
  await world.move(1);
  history.outcomes.push(...outcomes);
  history.accountIds.push(...accountIds);
  const evidence = await gather(world, outcomes, accountIds);
  const findings = [...(isAtRest ? [] : ['it does not come to rest']), ...check(excused(evidence, plan))];
  return { seed, plan, kills, jobs: evidence.jobs.length, findings };
}

/** Without a database the program may complain. */
function excused(evidence: Evidence, { blow }: Plan): Evidence {
  return blow.kind === 'kill the database' ? { ...evidence, complaints: [] } : evidence;
}

/** Returns how many were killed. */
async function strike(world: World, plan: Plan, random: Random): Promise<number> {
  const { blow, isAlone } = plan;
  if (blow.kind === 'kill the database') {
    await sleep(random.whole(0, ANY_TIME_MS_MAX));
    await world.killDatabase();
    await world.databaseIsBack();
    return 1;
  }
  const [victim, other] = world.gateways.up;
  if (victim === undefined || other === undefined) throw new Error('there is nobody to strike');
  let kills = await fall(world, victim, other, plan, random);
  if (isAlone && other.isAlive) {
    await other.kill();
    kills++;
  }
  return kills;
}

/** Nobody looks for a lost call unless there is one. */
const NEEDS_A_LOST_CALL = 'lost calls looked for';

async function fall(world: World, victim: Gateway, other: Gateway, plan: Plan, random: Random): Promise<number> {
  const { point, passes, kind } = plan.blow;
  const signal = kind === 'halt' ? 'SIGSTOP' : 'SIGKILL';
  if (point === undefined) await sleep(random.whole(0, ANY_TIME_MS_MAX));
  else {
    victim.order({ point, passes, signal });
    if (point === NEEDS_A_LOST_CALL) other.order({ point: 'calls answered', passes: 0, signal: 'SIGKILL' });
    for (let step = 0; step < STEPS_MAX && !victim.hasObeyed; step++) {
      await world.move(point === NEEDS_A_LOST_CALL ? LEASE_SECONDS : plan.stepSeconds);
    }
  }
  const kills = other.isAlive ? 1 : 2;
  if (kind === 'kill') await victim.kill();
  else await overtake(world, victim);
  return kills;
}

/** Time passes while the victim stands still, so that somebody else takes its work; then it goes on as if nothing was. */
async function overtake(world: World, victim: Gateway): Promise<void> {
  if (!victim.isAlive) return;
  victim.halt();
  await world.gateways.fill(GATEWAYS);
  for (let step = 0; step < 2; step++) await world.move(LEASE_SECONDS);
  victim.goOn();
}

/** Lets time pass until every client has its answer and every job has ended. Tells whether it came to that. */
async function rest(world: World, clients: Promise<unknown>, accountIds: readonly string[]): Promise<boolean> {
  let isAnswered = false;
  const answered = clients.then(() => {
    isAnswered = true;
  });
  await world.gateways.fill(GATEWAYS);
  for (let move = 0; move < REST_MOVES_MAX; move++) {
    await world.move(REST_STEPS_SECONDS[move] ?? REST_STEPS_SECONDS.at(-1) ?? 0);
    if (isAnswered && (await countOpen(world, accountIds)) === 0) return true;
  }
  await answered;
  return (await countOpen(world, accountIds)) === 0;
}

async function countOpen({ db }: World, accountIds: readonly string[]): Promise<number> {
  const [row] = await db.rows<{ open: number }>(
    `select count(*)::int as open from jobs where account_id = any ($1) and status in ('queued', 'running')`,
    [accountIds],
  );
  return row?.open ?? 0;
}
