import { randomUUIDv7 } from 'node:crypto';
import { DatabaseUnavailable } from '../../src/db/index.ts';
import { ApiError } from '../../src/errors.ts';
import type { Admission, Ending, NewReservation } from '../../src/ledger/index.ts';
import { RESERVATION_LEASE_MS } from '../../src/limits.ts';
import type { Evidence } from './evidence.ts';
import type { Action, Member } from './model.ts';
import type { Granting, Move, Reserving } from './scenario.ts';
import { cost } from './tariff.ts';
import type { Hold } from './verbs.ts';
import { accountId, keyId, type Process, type World } from './world.ts';

/** One move under way: what the real code was asked and will say, and the same for the model. */
export interface Attempt {
  readonly move: Move;
  readonly process: Process;
  /** Undefined for a duty, which is about all accounts. */
  readonly accountId: string | undefined;
  readonly action: Action;
  /** The real answer in words; `Evidence` turns grant ids into names. */
  readonly answer: Promise<Answer>;
}

export type Answer = (evidence: Evidence) => string;

/** Starts a move, or returns nothing when it makes no sense now, as after a cut in the scenario. */
export function begin(world: World, move: Move): Attempt | undefined {
  if ('hold' in move && isTooSoon(world, move.hold)) return undefined;
  switch (move.kind) {
    case 'reserve':
      return beginReserve(world, move);
    case 'settle':
    case 'refund':
      return beginEnd(world, move);
    case 'grant':
      return beginGrant(world, move);
    case 'takeOver':
    case 'lapse':
      return beginDuty(world, move);
  }
}

/** A patient caller waits for the answer before it repeats or ends what it has asked for. */
function isTooSoon({ scenario, pending, accounts }: World, hold: string): boolean {
  const isHeld = accounts.values().some((account) => account.holds.has(hold));
  if (pending.has(hold)) return !isHeld && !scenario.impatient;
  pending.add(hold);
  return false;
}

function beginReserve(world: World, move: Reserving): Attempt | undefined {
  const process = processAt(world, move.by);
  const earlier = world.holds.get(move.hold);
  if (earlier !== undefined && (move.way === 'bill' || earlier.reservation === undefined)) return undefined;
  const hold = earlier ?? newHold(world, move, process);
  const { quoted, order } = hold;
  const plain = { ...order, id: hold.reservation?.id ?? randomUUIDv7(), jobId: undefined, price: quoted.priceText };
  const asked: NewReservation = { ...plain, amount: quoted.amount + (move.altered ? 1n : 0n) };
  const nowMs = process.deps.clock.nowMs();
  const lease = move.way === 'job' ? undefined : { owner: process.id, untilMs: nowMs + RESERVATION_LEASE_MS };
  const amount = cost(hold.tariff, hold.counts) + (move.altered ? 1n : 0n);
  const member: Member = { kind: 'reserve', hold: move.hold, key: keyName(move.key), amount, lease };
  if (move.way !== 'bill' && !move.altered) hold.reservation = asked;
  return attempt(world, move, member, wordsOf(reserveBy(world, process, { move, hold, asked })));
}

interface Reservation {
  readonly move: Reserving;
  readonly hold: Hold;
  readonly asked: NewReservation;
}

async function reserveBy(world: World, process: Process, { move, hold, asked }: Reservation): Promise<Answer> {
  const { line, deps } = process;
  if (move.way === 'bill') {
    hold.bill = await world.verbs.openBill(deps, hold.order, hold.quoted);
    return () => 'admitted';
  }
  const admission = await (move.way === 'batch'
    ? deps.callLedger.reserve(asked)
    : line.transaction((tx) => world.verbs.reserve(tx, asked, deps.clock.now())));
  return (evidence) => showAdmission(evidence, admission);
}

function newHold(world: World, move: Reserving, process: Process): Hold {
  const tariff = world.tariffs[move.sold];
  const order = {
    accountId: accountId(world.tag, move.account),
    keyId: move.key === undefined ? undefined : keyId(world.tag, move.key),
    requestId: move.hold,
    model: `simulated/${move.sold}`,
    endpoint: move.sold,
    // Purses are not simulated: with them the order of events would not be known.
    hasKeyLimit: true,
  };
  const quoted = world.verbs.quote(tariff.pricing, {}, move.counts);
  const { hold: name, counts, sold } = move;
  const hold: Hold = {
    name,
    sold,
    counts,
    process,
    tariff,
    quoted,
    order,
    reservation: undefined,
    bill: undefined,
  };
  world.holds.set(name, hold);
  return hold;
}

function beginEnd(world: World, move: Move & { readonly kind: 'settle' | 'refund' }): Attempt | undefined {
  const hold = world.holds.get(move.hold);
  if (hold === undefined) return undefined;
  // Only the process that opened a bill has it in hand, and a dead one does nothing more.
  const process = move.way === 'bill' ? hold.process : processAt(world, move.by);
  if (process.dead || (move.way === 'bill' ? hold.bill === undefined : hold.reservation === undefined))
    return undefined;
  const actual = move.kind === 'settle' ? cost(hold.tariff, move.counts) : undefined;
  const member: Member = { kind: 'end', hold: move.hold, actual };
  const answer = move.kind === 'settle' ? settleBy(world, process, hold, move) : refundBy(world, process, hold, move);
  return { ...attempt(world, move, member, wordsOf(answer), process) };
}

