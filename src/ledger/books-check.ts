import type { Clock } from '../clock.ts';
import type { Db } from '../db/index.ts';
import { BOOKS_LEASE_MS } from '../limits.ts';
import type { Logger } from '../log.ts';
import { books } from './books.ts';
import { isCheckDue, leaseCheck, releaseCheck } from './checkpoints.ts';

interface BooksCheckDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Logger;
  readonly processId: string;
  /** How old the last verdict may become. */
  readonly everyMs: number;
}

/**
 * Checks what came after the last check, by the clock. Any number of processes may run it: one checks, under a lease in the
 * row of the verdict, which the others leave alone as long as it is new enough. A check by an operator counts as well.
 */
export class BooksCheck {
  readonly #deps: BooksCheckDeps;
  readonly #stopping = new AbortController();

  constructor(deps: BooksCheckDeps) {
    this.#deps = deps;
  }

  /** 'elsewhere' where one is due, and another process is at it. */
  async run(): Promise<'elsewhere' | undefined> {
    const { db, clock, processId } = this.#deps;
    const before = new Date(clock.nowMs() - this.#deps.everyMs);
    if (!(await this.#lease(before))) return (await isCheckDue(db, before)) ? 'elsewhere' : undefined;
    // The first check of a ledger of years takes longer than a lease.
    const extending = setInterval(() => void this.#lease(before).catch(() => undefined), BOOKS_LEASE_MS / 3);
    try {
      await this.#check(clock.now());
    } catch (error) {
      if (!this.#stopping.signal.aborted) throw error;
    } finally {
      clearInterval(extending);
      await releaseCheck(db, processId).catch(() => undefined);
    }
    return undefined;
  }

  /** Ends a check that is under way; another process begins it anew. */
  stop(): void {
    this.#stopping.abort();
  }

  async #check(checkedAt: Date): Promise<void> {
    const { db, log } = this.#deps;
    const { difference } = await books(db, false, { checkedAt, signal: this.#stopping.signal });
    if (difference !== undefined) log.error({ difference }, 'the books do not balance');
  }

  #lease(before: Date): Promise<boolean> {
    const { db, clock, processId: owner } = this.#deps;
    const now = clock.now();
    return leaseCheck(db, { owner, now, until: new Date(now.getTime() + BOOKS_LEASE_MS), before });
  }
}
