import { smaller, sum } from './amounts.ts';
import { periodStartMs, type Reset } from './scenario.ts';

/**
 * What the ledger promises, said again in the plainest way: one account at a time, one action after another, nothing but
 * maps and sums. It shares no code with the ledger. Grants, holds and keys go by the scenario's names, time is in
 * milliseconds, amounts are micro-credits.
 */
export interface Account {
  readonly grants: Grant[];
  readonly holds: Map<string, Hold>;
  readonly keys: Map<string, Key>;
  granted: bigint;
  lapsed: bigint;
  debt: bigint;
  /** Never runs backwards, whatever the clocks of the processes say. */
  timeMs: number;
}

interface Grant {
  readonly name: string;
  readonly amount: bigint;
  readonly expiresMs: number;
  remaining: bigint;
}

interface Hold {
  readonly name: string;
  readonly key: string | undefined;
  readonly amount: bigint;
  readonly split: readonly Part[];
  readonly lease: Lease | undefined;
  readonly state: 'open' | 'settled' | 'refunded';
  readonly charged: bigint;
  readonly known: bigint;
}

type Part = readonly [grant: string, amount: bigint];

interface Key {
  readonly limit: bigint | undefined;
  readonly reset: Reset | undefined;
  readonly charges: readonly (readonly [atMs: number, amount: bigint])[];
}

export interface Lease {
  readonly owner: string;
  readonly untilMs: number;
}

export type Member =
  | {
      readonly kind: 'reserve';
      readonly hold: string;
      readonly key: string | undefined;
      readonly amount: bigint;
      readonly lease: Lease | undefined;
    }
  /** Without an actual cost it is a refund. */
  | { readonly kind: 'end'; readonly hold: string; readonly actual: bigint | undefined };

export type Action =
  | { readonly kind: 'run'; readonly nowMs: number; readonly members: readonly Member[] }
  | { readonly kind: 'grant'; readonly nowMs: number; readonly grant: Omit<Grant, 'remaining'> }
  | { readonly kind: 'lapse'; readonly nowMs: number }
  | { readonly kind: 'takeOver'; readonly nowMs: number; readonly owners: ReadonlyMap<string, number> };

export function newAccount(timeMs: number): Account {
  return { grants: [], holds: new Map(), keys: new Map(), granted: 0n, lapsed: 0n, debt: 0n, timeMs };
}

export function copyOf(account: Account): Account {
  return {
    ...account,
    grants: account.grants.map((grant) => ({ ...grant })),
    holds: new Map(account.holds),
    keys: new Map(account.keys),
  };
}

/** Does it, and answers each member; a grant with nothing to say, a duty with how much it did. */
export function apply(account: Account, action: Action): string[] {
  switch (action.kind) {
    case 'run':
      return run(account, action.nowMs, action.members);
    case 'grant':
      return (action.grant.amount > 0n ? give : takeBack)(account, action.nowMs, action.grant);
    case 'lapse':
      return lapseDuty(account, action.nowMs);
    case 'takeOver':
      return takeOver(account, action.nowMs, action.owners);
  }
}

/** Endings first, so that what they give back can be reserved. */
function run(account: Account, nowMs: number, members: readonly Member[]): string[] {
  // Endings of what has ended, or never was, change nothing: not even what is expired.
  const mayChange = members.some(({ kind, hold }) => kind === 'reserve' || account.holds.get(hold)?.state === 'open');
  const ended = new Map(
    members.map((member) => [member, member.kind === 'end' ? end(account, nowMs, member.hold, member.actual) : '']),
  );
  if (mayChange) tidy(account, nowMs);
  return members.map((member) =>
    member.kind === 'reserve' ? reserve(account, nowMs, member) : (ended.get(member) ?? ''),
  );
}

function give(account: Account, nowMs: number, grant: Omit<Grant, 'remaining'>): string[] {
  enter(account, nowMs, { ...grant, remaining: grant.amount });
  tidy(account, nowMs);
  return ['granted'];
}