type Settling = Move & { readonly kind: 'settle' };

async function settleBy(world: World, process: Process, hold: Hold, move: Settling): Promise<Answer> {
  const { verbs } = world;
  const measured = { hold, counts: move.counts, current: world.tariffs[hold.sold] };
  if (move.way === 'bill') {
    const isCut = process.line.cut !== undefined;
    const charged = await verbs.settleBill(measured);
    // In an outage a bill answers with its own cost; what is charged is decided when the line is whole again.
    return () => (isCut ? 'lost' : `charged ${charged}`);
  }
  const reservation = hold.reservation as NewReservation;
  const actual = verbs.costOf(measured);
  const units = JSON.stringify(move.counts);
  const ending = await (move.way === 'batch'
    ? process.deps.callLedger.settle(reservation, actual, units)
    : verbs.settleJob(process.line, world.db, { id: reservation.id, actual, now: process.deps.clock.now(), units }));
  return () => showEnding(ending);
}

type Refunding = Move & { readonly kind: 'refund' };

async function refundBy(world: World, process: Process, hold: Hold, move: Refunding): Promise<Answer> {
  if (move.way === 'bill') {
    await hold.bill?.refund();
    return () => 'done';
  }
  const reservation = hold.reservation as NewReservation;
  const { line, deps } = process;
  const ending = await (move.way === 'batch'
    ? deps.callLedger.refund(reservation)
    : line.transaction((tx) => world.verbs.refund(tx, reservation.id, deps.clock.now())));
  return () => showEnding(ending);
}

function beginGrant(world: World, move: Granting): Attempt {
  const process = processAt(world, move.by);
  const now = process.deps.clock.now();
  const amount = BigInt(move.amount);
  const given = {
    accountId: accountId(world.tag, move.account),
    amount,
    source: move.name,
    reference: move.reference && `${world.tag}-${move.reference}`,
    expiresAt: move.expiresMs === undefined ? undefined : new Date(move.expiresMs),
    now,
  };
  const answer = process.line.transaction((tx) => world.verbs.grant(tx, given)).then(() => () => 'granted');
  const grant = { name: move.name, amount, expiresMs: move.expiresMs ?? Infinity };
  const action: Action = { kind: 'grant', nowMs: now.getTime(), grant };
  return { move, process, accountId: given.accountId, action, answer: wordsOf(answer) };
}

function beginDuty(world: World, move: Move & { readonly kind: 'takeOver' | 'lapse' }): Attempt {
  const process = processAt(world, move.by);
  const { db, clock } = process.deps;
  const { endAbandoned, lapseExpired } = world.verbs;
  const nowMs = clock.nowMs();
  const isTakeOver = move.kind === 'takeOver';
  const done = isTakeOver ? endAbandoned(db, clock.now()) : lapseExpired(db, clock.now());
  const action: Action = isTakeOver
    ? { kind: 'takeOver', nowMs, owners: new Map(world.owners) }
    : { kind: 'lapse', nowMs };
  return { move, process, accountId: undefined, action, answer: wordsOf(done.then((count) => () => String(count))) };
}

function attempt(
  world: World,
  move: Reserving | Settling | Refunding,
  member: Member,
  answer: Promise<Answer>,
  process = processAt(world, move.by),
): Attempt {
  const action: Action = { kind: 'run', nowMs: process.deps.clock.nowMs(), members: [member] };
  const account =
    move.kind === 'reserve' ? accountId(world.tag, move.account) : world.holds.get(move.hold)?.order.accountId;
  return { move, process, accountId: account, action, answer };
}

export function processAt(world: World, place: number): Process {
  const process = world.processes[place];
  if (process === undefined) throw new RangeError(`There is no process ${place}.`);
  return process;
}

function keyName(key: number | undefined): string | undefined {
  return key === undefined ? undefined : `k${key}`;
}

function showAdmission(evidence: Evidence, admission: Admission): string {
  if (admission.state === 'refused') return admission.reason;
  const { split = [] } = admission;
  return evidence.showSplit(
    split.map((part) => part.grantId),
    split.map((part) => part.amount),
  );
}

function showEnding({ state, charged }: Ending): string {
  return `${state} ${charged}`;
}

/** Errors that belong to the contract become answers; any other is a finding and is thrown on. */
async function wordsOf(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    const words = wordsOfError(error);
    if (words === undefined) throw error;
    return () => words;
  }
}

function wordsOfError(error: unknown): string | undefined {
  if (error instanceof DatabaseUnavailable) return 'lost';
  if (error instanceof ApiError) {
    if (error.code === 'precheck_failed') return 'lost';
    if (error.code === 'duplicate_reference') return 'duplicate';
    if (error.code === 'credits_not_available') return 'short';
    if (error.code === 'insufficient_credits') return error.message.includes('credit limit') ? 'key_limit' : 'balance';
  }
  // The ledger tells a caller's mistake by its own answer in quotes.
  return error instanceof Error ? /^The ledger answered "(unknown|conflict)"/.exec(error.message)?.[1] : undefined;
}
