import { creditsToNumber, type MicroCredits } from '../credits.ts';
import type { Db, Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { newId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { NewEnding, NewReservation } from './change.ts';
import {
  changeGrant,
  type Grant,
  type GrantChange,
  insertGrant,
  type NewGrant,
  selectGrant,
  selectGrants,
} from './grants-store.ts';
import { postJournal } from './journal-store.ts';
import { type Admission, type CreditRefusal, checkAmount, type Ending, toAdmission, toEnding } from './outcomes.ts';
import {
  type Balance,
  commitChanges,
  type EndAnswer,
  type EntryRange,
  type EntryType,
  type Lease,
  lockBalances,
  type Page,
  type ReserveAnswer,
  selectBalance,
  selectEntries,
  selectEntriesOf,
} from './store.ts';

export type { CreditRefusal, Ending, Grant, GrantChange, NewReservation, Page };

/**
 * Gives credits to an account; what it owes is paid from them first. An amount below zero takes unspent credits back, in
 * the order of spending, and never more than are available: else it throws `credits_not_available`, and the transaction
 * must be rolled back. Throws `duplicate_reference` when a grant with this reference exists, and leaves the transaction
 * usable; throws `account_not_found`.
 */
export async function grant(tx: Tx, newGrant: Omit<NewGrant, 'id'>): Promise<Grant> {
  const id = newId('grant');
  const answer = await insertGrant(tx, { ...newGrant, id });
  if (answer === 'unknown') throw new ApiError('account_not_found');
  if (answer === 'duplicate') throw new ApiError('duplicate_reference');
  if (answer === 'short') {
    const balance = await selectBalance(tx, newGrant.accountId, newGrant.now);
    throw notAvailable(-newGrant.amount, balance?.available ?? 0n);
  }
  return existingGrant(tx, id);
}

function notAvailable(wanted: MicroCredits, available: MicroCredits): ApiError {
  const [amount, left] = [creditsToNumber(wanted), creditsToNumber(available)];
  const message = `${amount} credits cannot be taken back: the account has ${left} available. Nothing was changed.`;
  return new ApiError('credits_not_available', { message });
}

async function existingGrant(tx: Tx, id: string): Promise<Grant> {
  const row = await selectGrant(tx, id);
  if (row === undefined) throw new Error(`Grant ${id} was made and is not there.`);
  return row;
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
  return { before, after: await existingGrant(tx, id) };
}

/**
 * Reserves credits from the grants in spending order. The caller makes the id, so a repeat (after a lost answer, say) finds
 * the reservation and gets the same answer. With a lease, the reservation is ended for its owner if that process dies.
 */
export async function reserve(tx: Tx, reservation: NewReservation, now: Date, lease?: Lease): Promise<Admission> {
  checkAmount(reservation.amount);
  const changes = [{ kind: 'reserve', ...reservation }] as const;
  const [answer] = await commitChanges(tx, { now, lockMode: 'wait', changes, lease });
  return toAdmission(answer as ReserveAnswer, reservation.id);
}

/**
 * Takes the real cost and returns the rest to the same grants. What the reservation does not cover is a second charge,
 * which may take the balance below zero. A reservation that has ended is not changed; its ending is returned.
 */
export function settle(tx: Tx, id: string, actual: MicroCredits, now: Date, units?: string): Promise<Ending> {
  return end(tx, { id, actual, units }, now);
}

/** Returns everything to the same grants. A reservation that has ended is not changed; its ending is returned. */
export function refund(tx: Tx, id: string, now: Date): Promise<Ending> {
  return end(tx, { id, actual: undefined, units: undefined }, now);
}

async function end(tx: Tx, ending: NewEnding, now: Date): Promise<Ending> {
  const [ended] = await endAll(tx, [ending], now);
  return ended ?? toEnding(undefined, ending.id);
}

/**
 * As `reserve` for many, without leases: the caller is responsible for ending them. Returns the refusals; the others are
 * reserved.
 */
export async function reserveAll(
  tx: Tx,
  reservations: readonly NewReservation[],
  now: Date,
): Promise<ReadonlyMap<string, CreditRefusal>> {
  for (const { amount } of reservations) checkAmount(amount);
  const changes = reservations.map((reservation) => ({ kind: 'reserve', ...reservation }) as const);
  const answers = await commitChanges(tx, { now, lockMode: 'wait', changes, lease: undefined });
  const refusals = new Map<string, CreditRefusal>();
  for (const [index, { id }] of reservations.entries()) {
    const admission = toAdmission(answers[index] as ReserveAnswer, id);
    if (admission.state === 'refused') refusals.set(id, { reason: admission.reason, left: admission.left });
  }
  return refusals;
}

/** As `settle` and `refund` for many. Returns each ending at its index. */
export async function endAll(tx: Tx, endings: readonly NewEnding[], now: Date): Promise<readonly Ending[]> {
  for (const { actual } of endings) checkAmount(actual ?? 0n);
  const changes = endings.map((ending) => ({ kind: 'end', ...ending }) as const);
  const answers = await commitChanges(tx, { now, lockMode: 'wait', changes, lease: undefined });
  return endings.map(({ id }, index) => toEnding(answers[index] as EndAnswer, id));
}

/** Excludes other transactions from these accounts until this one ends, apart from what purses have set aside. */
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
  /** What a settlement counted. */
  readonly units: JsonObject | undefined;
}

/** What is left out does not matter. */
export interface EntryFilter extends EntryRange {
  /** With it, every entry of one reservation is meant. */
  readonly reservationId?: string | undefined;
}

/** Newest first. Throws `invalid_parameter` when `after` is no entry of this account. */
export async function listEntries(
  db: Db,
  accountId: string,
  { reservationId, ...range }: Page & EntryFilter,
): Promise<readonly Entry[]> {
  await postJournal(db, accountId);
  const prefix = entryIdPrefix(accountId);
  const rows =
    reservationId === undefined
      ? await selectEntries(db, accountId, { ...range, before: entryNumber(prefix, range.after) })
      : await selectEntriesOf(db, accountId, reservationId);
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
    units: row.units ?? undefined,
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
  await postJournal(db, accountId);
  return selectGrants(db, accountId, page, now);
}

/** Right at this very moment, also when grants have expired that no entry has lapsed yet. */
export async function balanceOf(db: Db, accountId: string, now: Date): Promise<Balance | undefined> {
  await postJournal(db, accountId);
  return selectBalance(db, accountId, now);
}
