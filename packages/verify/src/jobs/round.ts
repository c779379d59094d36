// One round: clients at work, blow after blow, everything brought to rest, and the check.

import { type Scene, strike } from '../blows.ts';
import type { Terms } from '../fault-kinds.ts';
import { Random } from '../random.ts';
import { excused, type History, type Played } from '../run.ts';
import type { Customer, World } from '../world.ts';
import { findViolations } from './check.ts';
import { gatherEvidence } from './evidence.ts';
import { type Fate, makeOrder, type Order, type Outcome, placeOrder, sendUntilTold } from './load.ts';
import { LEASE_SECONDS, makePlan, type Plan } from './plan.ts';
import type { Upstreams } from './upstreams.ts';

const GATEWAYS = 2;
const CUSTOMERS = 2;
const DAY_SECONDS = 24 * 60 * 60;
/** In which steps time passes until everything has ended: leases, cooldowns, claims, deadlines, an endless clip. */
const REST_STEPS_SECONDS = [LEASE_SECONDS, 3, LEASE_SECONDS, 31, 61, 330, 330, 700, 3_700, 3_700];
const REST_MOVES_MAX = 40;

interface RoundOptions {
  readonly plan?: Plan;
  readonly terms?: Terms | undefined;
}

/** By a plan that follows from the seed and the terms, unless one is given. */
export async function playRound(
  world: World<Upstreams>,
  history: History<Outcome>,
  seed: number,
  { plan: given, terms }: RoundOptions = {},
): Promise<Played> {
  const random = new Random(seed);
  const plan = given ?? makePlan(random, terms);
  await world.gateways.fill(GATEWAYS);
  const customers = await Promise.all(Array.from({ length: CUSTOMERS }, () => world.newCustomer()));
  const clients = new Clients(world, customers, seed);
  const areDone = () => clients.areDone();
  const scene: Scene = {
    world,
    leaseSeconds: LEASE_SECONDS,
    pauseMs: 0,
    areDone,
    outside: {},
    whileAway: () => undefined,
  };
  const hits: string[] = [];
  let kills = 0;
  for (const wave of plan.waves) {
    await world.gateways.fill(GATEWAYS);
    const struck = strike(scene, wave, random);
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
  const evidence = await gatherEvidence(world, outcomes, accountIds);
  const findings = [...unrest, ...findViolations(excused(evidence, plan.waves))];
  return { kills, hits, works: evidence.jobs.length, findings, evidence };
}

/** The clients of a round. */
class Clients {
  readonly accountIds: readonly string[];
  readonly outcomes: Outcome[] = [];
  readonly #world: World<Upstreams>;
  readonly #customers: readonly Customer[];
  readonly #seed: number;
  readonly #orders: Order[] = [];

  constructor(world: World<Upstreams>, customers: readonly Customer[], seed: number) {
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
      void placeOrder(this.#world, own, order).then((outcome) => this.outcomes.push(outcome));
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

  /** Every request with a key is repeated, and must be answered the same. */
  async sendAgain(random: Random): Promise<void> {
    const keyed = this.outcomes.filter(({ order, jobIds }) => order.idempotencyKey !== undefined && jobIds.length > 0);
    for (const outcome of keyed) await sendUntilTold(this.#world, random, outcome);
  }
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
