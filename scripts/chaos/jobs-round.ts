// One round: clients at work, blow after blow, everything brought to rest, and the check.
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../simulate/random.ts';
import { check } from './jobs-check.ts';
import { type Evidence, gather } from './jobs-evidence.ts';
import type { Gateway } from './jobs-gateways.ts';
import { type Fate, makeOrder, type Order, type Outcome, place, sendUntilTold } from './jobs-load.ts';
import { makePlan, type Plan, type Wave } from './jobs-plan.ts';
import type { Customer, World } from './jobs-world.ts';

const GATEWAYS = 2;
const CUSTOMERS = 2;
const LEASE_SECONDS = 11;
const DAY_SECONDS = 24 * 60 * 60;
/** Time passes this many times at most before a blow that was to fall at a point falls at once. */
const STEPS_MAX = 12;
const IDLE_STEPS_MAX = 2;
const ANY_TIME_MS_MAX = 150;
/** In which steps time passes until everything has ended: leases, cooldowns, claims, deadlines, an endless clip. */
const REST_STEPS_SECONDS = [LEASE_SECONDS, 3, LEASE_SECONDS, 31, 61, 330, 330, 700, 3_700, 3_700];
const REST_MOVES_MAX = 40;

export interface Played {
  readonly seed: number;
  readonly plan: Plan;
  readonly kills: number;
  /** What was hit, and at which points; the points of blows that fell elsewhere are not among them. */
  readonly hits: readonly string[];
  readonly jobs: number;
  readonly findings: readonly string[];
}

/** Everything that was ever ordered in a world, for the last look. */
export class History {
  readonly outcomes: Outcome[] = [];
  readonly accountIds: string[] = [];
}

/** By a plan that follows from the seed, unless one is given. */
export async function playRound(world: World, history: History, seed: number, given?: Plan): Promise<Played> {
  const random = new Random(seed);
  const plan = given ?? makePlan(random);
  await world.gateways.fill(GATEWAYS);
  const customers = await Promise.all(Array.from({ length: CUSTOMERS }, () => world.newCustomer()));
  const clients = new Clients(world, customers, seed);
  const hits: string[] = [];
  let kills = 0;
  for (const wave of plan.waves) {
    await world.gateways.fill(GATEWAYS);
    const struck = strike(world, clients, wave, random);
    clients.send(wave.fates, random);
    const { killed, hit } = await struck;
    kills += killed;
    hits.push(hit);
  }
  const unrest = await rest(world, clients);
  await clients.sendAgain(random);
  if (plan.restDays > 0) await world.moveForSure(plan.restDays * DAY_SECONDS);
  await world.moveForSure(1);
  const { outcomes, accountIds } = clients;
  history.outcomes.push(...outcomes);
  history.accountIds.push(...accountIds);
  const evidence = await gather(world, outcomes, accountIds);
  const findings = [...unrest, ...check(excused(evidence, plan))];
  return { seed, plan, kills, hits, jobs: evidence.jobs.length, findings };
}

/** The clients of a round. */
class Clients {
  readonly accountIds: readonly string[];
  readonly outcomes: Outcome[] = [];
  readonly #world: World;
  readonly #customers: readonly Customer[];
  readonly #seed: number;
  readonly #orders: Order[] = [];

  constructor(world: World, customers: readonly Customer[], seed: number) {
    this.#world = world;
    this.#customers = customers;
    this.#seed = seed;
    this.accountIds = customers.map(({ accountId }) => accountId);
  }

