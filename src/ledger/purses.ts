import { randomUUIDv7 } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { MicroCredits } from '../credits.ts';
import type { Db } from '../db/index.ts';
import { deletePurse, fillPurse, selectPursesOf } from './journal-store.ts';

/** A purse is worth its trouble for an account whose calls follow each other as closely as this. */
const BUSY_MS = 1_000;
/** So many calls should fit into a new purse, and at least so many must. */
const CALLS_WANTED = 1_024n;
const CALLS_MIN = 16n;
/** Connections that may wait for an account; the rest of the pool goes on. */
const FILLING_MAX = 4;
/** After an attempt that brought nothing. */
const FILL_AGAIN_MS = 100;
const PURSE_MS = 10 * 60 * 1000;
const IDLE_MS = 60_000;
const ACCOUNTS_SEEN_MAX = 10_000;

/** Credits of an account that this process may hold by itself. */
export interface Purse {
  readonly id: string;
  readonly accountId: string;
}

interface OpenPurse extends Purse {
  readonly untilMs: number;
  left: MicroCredits;
  /** With less than this left it is filled again, but not before that time. */
  fillBelow: MicroCredits;
  fillAfterMs: number;
  usedMs: number;
}

interface PursesDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly processId: string;
}

/** The purses of this process: one for each account that is busy and has credits to spare. */
export class Purses {
  readonly #deps: PursesDeps;
  readonly #open = new Map<string, OpenPurse>();
  /** When an account without a purse was last seen, or will be worth another look. */
  readonly #seenMs = new Map<string, number>();
  /** Ids of purses that are not used any more, and may still be there. */
  readonly #forgotten = new Set<string>();
  #filling = 0;

  constructor(deps: PursesDeps) {
    this.#deps = deps;
  }

  /** Takes credits out of the account's purse; undefined when it has none, or not enough in it. */
  take(accountId: string, amount: MicroCredits): Purse | undefined {
    const purse = this.#open.get(accountId);
    if (purse === undefined) {
      this.#see(accountId, amount);
      return undefined;
    }
    if (this.#deps.clock.nowMs() >= purse.untilMs) {
      this.forget(purse);
      return undefined;
    }
    purse.usedMs = performance.now();
    if (purse.left < purse.fillBelow && purse.usedMs >= purse.fillAfterMs) void this.#fill(purse, amount, false);
    if (purse.left < amount) return undefined;
    purse.left -= amount;
    return purse;
  }

  /** For one that has been taken away, or of which nobody knows. */
  forget({ id, accountId }: Purse): void {
    if (this.#open.get(accountId)?.id === id) this.#open.delete(accountId);
    this.#forgotten.add(id);
  }

  /** Once this is done nothing can be written from the purse any more. */
  async giveBack(purse: Purse): Promise<void> {
    this.forget(purse);
    await this.#delete(purse.id);
  }

  /** Gives back what is forgotten, or has not been used for a while. Call it now and then. */
  async giveBackIdle(): Promise<void> {
    for (const purse of this.#open.values()) if (performance.now() - purse.usedMs > IDLE_MS) this.forget(purse);
    for (const id of this.#forgotten) await this.#delete(id);
  }

  /** At the end of the process. */
  async giveBackAll(): Promise<void> {
    if (this.#open.size + this.#forgotten.size === 0) return;
    this.#open.clear();
    for (const { id } of await selectPursesOf(this.#deps.db, this.#deps.processId)) await this.#delete(id);
  }

  async #delete(id: string): Promise<void> {
    await deletePurse(this.#deps.db, id);
    this.#forgotten.delete(id);
  }

  #see(accountId: string, amount: MicroCredits): void {
    const nowMs = performance.now();
    const seenMs = this.#seenMs.get(accountId);
    if (seenMs !== undefined && seenMs > nowMs) return;
    if (this.#seenMs.size >= ACCOUNTS_SEEN_MAX) this.#seenMs.clear();
    if (seenMs === undefined || nowMs - seenMs > BUSY_MS) {
      this.#seenMs.set(accountId, nowMs);
      return;
    }
    this.#seenMs.set(accountId, nowMs + BUSY_MS);
    const untilMs = this.#deps.clock.nowMs() + PURSE_MS;
    const id = randomUUIDv7();
    void this.#fill({ id, accountId, untilMs, left: 0n, fillBelow: 0n, fillAfterMs: 0, usedMs: nowMs }, amount, true);
  }

  /** Nobody waits for it: until then calls ask for their credits one by one. */
  async #fill(purse: OpenPurse, amount: MicroCredits, isNew: boolean): Promise<void> {
    if (this.#filling >= FILLING_MAX) return;
    this.#filling += 1;
    const { db, processId } = this.#deps;
    const { id, accountId, untilMs } = purse;
    const unit = amount > 0n ? amount : 1n;
    const order = { id, isNew, accountId, processId, wanted: unit * CALLS_WANTED, enough: unit * CALLS_MIN };
    purse.fillAfterMs = Number.POSITIVE_INFINITY;
    // A failure is told by whoever needs the database; here nobody knows what is in the purse now.
    const given = await fillPurse(db, { ...order, until: new Date(untilMs) }).catch(() => undefined);
    this.#filling -= 1;
    if (given === undefined) return this.forget(purse);
    purse.left += given;
    purse.fillBelow = given / 2n;
    purse.fillAfterMs = given > 0n ? 0 : performance.now() + FILL_AGAIN_MS;
    if (isNew && given > 0n) this.#open.set(accountId, purse);
  }
}
