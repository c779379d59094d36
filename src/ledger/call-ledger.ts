import type { Clock } from '../clock.ts';
import type { MicroCredits } from '../credits.ts';
import { DatabaseUnavailable, type Db } from '../db/index.ts';
import { RESERVATION_LEASE_MS } from '../limits.ts';
import { LedgerBatch } from './batch.ts';
import { Journal, type Line } from './journal.ts';
import { catchUp } from './journal-store.ts';
import { checked, checkedEnding, type Ending, LedgerMisuse, type Verdict } from './members.ts';
import { type Purse, Purses } from './purses.ts';
import { type NewEnding, type NewReservation, updateKnown, upsertOwner } from './store.ts';

/** With so many calls waiting the ledger is not keeping up, and new ones are refused. */
const WAITING_MAX = 20_000;
/** A call whose hold is not written yet may begin if the database was heard of within this time. */
const HEARD_WITHIN_MS = 100;
/** Ends that are remembered while the database is away; of more than that, holds stay until this process ends. */
const UNSAID_MAX = 10_000;
/** What JSON can say and a text of PostgreSQL cannot. */
const UNTELLABLE = /\\u(?:0000|d[89a-f])/i;

interface CallLedgerDeps {
  readonly db: Db;
  readonly clock: Clock;
  /** Owns the reservations made here; see extendLease. */
  readonly processId: string;
}

/** What was taken out of a purse for one call. */
interface Hold {
  readonly asked: NewReservation;
  readonly purse: Purse;
  readonly line: Line;
  /** Whether the journal has it. Never settles when the line was taken back. */
  readonly written: Promise<boolean>;
}

/** The last word on a reservation. */
interface Unsaid {
  readonly asked: NewReservation;
  readonly ending: NewEnding;
  /** Where it comes out of a purse. */
  readonly hold: Hold | undefined;
}

/**
 * The ledger as synchronous calls use it: each holds credits before it asks an upstream, and ends the hold before its
 * answer ends. A busy account's calls are served from a purse (see migrations/0009_purses.sql): then nothing is asked of
 * the account, a hold is written while the upstream is at work, often in one line with its end, and a call waits for the
 * database once. All others go through the batch.
 */
export class CallLedger {
  readonly #deps: CallLedgerDeps;
  readonly #batch: LedgerBatch;
  readonly #purses: Purses;
  readonly #journal: Journal;
  /** What was taken out of purses and has not ended, by the reservation's id. */
  readonly #holds = new Map<string, Hold>();
  /** What the database was too far away to hear, by the reservation's id. */
  readonly #unsaid = new Map<string, Unsaid>();

  constructor(deps: CallLedgerDeps) {
    this.#deps = deps;
    this.#batch = new LedgerBatch(deps);
    this.#purses = new Purses(deps);
    this.#journal = new Journal(deps.db);
  }