function enter(account: Account, nowMs: number, grant: Grant): void {
  account.grants.push(grant);
  account.granted += grant.amount;
  pass(account, nowMs);
}

/** All of it or nothing, out of what can be spent. */
function takeBack(account: Account, nowMs: number, grant: Omit<Grant, 'remaining'>): string[] {
  if (availableOf(lapsedCopy(account, nowMs)) < -grant.amount) return ['short'];
  tidy(account, nowMs);
  takeFrom(spendingOrder(account), -grant.amount);
  enter(account, nowMs, { ...grant, remaining: 0n });
  return ['granted'];
}

function reserve(account: Account, nowMs: number, asked: Member & { readonly kind: 'reserve' }): string {
  const earlier = account.holds.get(asked.hold);
  if (earlier !== undefined) return earlier.amount === asked.amount ? admission(earlier) : 'conflict';
  if (availableOf(account) < asked.amount) return 'balance';
  if (asked.amount > allowanceOf(account, asked.key, Math.max(nowMs, account.timeMs))) return 'key_limit';
  pass(account, nowMs);
  const split = takeFrom(spendingOrder(account), asked.amount);
  const { hold: name, key, amount, lease } = asked;
  const hold: Hold = { name, key, amount, split, lease, state: 'open', charged: 0n, known: 0n };
  account.holds.set(name, hold);
  return admission(hold);
}

function end(account: Account, nowMs: number, name: string, actual: bigint | undefined): string {
  const hold = account.holds.get(name);
  if (hold === undefined) return 'unknown';
  if (hold.state !== 'open') return `${hold.state} ${hold.charged}`;
  pass(account, nowMs);
  const charged = actual ?? 0n;
  giveBack(account, hold, charged);
  if (charged > hold.amount) account.debt += charged - hold.amount;
  const state = actual === undefined ? 'refunded' : 'settled';
  account.holds.set(name, { ...hold, state, charged });
  const key = hold.key === undefined ? undefined : account.keys.get(hold.key);
  if (hold.key !== undefined && key !== undefined && charged > 0n) {
    account.keys.set(hold.key, { ...key, charges: [...key.charges, [account.timeMs, charged]] });
  }
  return `${state} ${charged}`;
}

/** The charge eats up the split from its front; the rest goes back where it came from. */
function giveBack(account: Account, hold: Hold, charged: bigint): void {
  let toKeep = charged;
  for (const [name, amount] of hold.split) {
    const kept = smaller(amount, toKeep);
    toKeep -= kept;
    const grant = account.grants.find((candidate) => candidate.name === name);
    if (grant !== undefined) grant.remaining += amount - kept;
  }
}

/** What is expired is gone, and what is owed is paid. */
function tidy(account: Account, nowMs: number): void {
  lapse(account, nowMs);
  if (account.debt === 0n) return;
  const paid = smaller(account.debt, remainingOf(account));
  if (paid === 0n) return;
  takeFrom(spendingOrder(account), paid);
  account.debt -= paid;
  pass(account, nowMs);
}

function lapse(account: Account, nowMs: number): void {
  const momentMs = Math.max(nowMs, account.timeMs);
  for (const grant of account.grants) {
    if (grant.remaining === 0n || grant.expiresMs > momentMs) continue;
    account.lapsed += grant.remaining;
    grant.remaining = 0n;
    pass(account, nowMs);
  }
}

function lapseDuty(account: Account, nowMs: number): string[] {
  if (!account.grants.some((grant) => grant.remaining > 0n && grant.expiresMs <= nowMs)) return ['0'];
  lapse(account, nowMs);
  return ['1'];
}

/** Ends what belongs to processes that have been silent for too long, at what is known to be owed. */
function takeOver(account: Account, nowMs: number, owners: ReadonlyMap<string, number>): string[] {
  const isAbandoned = ({ state, lease }: Hold) =>
    state === 'open' && lease !== undefined && lease.untilMs <= nowMs && (owners.get(lease.owner) ?? 0) <= nowMs;
  const abandoned = [...account.holds.values()].filter(isAbandoned);
  for (const { name, known } of abandoned) end(account, nowMs, name, known > 0n ? known : undefined);
  if (abandoned.length > 0) tidy(account, nowMs);
  return [String(abandoned.length)];
}

