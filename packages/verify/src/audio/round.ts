// One round of chaos for sound: clients at work, blow after blow, everything brought to rest, and the check.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Scene, strike } from '../blows.ts';
import type { Terms } from '../fault-kinds.ts';
import { Random } from '../random.ts';
import { excused, type History, type Played } from '../run.ts';
import type { Customer, World } from '../world.ts';
import { findViolations } from './check.ts';
import { gatherEvidence, type Told, witness } from './evidence.ts';
import { type Fate, makeOrder, type Order, type Outcome, placeOrder } from './load.ts';
import {
  type AudioWave,
  LEASE_SECONDS,
  makePlan,
  type Plan,
  WITHHELD_ANSWER,
  WITHHELD_POLL,
  WITHHELD_SPEECH,
} from './plan.ts';
import { ENDLESS_MODEL, type Upstreams } from './upstreams.ts';

const GATEWAYS = 2;
const CUSTOMERS = 2;
/** The program looks at its clock this often. */
const PAUSE_MS = 100;
const REST_STEPS_MAX = 25;
/** Until a client has lost its patience, and until an endless task is given up. */
const ENDLESS_STEPS_SECONDS = [610, 3_100, LEASE_SECONDS, LEASE_SECONDS, LEASE_SECONDS];

interface RoundOptions {
  readonly plan?: Plan;
  readonly terms?: Terms | undefined;
}

/** By a plan that follows from the seed and the terms, unless one is given. */
export async function playRound(
  world: World<Upstreams>,
  history: History<Told>,
  seed: number,
  { plan: given, terms }: RoundOptions = {},
): Promise<Played> {
  const random = new Random(seed);
  const plan = given ?? makePlan(random, terms);
  await world.gateways.fill(GATEWAYS);
  await witness(world.db);
  const customers = await Promise.all(Array.from({ length: CUSTOMERS }, () => world.newCustomer()));
  const clients = new Clients(world, customers, seed);
  const scene = sceneOf(world, clients);
  const hits: string[] = [];
  const unrest: string[] = [];
  let kills = 0;
  for (const wave of plan.waves) {
    await world.gateways.fill(GATEWAYS);
    if (wave.isLate) {
      clients.send(wave, random);
      unrest.push(...(await rest(world, clients)));
    }
    const struck = strike(scene, wave, random);
    if (!wave.isLate) clients.send(wave, random);
    const { killed, hit } = await struck;
    world.upstreams.release();
    kills += killed;
    hits.push(hit);
  }
  unrest.push(...(await rest(world, clients)));
  await world.moveForSure(1);
  const disturbance = {
    isDisturbed: isDisturbing(plan),
    isJumped: plan.waves.some(({ blow }) => blow.kind === 'jump the clock'),
  };
  const outcomes = clients.outcomes.map((outcome) => ({ ...outcome, ...disturbance }));
  history.outcomes.push(...outcomes);
  history.accountIds.push(...clients.accountIds);
  const evidence = await gatherEvidence(world, outcomes, clients.accountIds);
  const findings = [...findViolations(excused(evidence, plan.waves)), ...unrest];
  return { kills, hits, works: outcomes.length, findings, evidence };
}

function sceneOf(world: World<Upstreams>, clients: Clients): Scene {
  const { holding } = world.upstreams;
  return {
    world,
    leaseSeconds: LEASE_SECONDS,
    pauseMs: PAUSE_MS,
    areDone: () => clients.areDone(),
    // What is held comes to its end without a database.
    whileAway: () => world.upstreams.release(),
    outside: {
      [WITHHELD_ANSWER]: () => holding.recordings > 0,
      [WITHHELD_POLL]: () => holding.readings > 0,
      [WITHHELD_SPEECH]: () => holding.speeches > 0,
    },
  };
}

/** Whether a living process may have lost what it held. */
function isDisturbing({ waves }: Plan): boolean {
  return waves.some(({ blow }) => blow.kind !== 'kill');
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

  send({ aimed, fates }: AudioWave, random: Random): void {
    for (const [place, fate] of [...aimed, ...fates].entries()) this.#send(fate, place < aimed.length, random);
  }

  #send(fate: Fate, isAimed: boolean, random: Random): void {
    const number = this.#orders.length;
    const [customer, name] = [random.pick(this.#customers), `${this.#seed}-${number}`];
    const order = makeOrder(random, { fate, isAimed, customer, name, number });
    this.#orders.push(order);
    const own = new Random(this.#seed * 100 + number);
    void placeOrder(this.#world, own, order).then((outcome) => this.outcomes.push(outcome));
  }

  /** Whether every client has its answer and nothing is open. */
  async areDone(): Promise<boolean> {
    return this.outcomes.length === this.#orders.length && (await this.#countOpen([])) === 0;
  }

  /** Whether nothing is open but what never ends by itself. */
  async areDoneButEndless(): Promise<boolean> {
    const answered = new Set(this.outcomes.map(({ order }) => order));
    const isWaiting = this.#orders.some((order) => !answered.has(order) && order.model !== ENDLESS_MODEL);
    return !isWaiting && (await this.#countOpen([ENDLESS_MODEL])) === 0;
  }

  async #countOpen(exceptModels: readonly string[]): Promise<number> {
    const [row] = await this.#world.db.rows<{ open: number }>(
      `select count(*)::int as open from reservations join open_reservations on reservation_id = reservations.id
       where account_id = any ($1) and model <> all ($2)`,
      [this.accountIds, exceptModels],
    );
    return row?.open ?? 0;
  }

  unanswered(): string[] {
    const answered = new Set(this.outcomes.map(({ order }) => order));
    return this.#orders
      .filter((order) => !answered.has(order))
      .map(({ name, fate }) => `${name}, to be ${fate}, waits`);
  }
}

/** Lets time pass until everything has ended. Tells what did not. */
async function rest(world: World<Upstreams>, clients: Clients): Promise<string[]> {
  const filled = world.gateways.fill(GATEWAYS);
  for (let step = 0; step < REST_STEPS_MAX && !(await clients.areDoneButEndless()); step++) {
    await pass(world, LEASE_SECONDS);
  }
  for (const seconds of ENDLESS_STEPS_SECONDS) {
    if (!(await clients.areDone())) await pass(world, seconds);
  }
  await filled;
  return (await clients.areDone()) ? [] : ['it does not come to rest', ...clients.unanswered()];
}

/** What is held meanwhile is let go. */
async function pass(world: World<Upstreams>, seconds: number): Promise<void> {
  world.upstreams.release();
  await world.moveForSure(seconds);
  await sleep(PAUSE_MS);
}
