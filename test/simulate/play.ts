import type { Db } from '../../src/db/index.ts';
import { balanceOf, books } from '../../src/ledger/index.ts';
import { RESERVATION_LEASE_MS } from '../../src/limits.ts';
import { charge } from '../../src/pricing/index.ts';
import { INVARIANTS } from './invariants.ts';
import { apply, balanceAt, copyOf, meter } from './model.ts';
import { begin, processAt } from './moves.ts';
import { explain, findOrder, type Unit } from './order.ts';
import type { Move, Operation, Scenario } from './scenario.ts';
import { cost, tariffOf } from './tariff.ts';
import { type Answered, hasRepeat, unitsOf } from './units.ts';
import type { Verbs } from './verbs.ts';
import { accountId, openWorld, startProcess, type World } from './world.ts';

/** Where a scenario broke, and which rule says so. */
export interface Failure {
  readonly scenario: Scenario;
  readonly step: number;
  readonly rule: string;
  readonly detail: string;
}

class Finding extends Error {
  readonly rule: string;

  constructor(rule: string, detail: string) {
    super(detail);
    this.rule = rule;
  }
}

/** Plays a scenario on the real code and the model side by side, to its end or to the first thing that is wrong. */
export async function play(db: Db, verbs: Verbs, scenario: Scenario): Promise<Failure | undefined> {
  const world = await openWorld(db, verbs, scenario);
  let step = 0;
  try {
    for (const operation of scenario.operations) {
      await perform(world, operation);
      step += 1;
    }
    await windUp(world);
    return undefined;
  } catch (error) {
    const rule = error instanceof Finding ? error.rule : 'no error that the contract does not name';
    return { scenario, step, rule, detail: error instanceof Finding ? error.message : String(error) };
  }
}

async function perform(world: World, operation: Operation): Promise<void> {
  switch (operation.kind) {
    case 'moves':
      return performMoves(world, operation);
    case 'clock':
      world.time.nowMs = operation.toMs;
      return;
    case 'skew':
      processAt(world, operation.by).skewMs = operation.skewMs;
      return;
    case 'price':
      world.tariffs[operation.sold] = tariffOf(operation.sold, operation.rates);
      return;
    case 'meter':
      return performMeter(world, operation);
    case 'extend':
      return performExtend(world, operation.by);
    case 'die':
      return die(world, operation.by);
    case 'look':
      return performLook(world, operation);
  }
}

async function performMoves(world: World, { moves, fault }: Operation & { readonly kind: 'moves' }): Promise<void> {
  // A cut line and a batch that is tried in halves would leave too much open to check anything.
  const cut = fault !== undefined && !hasRepeat(moves.map((move) => ({ attempt: { move } }))) ? fault : undefined;
  const process = cut && processAt(world, cut.by);
  if (process !== undefined) process.line.cut = cut?.when;
  const attempts = moves.flatMap((move) => begin(world, move) ?? []);
  const answers = await Promise.allSettled(attempts.map((attempt) => attempt.answer));
  if (process !== undefined) process.line.cut = undefined;
  if (cut?.dies) die(world, cut.by);
  world.pending.clear();
  await world.evidence.look(world.db);
  checkInvariants(world);
  for (const answer of answers) if (answer.status === 'rejected') throw answer.reason;
  const answered = attempts.map((attempt, place) => {
    const answer = answers[place];
    return { attempt, seen: answer?.status === 'fulfilled' ? answer.value(world.evidence) : '' };
  });
  checkReferences(world, answered);
  const { accountIds } = world.evidence;
  const units = unitsOf(answered, { fault: cut, cutOff: process?.id, accountIds });
  checkDuty(world, answered, units);
  follow(world, units, answered);
  noteReservations(world);
}

function checkInvariants({ evidence, scenario, holds, known }: World): void {
  const tariffs = new Map([...holds].map(([name, hold]) => [name, hold.tariff]));
  for (const [rule, check] of Object.entries(INVARIANTS)) {
    const wrong = check(evidence, { tariffs, known, keys: scenario.keys });
    if (wrong !== undefined) throw new Finding(rule, wrong);
  }
}

/** Lets the model follow the ledger, if some order of what happened at once explains what is there now. */
function follow(world: World, units: readonly Unit[], answered: readonly Answered[]): void {
  for (const [id, account] of world.accounts) {
    const own = units.filter((unit) => unit.accountId === id);
    const target = world.evidence.describe(id).join('\n');
    const found = findOrder(account, own, target);
    if (found === undefined) {
      const seen = answered.map((one) => `${one.attempt.move.kind} was answered "${one.seen}"`);
      throw new Finding('the model agrees', [...seen, explain(account, own, target)].join('\n'));
    }
    world.accounts.set(id, found);
  }
}

