import type { Clock } from '../clock.ts';
import type { MicroCredits } from '../credits.ts';
import { DatabaseUnavailable, type Db } from '../db/index.ts';
import { RESERVATION_LEASE_MS } from '../limits.ts';
import { AccountCommits } from './account-commits.ts';
import { changeJson, type NewEnding, type NewReservation } from './change.ts';
import { Journal } from './journal.ts';
import { postJournal } from './journal-store.ts';
import { type Admission, checkAmount, type Ending, LedgerMisuse } from './outcomes.ts';
import { type Purse, Purses } from './purses.ts';
import { updateKnown, upsertOwner } from './store.ts';

/** Backpressure: with so many changes waiting, new calls are refused. */
const WAITING_MAX = 20_000;
/** Endings that are retried after an outage; of more than that, reservations stay open until this process ends. */
const PENDING_ENDINGS_MAX = 10_000;

interface CallLedgerDeps {
  readonly db: Db;
  readonly clock: Clock;
  /** Owns the reservations made here; see extendLease. */
  readonly processId: string;
}

/** A reservation that was drawn from a purse. */
interface PurseHold {
  readonly purse: Purse;
  /** Whether the journal has it. Rejects when that is unknown. */
  readonly written: Promise<boolean>;
  /** Its line has not been committed yet, and may be deferred. */
  isWaiting: boolean;
}

/** An ending that met an outage of the database. */
interface PendingEnding {
  readonly reservation: NewReservation;
  readonly ending: NewEnding;
  readonly purse: Purse | undefined;
}

/**
 * The ledger of synchronous calls: each reserves credits before it asks an upstream, and ends the reservation before its
 * answer ends. Two ways lead to the same books: a busy account's calls draw from a purse and are written to the journal,
 * the reservation while the upstream is at work; all others are committed under the account's lock. See docs/ledger.md.
 */
export class CallLedger {
  readonly #deps: CallLedgerDeps;
  readonly #commits: AccountCommits;
  readonly #purses: Purses;
  readonly #journal: Journal;
  /** Open reservations that were drawn from purses, by id. */
  readonly #holds = new Map<string, PurseHold>();
  readonly #pendingEndings = new Map<string, PendingEnding>();

  constructor(deps: CallLedgerDeps) {
    this.#deps = deps;
    this.#commits = new AccountCommits(deps);
    this.#purses = new Purses(deps);
    this.#journal = new Journal(deps.db);
  }