export function meter(account: Account, name: string, known: bigint): void {
  const hold = account.holds.get(name);
  if (hold?.state === 'open' && known > hold.known) account.holds.set(name, { ...hold, known });
}

function pass(account: Account, nowMs: number): void {
  account.timeMs = Math.max(account.timeMs, nowMs);
}

function takeFrom(grants: readonly Grant[], amount: bigint): readonly Part[] {
  let toTake = amount;
  const split: Part[] = [];
  for (const grant of grants) {
    const part = smaller(grant.remaining, toTake);
    if (part === 0n) continue;
    grant.remaining -= part;
    toTake -= part;
    split.push([grant.name, part]);
  }
  return split;
}

/** By expiry, then by age; what never expires comes last. */
function spendingOrder(account: Account): readonly Grant[] {
  return account.grants.toSorted((one, other) =>
    one.expiresMs === other.expiresMs ? 0 : one.expiresMs < other.expiresMs ? -1 : 1,
  );
}

function allowanceOf(account: Account, name: string | undefined, atMs: number): bigint {
  const key = name === undefined ? undefined : account.keys.get(name);
  if (name === undefined || key?.limit === undefined) return 1n << 62n;
  return key.limit - heldBy(account, name) - spentBy(key, atMs);
}

function heldBy(account: Account, key: string): bigint {
  return sum([...account.holds.values()].map((hold) => (hold.key === key && hold.state === 'open' ? hold.amount : 0n)));
}

function spentBy({ charges, reset }: Key, atMs: number): bigint {
  const sinceMs = periodStartMs(reset, atMs);
  return sum(charges.map(([chargedMs, amount]) => (chargedMs >= sinceMs ? amount : 0n)));
}

function remainingOf(account: Account): bigint {
  return sum(account.grants.map((grant) => grant.remaining));
}

export function availableOf(account: Account): bigint {
  return remainingOf(account) - account.debt;
}

/** The figures of `GET /v1/credits` at a moment: what has expired by then counts as lapsed already. */
export function balanceAt(account: Account, nowMs: number): string {
  return showBalance(lapsedCopy(account, nowMs));
}

function lapsedCopy(account: Account, nowMs: number): Account {
  const copy = copyOf(account);
  lapse(copy, nowMs);
  return copy;
}

function showBalance(account: Account): string {
  const holds = [...account.holds.values()];
  const reserved = sum(holds.map((hold) => (hold.state === 'open' ? hold.amount : 0n)));
  const charged = sum(holds.map((hold) => hold.charged));
  return `granted ${account.granted} available ${availableOf(account)} reserved ${reserved} charged ${charged} lapsed ${account.lapsed}`;
}

/** A line per row; `Evidence.describe` says the same of the database. */
export function describe(account: Account): string[] {
  const { grants, holds, keys } = account;
  return [
    `${showBalance(account)} debt ${account.debt} at ${new Date(account.timeMs).toISOString()}`,
    ...grants.map((grant) => `${grant.name} has ${grant.remaining} of ${grant.amount}`),
    ...[...holds.values()].map(describeHold).sort(),
    ...[...keys]
      .map(([name, key]) => `${name} held ${heldBy(account, name)} spent ${spentBy(key, account.timeMs)}`)
      .sort(),
  ];
}

function describeHold(hold: Hold): string {
  const known = hold.state === 'open' ? ` known ${hold.known}` : '';
  return `${hold.name} ${hold.amount} ${admission(hold)} ${hold.state} ${hold.charged}${known}`;
}

function admission({ split }: Hold): string {
  return ['admitted', ...split.map(([grant, amount]) => `${grant}:${amount}`)].join(' ');
}