/** A reference is granted once, to the first. */
function checkReferences(world: World, answered: readonly Answered[]): void {
  const grants = answered.filter(({ attempt: { move } }) => move.kind === 'grant');
  for (const { attempt, seen } of grants) {
    const reference = attempt.move.kind === 'grant' ? attempt.move.reference : undefined;
    if (reference === undefined && seen === 'duplicate')
      throw new Finding('a reference is granted once', 'no reference');
    if (reference !== undefined && seen === 'granted' && world.references.has(reference)) {
      throw new Finding('a reference is granted once', `${reference} was granted again`);
    }
  }
  for (const { reference } of world.evidence.grants.values()) {
    if (reference !== null) world.references.add(reference.slice(world.tag.length + 1));
  }
  for (const { attempt, seen } of grants) {
    const reference = attempt.move.kind === 'grant' ? attempt.move.reference : undefined;
    if (seen === 'duplicate' && !world.references.has(reference ?? '')) {
      throw new Finding('a reference is granted once', `${reference} is a duplicate of nothing`);
    }
  }
}

/** A duty that ran alone tells how much it did. */
function checkDuty(world: World, answered: readonly Answered[], units: readonly Unit[]): void {
  const [only] = answered;
  if (answered.length !== 1 || only === undefined || only.attempt.accountId !== undefined || only.seen === 'lost')
    return;
  const counts = units.flatMap(({ accountId: id, action }) => {
    const account = world.accounts.get(id);
    return account === undefined ? [] : apply(copyOf(account), action);
  });
  const expected = counts.reduce((sum, count) => sum + Number(count), 0);
  if (only.seen !== String(expected)) {
    throw new Finding('the model agrees', `${only.attempt.move.kind} did ${only.seen}, the model ${expected}`);
  }
}

/** The id of a bill's reservation is learnt from the database. */
function noteReservations({ evidence, holds }: World): void {
  for (const row of evidence.holds.values()) {
    const hold = holds.get(row.name);
    if (hold === undefined) continue;
    const { order, quoted } = hold;
    hold.reservation ??= { ...order, id: row.id, jobId: undefined, amount: quoted.amount, price: quoted.priceText };
  }
}

async function performMeter(
  world: World,
  { hold: name, counts }: Operation & { readonly kind: 'meter' },
): Promise<void> {
  const hold = world.holds.get(name);
  if (hold?.reservation === undefined || hold.process.dead) return;
  const known = cost(hold.tariff, counts);
  const account = world.accounts.get(hold.order.accountId);
  if (account?.holds.get(name)?.state === 'open' && known > (world.known.get(name) ?? 0n)) world.known.set(name, known);
  if (account !== undefined) meter(account, name, known);
  if (hold.bill !== undefined) await hold.bill.meter(counts);
  else await hold.process.deps.callLedger.recordKnown(hold.reservation, charge(hold.quoted.price, counts));
  await world.evidence.look(world.db);
  checkInvariants(world);
  follow(world, [], []);
}

async function performExtend(world: World, by: number): Promise<void> {
  const { id, deps } = processAt(world, by);
  await deps.callLedger.extendLease();
  world.owners.set(id, Math.max(world.owners.get(id) ?? 0, deps.clock.nowMs() + RESERVATION_LEASE_MS));
}

/** What it holds stays behind. Another process takes its place and knows nothing of it. */
function die(world: World, by: number): void {
  processAt(world, by).dead = true;
  startProcess(world, by);
}

async function performLook(world: World, { account: place, by }: Operation & { readonly kind: 'look' }): Promise<void> {
  const id = accountId(world.tag, place);
  const { clock, db } = processAt(world, by).deps;
  const seen = await balanceOf(db, id, clock.now());
  const account = world.accounts.get(id);
  if (seen === undefined || account === undefined) throw new Finding('the model agrees', `${id} has no balance`);
  const { granted, available, reserved, charged, lapsed } = seen;
  const words = `granted ${granted} available ${available} reserved ${reserved} charged ${charged} lapsed ${lapsed}`;
  const expected = balanceAt(account, clock.nowMs());
  if (words !== expected) throw new Finding('the model agrees', `balance: ${words}\nmodel:   ${expected}`);
  await checkBooks(world, false);
}

async function checkBooks({ db }: World, isFull: boolean): Promise<void> {
  const { balanced, difference } = await books(db, isFull);
  if (!balanced) throw new Finding('books() agrees', JSON.stringify(difference));
}

/** Long after: every lease has run out, what is left is refunded, nothing is held, and the books balance. */
async function windUp(world: World): Promise<void> {
  world.time.nowMs += 366 * 86_400_000;
  await performMoves(world, { kind: 'moves', moves: [{ kind: 'takeOver', by: 0 }], fault: undefined });
  const open = [...world.evidence.holds.values()].filter((hold) => hold.is_open);
  const refunds = open.map(({ name }): Move => ({ kind: 'refund', hold: name, way: 'batch', by: 1 }));
  await performMoves(world, { kind: 'moves', moves: refunds, fault: undefined });
  await performMoves(world, { kind: 'moves', moves: [{ kind: 'lapse', by: 2 }], fault: undefined });
  const held = world.evidence.balances.find(({ reserved }) => reserved !== 0n);
  if (held !== undefined) throw new Finding('nothing is held in the end', `${held.account} holds ${held.reserved}`);
  // What came after the last check, which leaves nothing for the second, and then all of it.
  for (const isFull of [false, false, true]) await checkBooks(world, isFull);
}