  send(fates: readonly Fate[], random: Random): void {
    for (const fate of fates) {
      const number = this.#orders.length;
      const order = makeOrder(random, fate, random.pick(this.#customers), `${this.#seed}-${number}`);
      this.#orders.push(order);
      const own = new Random(this.#seed * 100 + number);
      void place(this.#world, own, order).then((outcome) => this.outcomes.push(outcome));
    }
  }

  /** Whether every client has its answer and every job has ended. */
  async areDone(): Promise<boolean> {
    if (this.outcomes.length < this.#orders.length) return false;
    const [row] = await this.#world.db.rows<{ open: number }>(
      `select count(*)::int as open from jobs where account_id = any ($1) and status in ('queued', 'running')`,
      [this.accountIds],
    );
    return row?.open === 0;
  }

  unanswered(): string[] {
    const answered = new Set(this.outcomes.map(({ order }) => order));
    return this.#orders.filter((order) => !answered.has(order)).map(({ prompt }) => `"${prompt}" has no answer`);
  }

  /** Whoever had a key asks once more, and must be told the same. */
  async sendAgain(random: Random): Promise<void> {
    const keyed = this.outcomes.filter(({ order, jobIds }) => order.idempotencyKey !== undefined && jobIds.length > 0);
    for (const outcome of keyed) await sendUntilTold(this.#world, random, outcome);
  }
}

/** Without a database the program may complain. */
function excused(evidence: Evidence, { waves }: Plan): Evidence {
  const isAway = waves.some(({ blow }) => blow.kind === 'kill the database');
  return isAway ? { ...evidence, complaints: [] } : evidence;
}

interface Struck {
  readonly killed: number;
  readonly hit: string;
}

async function strike(world: World, clients: Clients, wave: Wave, random: Random): Promise<Struck> {
  const { kind, point } = wave.blow;
  if (kind === 'kill the database') {
    await sleep(random.whole(0, ANY_TIME_MS_MAX));
    await world.killDatabase();
    return { killed: 1, hit: kind };
  }
  const [one, other] = world.gateways.up;
  if (one === undefined || other === undefined) throw new Error('there is nobody to strike');
  await wait(world, clients, [one, other], wave, random);
  // Where both have come to it, the one stands for both.
  const [victim, spared] = one.isUp && !other.isUp && point !== NEEDS_A_LOST_CALL ? [other, one] : [one, other];
  const hit = `${kind} at ${victim.isUp ? 'any time' : point}`;
  spared.goOn();
  if (kind === 'halt') await overtake(world, victim);
  else await Promise.all([victim.kill(), wave.isAlone && spared.kill()]);
  const dead = [victim, spared].filter(({ isAlive }) => !isAlive).length;
  return { killed: kind === 'halt' ? dead + 1 : dead, hit };
}

/** Nobody looks for a lost call unless there is one. */
const NEEDS_A_LOST_CALL = 'lost calls looked for';

/** Lets time pass until one of them has come to the point, or there is nothing left for them to do. */
async function wait(
  world: World,
  clients: Clients,
  victims: readonly [Gateway, Gateway],
  { blow: { point, passes, kind }, stepSeconds }: Wave,
  random: Random,
): Promise<void> {
  if (point === undefined) {
    await sleep(random.whole(0, ANY_TIME_MS_MAX));
    return;
  }
  const signal = kind === 'halt' ? 'SIGSTOP' : 'SIGKILL';
  const [one, other] = victims;
  one.order({ point, passes, signal });
  // What the one loses the other may look for, or it comes to the same point first.
  if (point === NEEDS_A_LOST_CALL) other.order({ point: 'calls answered', passes: 0, signal: 'SIGKILL' });
  else other.order({ point, passes, signal });
  const isWaiting = () => one.isUp && (other.isUp || point === NEEDS_A_LOST_CALL);
  let idleSteps = 0;
  for (let step = 0; step < STEPS_MAX && idleSteps < IDLE_STEPS_MAX && isWaiting(); step++) {
    await world.move(point === NEEDS_A_LOST_CALL ? LEASE_SECONDS : stepSeconds);
    if (await clients.areDone()) idleSteps++;
  }
}

/** Time passes while the victim stands still, so that somebody else takes its work; then it goes on as if nothing was. */
async function overtake(world: World, victim: Gateway): Promise<void> {
  if (!victim.isAlive) return;
  victim.halt();
  // Where it was halted with the clock in its hands, time cannot pass without it.
  for (let step = 0, passes = true; step < 2 && passes; step++) passes = await world.move(LEASE_SECONDS);
  victim.goOn();
}

/** Lets time pass until everything has ended. Tells what did not. */
async function rest(world: World, clients: Clients): Promise<string[]> {
  const filled = world.gateways.fill(GATEWAYS);
  let isDone = false;
  for (let move = 0; move < REST_MOVES_MAX && !isDone; move++) {
    await world.moveForSure(REST_STEPS_SECONDS[move] ?? REST_STEPS_SECONDS.at(-1) ?? 0);
    isDone = await clients.areDone();
  }
  await filled;
  return isDone ? [] : ['it does not come to rest', ...clients.unanswered()];
}
