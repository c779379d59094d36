import { creditsToNumber, type MicroCredits } from '../credits.ts';
import type { Db, Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { newId } from '../ids.ts';
import {
  changeGrant,
  type Grant,
  type GrantChange,
  insertGrant,
  type NewGrant,
  selectGrant,
  selectGrants,
} from './grants-store.ts';
import { catchUp } from './journal-store.ts';
import {
  type Admission,
  byAccount,
  type CreditRefusal,
  checked,
  checkedEnding,
  type Ending,
  toAdmission,
  toEnding,
} from './members.ts';
import {
  type Balance,
  type EntryType,
  type Lease,
  lockBalances,
  type NewEnding,
  type NewReservation,
  type Page,
  runLedger,
  selectBalance,
  selectEntries,
} from './store.ts';

export type { Admission, CreditRefusal, Ending, Grant, GrantChange, NewReservation };

/**
 * Gives credits to an account; what it owes is paid from them first. An amount below zero takes unspent credits back, in
 * the order of spending, and never more than are available: else it throws `credits_not_available`, and the transaction
 * must be rolled back. Throws `duplicate_reference` when a grant with this reference exists, and leaves the transaction
 * usable; throws `account_not_found`.
 */
export async function grant(tx: Tx, given: Omit<NewGrant, 'id'>): Promise<Grant> {
  const id = newId('grant');
  const answer = await insertGrant(tx, { ...given, id });
  if (answer === 'unknown') throw new ApiError('account_not_found');
  if (answer === 'duplicate') throw new ApiError('duplicate_reference');
  if (answer === 'short') {
    const balance = await selectBalance(tx, given.accountId, given.now);
    throw notAvailable(-given.amount, balance?.available ?? 0n);
  }
  return madeGrant(tx, id);
}

function notAvailable(wanted: MicroCredits, available: MicroCredits): ApiError {
  const [asked, there] = [creditsToNumber(wanted), creditsToNumber(available)];
  const message = `${asked} credits cannot be taken back: the account has ${there} available. Nothing was changed.`;
  return new ApiError('credits_not_available', { message });
}

async function madeGrant(tx: Tx, id: string): Promise<Grant> {
  const made = await selectGrant(tx, id);
  if (made === undefined) throw new Error(`Grant ${id} was made and is not there.`);
  return made;
}

/**
 * Changes a grant's source, reference or expiry; what it holds stays. Throws `grant_not_found`, `duplicate_reference`, and
 * `grant_over` for a new expiry of what has expired or was itself a taking back. May be repeated.
 */
export async function correctGrant(
  tx: Tx,
  id: string,
  change: GrantChange,
  now: Date,
): Promise<{ readonly before: Grant; readonly after: Grant }> {
  const before = await selectGrant(tx, id);
  const answer = await changeGrant(tx, id, change, now);
  if (answer === 'unknown' || before === undefined) throw new ApiError('grant_not_found');
  if (answer === 'duplicate') throw new ApiError('duplicate_reference');
  if (answer === 'over') throw new ApiError('grant_over');
  return { before, after: await madeGrant(tx, id) };
}

/**
 * Holds credits, taken from the grants in spending order. The caller makes the id, so a repeat (after a lost answer, say)
 * finds the reservation and gets the same answer. With a lease, the reservation is ended for its owner if that dies.
 */
export async function reserve(tx: Tx, asked: NewReservation, now: Date, lease?: Lease): Promise<Admission> {
  const run = { now, patience: 'wait', endings: [], reservations: [checked(asked)], lease } as const;
  const { reserved } = await runLedger(tx, run);
  return toAdmission(reserved[0], asked.id);
}

/**
 * Takes the real cost and returns the rest to the same grants. What the reservation does not cover is a second charge,
 * which may take the balance below zero. On a reservation that has ended it changes nothing and tells how it ended.
 */
export function settle(tx: Tx, id: string, actual: MicroCredits, now: Date, units?: string): Promise<Ending> {
  return end(tx, checkedEnding({ id, actual, units }), now);
}

/** Returns everything to the same grants. On a reservation that has ended it changes nothing and tells how it ended. */
export function refund(tx: Tx, id: string, now: Date): Promise<Ending> {
  return end(tx, { id, actual: undefined, units: undefined }, now);
}

async function end(tx: Tx, ending: NewEnding, now: Date): Promise<Ending> {
  const { ended } = await runLedger(tx, {
    now,
    patience: 'wait',
    endings: [ending],
    reservations: [],
    lease: undefined,
  });
  return toEnding(ended[0], ending.id);
}

/**
 * As `reserve` for many, without leases: who makes them answers for ending them. Tells why those that were refused were;
 * the others hold.
 */
export async function reserveAll(
  tx: Tx,
  asked: readonly NewReservation[],
  now: Date,
): Promise<ReadonlyMap<string, CreditRefusal>> {
  const refused = new Map<string, CreditRefusal>();
  if (asked.length === 0) return refused;
  const reservations = asked.map(checked).sort(byAccount);
  const { reserved } = await runLedger(tx, { now, patience: 'wait', endings: [], reservations, lease: undefined });
  for (const [place, { id }] of reservations.entries()) {
    const admission = toAdmission(reserved[place], id);
    if (admission.state === 'refused') refused.set(id, { reason: admission.reason, left: admission.left });
  }
  return refused;
}

/** As `settle` and `refund` for many. Answers in the order of asking. */
export async function endAll(tx: Tx, endings: readonly NewEnding[], now: Date): Promise<readonly Ending[]> {
  if (endings.length === 0) return [];
  const run = {
    now,
    patience: 'wait',
    endings: endings.map(checkedEnding),
    reservations: [],
    lease: undefined,
  } as const;
  const { ended } = await runLedger(tx, run);
  return endings.map(({ id }, place) => toEnding(ended[place], id));
}

/** Until the transaction ends nobody else decides anything about these accounts, apart from what purses hold. */
export async function lockAccounts(tx: Tx, accountIds: readonly string[]): Promise<void> {
  await lockBalances(tx, accountIds);
}

export interface Entry {
  readonly id: string;
  readonly type: EntryType;
  /** By how much the entry changed what is available. */
  readonly amount: MicroCredits;
  /** How much of it was spent for good. */
  readonly charged: MicroCredits;
  readonly balanceAfter: MicroCredits;
  readonly createdAt: Date;
  readonly grantIds: readonly string[];
  readonly keyId: string | undefined;
  readonly requestId: string | undefined;
  readonly jobId: string | undefined;
  readonly model: string | undefined;
  readonly endpoint: string | undefined;
}

/** Newest first. Throws `invalid_parameter` when `after` is no entry of this account. */
export async function listEntries(db: Db, accountId: string, page: Page): Promise<readonly Entry[]> {
  await catchUp(db, accountId);
  const prefix = entryIdPrefix(accountId);
  const rows = await selectEntries(db, accountId, entryNumber(prefix, page.after), page.limit);
  return rows.map((row) => ({
    id: prefix + row.number,
    type: row.type,
    amount: row.available,
    charged: row.charged,
    balanceAfter: row.balance,
    createdAt: row.created_at,
    grantIds: row.grant_ids,
    keyId: row.key_id ?? undefined,
    requestId: row.request_id ?? undefined,
    jobId: row.job_id ?? undefined,
    model: row.model ?? undefined,
    endpoint: row.endpoint ?? undefined,
  }));
}

/** Entries are numbered within their account, so that no caller learns how busy the others are. */
function entryIdPrefix(accountId: string): string {
  return `txn_${accountId.replace(/^acct_/, '')}_`;
}

function entryNumber(prefix: string, id: string | undefined): bigint | undefined {
  if (id === undefined) return undefined;
  const number = id.startsWith(prefix) ? id.slice(prefix.length) : '';
  if (/^[1-9]\d{0,17}$/.test(number)) return BigInt(number);
  throw new ApiError('invalid_parameter', {
    message: '"after" must be the id of a transaction of this account.',
    param: 'after',
  });
}

/** Newest first; an `after` that is no grant of this account gives nothing. */
export async function listGrants(db: Db, accountId: string, page: Page, now: Date): Promise<readonly Grant[]> {
  await catchUp(db, accountId);
  return selectGrants(db, accountId, page, now);
}

/** Right at this very moment, also when grants have expired that no entry has lapsed yet. */
export async function balanceOf(db: Db, accountId: string, now: Date): Promise<Balance | undefined> {
  await catchUp(db, accountId);
  return selectBalance(db, accountId, now);
}