  /**
   * As the verb of the same name, under this process's lease. The credits are set aside durably when this resolves.
   * `hasKeyLimit` says that the key's own limit must be checked, which is done under the account's lock only.
   */
  async reserve(reservation: NewReservation, hasKeyLimit = true): Promise<Admission> {
    const waiting = this.#journal.size + this.#commits.size;
    if (waiting >= WAITING_MAX) throw new DatabaseUnavailable('Too many calls wait for the ledger.');
    checkAmount(reservation.amount);
    const usesPurse = !hasKeyLimit && reservation.jobId === undefined;
    const purse = usesPurse ? this.#purses.draw(reservation.accountId, reservation.amount) : undefined;
    if (purse === undefined) return this.#reserveUnderLock(reservation);
    // Without a sign of the database the call does not begin before its line is written.
    const isResponsive = this.#journal.isResponsive();
    const hold = { purse, written: this.#writeHold(reservation, purse, isResponsive), isWaiting: true };
    if (!isResponsive && !(await this.#isWritten(reservation, hold))) return this.#reserveUnderLock(reservation);
    this.#holds.set(reservation.id, isResponsive ? this.#inBackground(reservation, hold) : hold);
    return { state: 'admitted' };
  }

  /** As the verb of the same name. */
  async settle(reservation: NewReservation, actual: MicroCredits, units?: string): Promise<Ending> {
    checkAmount(actual);
    return this.#end(reservation, { id: reservation.id, actual, units });
  }

  /** As the verb of the same name. */
  refund(reservation: NewReservation): Promise<Ending> {
    return this.#end(reservation, refundOf(reservation));
  }

  /** Records what a running call owes already; if its process dies, that much is charged. Never lowers it. */
  async recordKnown({ id, accountId }: NewReservation, known: MicroCredits): Promise<void> {
    const { db } = this.#deps;
    const hold = this.#holds.get(id);
    if (hold !== undefined) {
      if (hold.isWaiting) this.#journal.flush();
      await hold.written;
      await postJournal(db, accountId);
    }
    await updateKnown(db, id, known);
  }

  /** Extends the lease of this process's reservations and purses. Several times per RESERVATION_LEASE_MS. */
  async extendLease(): Promise<void> {
    const { db, clock, processId } = this.#deps;
    await upsertOwner(db, { owner: processId, until: new Date(clock.nowMs() + RESERVATION_LEASE_MS) });
  }

  /** Retries pending endings, which no other process does while this one lives, and releases idle purses. */
  async maintain(): Promise<void> {
    await Promise.all([...this.#pendingEndings.values()].map((pending) => this.#retryEnding(pending)));
    await this.#purses.releaseIdle();
  }

  /** After the last call: posts the journal and releases the purses. */
  async close(): Promise<void> {
    await this.#journal.close();
    await this.#purses.releaseAll();
  }

  async #reserveUnderLock(reservation: NewReservation): Promise<Admission> {
    try {
      return await this.#commits.reserve(reservation);
    } catch (error) {
      // It may have been committed all the same.
      if (error instanceof DatabaseUnavailable) this.#addPending(reservation, refundOf(reservation), undefined);
      throw error;
    }
  }

  #writeHold(reservation: NewReservation, purse: Purse, isInBackground: boolean): Promise<boolean> {
    const atMs = this.#deps.clock.nowMs();
    const times = { atMs, leaseMs: atMs + RESERVATION_LEASE_MS };
    const { price } = reservation;
    const line = { purse, change: changeJson({ kind: 'reserve', ...reservation }, times), price };
    return isInBackground ? this.#journal.writeSoon(line) : this.#journal.write(line);
  }

  async #isWritten(reservation: NewReservation, { purse, written }: PurseHold): Promise<boolean> {
    try {
      const isWritten = await written;
      if (!isWritten) this.#purses.discard(purse);
      return isWritten;
    } catch (error) {
      this.#purses.discard(purse);
      if (error instanceof DatabaseUnavailable) this.#addPending(reservation, refundOf(reservation), purse);
      throw error;
    }
  }

  /** The line is written while the upstream is at work. If its purse is deleted meanwhile, the call is reserved late. */
  #inBackground(reservation: NewReservation, { purse, written }: PurseHold): PurseHold {
    const reserved = written.then(async (isWritten) => {
      if (isWritten) return true;
      this.#purses.discard(purse);
      await this.#commits.reserve(reservation, true);
      return false;
    });
    const hold = { purse, written: reserved, isWaiting: true };
    reserved.then(
      () => {
        hold.isWaiting = false;
      },
      // The call's ending sees the failure.
      () => this.#purses.discard(purse),
    );
    return hold;
  }

  async #end(reservation: NewReservation, ending: NewEnding): Promise<Ending> {
    const { id } = reservation;
    const hold = this.#holds.get(id);
    const purse = hold?.purse ?? this.#pendingEndings.get(id)?.purse;
    this.#holds.delete(id);
    try {
      const ended = await (purse === undefined
        ? this.#commits.end(reservation, ending)
        : this.#endHold(reservation, ending, hold ?? { purse, written: Promise.resolve(false), isWaiting: false }));
      this.#pendingEndings.delete(id);
      return ended;
    } catch (error) {
      if (error instanceof DatabaseUnavailable) this.#addPending(reservation, ending, purse);
      throw error;
    }
  }

  async #endHold(reservation: NewReservation, ending: NewEnding, hold: PurseHold): Promise<Ending> {
    const { purse, written } = hold;
    if (hold.isWaiting) this.#journal.flush();
    const isWritten = await written.catch(() => false);
    // The purse is deleted, so that a line whose outcome is unknown cannot reach the journal after this.
    if (!isWritten) await this.#purses.release(purse);
    // What exceeds the reservation is charged under the account's lock: other purses may have to be recalled for it.
    const isCovered = (ending.actual ?? 0n) <= reservation.amount;
    if (isWritten && isCovered) {
      const change = changeJson({ kind: 'end', ...ending }, { atMs: this.#deps.clock.nowMs() });
      if (await this.#journal.write({ purse, change })) return endingOf(ending);
    }
    // In case the journal does not have it; a repeat changes nothing.
    await this.#commits.reserve(reservation, true);
    return this.#commits.end(reservation, ending);
  }

  async #retryEnding({ reservation, ending }: PendingEnding): Promise<void> {
    try {
      await this.#end(reservation, ending);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return;
      // A reservation that was never made has no ending.
      if (!(error instanceof LedgerMisuse)) throw error;
      this.#pendingEndings.delete(reservation.id);
    }
  }

  #addPending(reservation: NewReservation, ending: NewEnding, purse: Purse | undefined): void {
    const { id } = reservation;
    const hasRoom = this.#pendingEndings.size < PENDING_ENDINGS_MAX || this.#pendingEndings.has(id);
    if (hasRoom) this.#pendingEndings.set(id, { reservation, ending, purse });
  }
}

function refundOf({ id }: NewReservation): NewEnding {
  return { id, actual: undefined, units: undefined };
}

function endingOf({ actual }: NewEnding): Ending {
  return actual === undefined ? { state: 'refunded', charged: 0n } : { state: 'settled', charged: actual };
}