  /**
   * As the verb of the same name, under this process's lease. The credits are set aside when this resolves, whatever
   * happens to the process. `hasKeyLimit` says that the key's own limit must be looked at, which only the batch can.
   */
  async reserve(asked: NewReservation, hasKeyLimit = true): Promise<Verdict> {
    const waiting = this.#journal.size + this.#batch.size;
    if (waiting >= WAITING_MAX) throw new DatabaseUnavailable('Too many calls wait for the ledger.');
    const purse = hasKeyLimit ? undefined : this.#purses.take(asked.accountId, checked(asked).amount);
    const told = purse === undefined ? undefined : this.#told(asked);
    if (purse === undefined || told === undefined) return this.#reserveInBatch(asked);
    const line = { purse, member: () => `{${told}}` };
    if (this.#journal.heardWithin(HEARD_WITHIN_MS)) {
      this.#holds.set(asked.id, { asked, purse, line, written: this.#writtenSoon(asked, line) });
    } else {
      if (!(await this.#writtenNow(asked, line))) return this.#reserveInBatch(asked);
      this.#holds.set(asked.id, { asked, purse, line, written: Promise.resolve(true) });
    }
    return { state: 'admitted' };
  }

  /** As the verb of the same name. */
  async settle(reservation: NewReservation, actual: MicroCredits, units?: string): Promise<Ending> {
    return this.#end(reservation, checkedEnding({ id: reservation.id, actual, units }));
  }

  /** As the verb of the same name. */
  refund(reservation: NewReservation): Promise<Ending> {
    return this.#end(reservation, refunding(reservation));
  }

  /** Records what a running call owes already; if its process dies, that much is charged. Never lowers it. */
  async recordKnown({ id, accountId }: NewReservation, known: MicroCredits): Promise<void> {
    const { db } = this.#deps;
    const hold = this.#holds.get(id);
    if (hold !== undefined) {
      await hold.written;
      await catchUp(db, accountId);
    }
    await updateKnown(db, id, known);
  }

  /** Says that this process lives and answers for its reservations and purses. Several times per RESERVATION_LEASE_MS. */
  async extendLease(): Promise<void> {
    const { db, clock, processId } = this.#deps;
    await upsertOwner(db, { owner: processId, until: new Date(clock.nowMs() + RESERVATION_LEASE_MS) });
  }

  /**
   * Ends what could not be ended while the database was away, since nobody else does while this process lives, and gives
   * back purses that are not used. Call it now and then.
   */
  async maintain(): Promise<void> {
    await Promise.all([...this.#unsaid.values()].map((unsaid) => this.#sayOnce(unsaid)));
    await this.#purses.giveBackIdle();
  }

  /** After the last call: makes entries of all that was written, and gives back the purses. */
  async close(): Promise<void> {
    await this.#journal.close();
    await this.#purses.giveBackAll();
  }

  async #reserveInBatch(asked: NewReservation): Promise<Verdict> {
    try {
      return await this.#batch.reserve(asked);
    } catch (error) {
      // What may have been held for somebody who is refused goes back.
      if (error instanceof DatabaseUnavailable) this.#remember(asked, refunding(asked), undefined);
      throw error;
    }
  }

  async #end(asked: NewReservation, ending: NewEnding): Promise<Ending> {
    const { id } = asked;
    const hold = this.#holds.get(id) ?? this.#unsaid.get(id)?.hold;
    this.#holds.delete(id);
    try {
      const ended = await (hold === undefined ? this.#batch.end(asked, ending) : this.#endHold(hold, ending));
      this.#unsaid.delete(id);
      return ended;
    } catch (error) {
      if (error instanceof DatabaseUnavailable) this.#remember(asked, ending, hold);
      throw error;
    }
  }

  async #endHold(hold: Hold, ending: NewEnding): Promise<Ending> {
    const { asked, purse, line } = hold;
    const isWithdrawn = this.#journal.withdraw(line);
    const isWritten = !isWithdrawn && (await hold.written.catch(() => false));
    // Nothing of what nobody knows about may reach the journal after this.
    if (!isWithdrawn && !isWritten) await this.#purses.giveBack(purse);
    // What exceeds its hold is charged to the account, on which other purses rely.
    const isCovered = (ending.actual ?? 0n) <= asked.amount;
    if (isCovered && (isWithdrawn || isWritten)) {
      const end = this.#toldEnd(ending);
      const member = isWithdrawn ? () => `${line.member().slice(0, -1)},${end}}` : () => `{"id":"${ending.id}",${end}}`;
      if (await this.#journal.write({ purse, member })) return endingOf(ending);
    }
    // The batch is told the hold too, in case that the journal does not have it.
    await this.#batch.reserve(asked, true);
    return this.#batch.end(asked, ending);
  }

  async #sayOnce({ asked, ending }: Unsaid): Promise<void> {
    try {
      await this.#end(asked, ending);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return;
      // A reservation that never came to be has no end.
      if (!(error instanceof LedgerMisuse)) throw error;
      this.#unsaid.delete(asked.id);
    }
  }

  #remember(asked: NewReservation, ending: NewEnding, hold: Omit<Hold, 'written'> | undefined): void {
    const { id } = asked;
    // Nobody knows what the journal has of it.
    const unsaid = { asked, ending, hold: hold && { ...hold, written: Promise.resolve(false) } };
    if (this.#unsaid.size < UNSAID_MAX || this.#unsaid.has(id)) this.#unsaid.set(id, unsaid);
  }

  /** While the upstream is at work. If the purse is gone by then, what is left of the account is held for the call. */
  #writtenSoon(asked: NewReservation, line: Line): Promise<boolean> {
    const written = this.#journal.writeSoon(line).then(async (isWritten) => {
      if (isWritten) return true;
      this.#purses.forget(line.purse);
      await this.#batch.reserve(asked, true);
      return false;
    });
    // Whoever ends it learns of it.
    written.catch(() => this.#purses.forget(line.purse));
    return written;
  }

  async #writtenNow(asked: NewReservation, line: Line): Promise<boolean> {
    const { purse } = line;
    try {
      const isWritten = await this.#journal.write(line);
      if (!isWritten) this.#purses.forget(purse);
      return isWritten;
    } catch (error) {
      this.#purses.forget(purse);
      this.#remember(asked, refunding(asked), { asked, purse, line });
      throw error;
    }
  }

  /** The fields of a hold, see ledger_apply; undefined for what the journal cannot say. */
  #told(asked: NewReservation): string | undefined {
    if (asked.jobId !== undefined) return undefined;
    const nowMs = this.#deps.clock.nowMs();
    const told = JSON.stringify({
      id: asked.id,
      held: Number(asked.amount),
      held_ms: nowMs,
      lease_ms: nowMs + RESERVATION_LEASE_MS,
      key_id: asked.keyId,
      request_id: asked.requestId,
      model: asked.model,
      endpoint: asked.endpoint,
    });
    return UNTELLABLE.test(told) ? undefined : `${told.slice(1, -1)},"price":${asked.price}`;
  }

  #toldEnd({ actual, units }: NewEnding): string {
    const told = `"ended_ms":${this.#deps.clock.nowMs()},"units":${units ?? null}`;
    return actual === undefined ? told : `${told},"actual":${actual}`;
  }
}

function refunding({ id }: NewReservation): NewEnding {
  return { id, actual: undefined, units: undefined };
}

function endingOf({ actual }: NewEnding): Ending {
  return actual === undefined ? { state: 'refunded', charged: 0n } : { state: 'settled', charged: actual };
}
