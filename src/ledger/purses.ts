import { randomUUIDv7 } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { MicroCredits } from '../credits.ts';
import type { Db } from '../db/index.ts';
import { deletePurse, fillPurse, selectPursesOf } from './purses-store.ts';

/** A purse is worth its cost for an account whose calls follow each other as closely as this. */
const BUSY_MS = 1_000;
/** So many calls should fit into a new purse, and at least so many must. */
const CALLS_WANTED = 1_024n;
const CALLS_MIN = 16n;
/** Connections that may wait for an account's lock; the rest of the pool goes on. */
const FILLINGS_AT_ONCE_MAX = 4;
/** After a filling that added nothing. */
const REFILL_DELAY_MS = 100;
const PURSE_MS = 10 * 60 * 1000;
const IDLE_MS = 60_000;
const ACCOUNTS_TRACKED_MAX = 10_000;

/** Credits of an account that are set aside for this process, which reserves from them in memory. */
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
  /** Of accounts without a purse: the last call, or if that lies ahead, the time before which no purse is tried again. */
  readonly #lastCallMs = new Map<string, number>();
  /** Purses that are no longer drawn from and whose rows may still be there. */
  readonly #discarded = new Set<string>();
  #fillings = 0;

  constructor(deps: PursesDeps) {
    this.#deps = deps;
  }

  /** Draws credits from the account's purse; undefined when it has none, or not enough in it. */
  draw(accountId: string, amount: MicroCredits): Purse | undefined {
    const purse = this.#open.get(accountId);
    if (purse === undefined) {
      this.#trackCall(accountId, amount);
      return undefined;
    }
    if (this.#deps.clock.nowMs() >= purse.untilMs) {
      this.discard(purse);
      return undefined;
    }
    purse.usedMs = performance.now();
    if (purse.left < purse.fillBelow && purse.usedMs >= purse.fillAfterMs) void this.#fill(purse, amount, false);
    if (purse.left < amount) return undefined;
    purse.left -= amount;
    return purse;
  }

  /** No longer draws from a purse that has been recalled, or whose state is unknown. */
  discard({ id, accountId }: Purse): void {
    if (this.#open.get(accountId)?.id === id) this.#open.delete(accountId);
    this.#discarded.add(id);
  }

  /** Deletes the purse: once this resolves, no line can be written from it. */
  async release(purse: Purse): Promise<void> {
    this.discard(purse);
    await this.#delete(purse.id);
  }

  /** Releases what was discarded, or has not been used for a while. */
  async releaseIdle(): Promise<void> {
    for (const purse of this.#open.values()) if (performance.now() - purse.usedMs > IDLE_MS) this.discard(purse);
    for (const id of this.#discarded) await this.#delete(id);
  }

  /** At the end of the process. */
  async releaseAll(): Promise<void> {
    if (this.#open.size + this.#discarded.size === 0) return;
    this.#open.clear();
    for (const { id } of await selectPursesOf(this.#deps.db, this.#deps.processId)) await this.#delete(id);
  }

  async #delete(id: string): Promise<void> {
    await deletePurse(this.#deps.db, id);
    this.#discarded.delete(id);
  }

  #trackCall(accountId: string, amount: MicroCredits): void {
    const nowMs = performance.now();
    const lastCallMs = this.#lastCallMs.get(accountId);
    if (lastCallMs !== undefined && lastCallMs > nowMs) return;
    if (this.#lastCallMs.size >= ACCOUNTS_TRACKED_MAX) this.#lastCallMs.clear();
    if (lastCallMs === undefined || nowMs - lastCallMs > BUSY_MS) {
      this.#lastCallMs.set(accountId, nowMs);
      return;
    }
    this.#lastCallMs.set(accountId, nowMs + BUSY_MS);
    const untilMs = this.#deps.clock.nowMs() + PURSE_MS;
    const id = randomUUIDv7();
    void this.#fill({ id, accountId, untilMs, left: 0n, fillBelow: 0n, fillAfterMs: 0, usedMs: nowMs }, amount, true);
  }

  /** In the background: until it is done, calls reserve from the account. */
  async #fill(purse: OpenPurse, amount: MicroCredits, isNew: boolean): Promise<void> {
    if (this.#fillings >= FILLINGS_AT_ONCE_MAX) return;
    this.#fillings += 1;
    const { db, processId } = this.#deps;
    const { id, accountId, untilMs } = purse;
    const unit = amount > 0n ? amount : 1n;
    const filling = { id, isNew, accountId, processId, wanted: unit * CALLS_WANTED, enough: unit * CALLS_MIN };
    purse.fillAfterMs = Number.POSITIVE_INFINITY;
    // An outage is reported by the calls that meet it; here it leaves the content of the purse unknown.
    const added = await fillPurse(db, { ...filling, until: new Date(untilMs) }).catch(() => undefined);
    this.#fillings -= 1;
    if (added === undefined) return this.discard(purse);
    purse.left += added;
    purse.fillBelow = added / 2n;
    purse.fillAfterMs = added > 0n ? 0 : performance.now() + REFILL_DELAY_MS;
    if (isNew && added > 0n) this.#open.set(accountId, purse);
  }
}
