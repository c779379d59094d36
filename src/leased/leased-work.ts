import { setMaxListeners } from 'node:events';
import type { Fenced } from './fence.ts';

interface Source<Item extends Fenced> {
  /** How many that were taken may be in hand at once. */
  readonly takenMax: number;
  /** Leases up to `limit` records that are due and that no living process works on. */
  take(limit: number): Promise<readonly Item[]>;
  /** Never throws: what becomes of a record stands in the database and in the log. */
  run(item: Item): Promise<void>;
}

/** Every record that this process works on under a lease, until the work ends or the process does. */
export class LeasedWork<Item extends Fenced> {
  readonly #source: Source<Item>;
  readonly #stopping = new AbortController();
  readonly #leaving = new AbortController();
  readonly #inHand = new Map<string, Fenced>();
  readonly #running = new Set<Promise<unknown>>();
  #taken = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(source: Source<Item>) {
    this.#source = source;
    setMaxListeners(0, this.stopping, this.leaving);
  }

  /** Aborted when the process begins to stop. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Aborted when it must end: what is still running is left to another process. */
  get leaving(): AbortSignal {
    return this.#leaving.signal;
  }

  /** By id. A record of this process that is not here was dropped, and may be taken again. */
  get inHand(): ReadonlyMap<string, Fenced> {
    return this.#inHand;
  }

  get room(): number {
    return this.stopping.aborted ? 0 : this.#source.takenMax - this.#taken;
  }

  /** Work on a record that this process leases, or is about to. */
  track<Result>(record: Fenced, work: Promise<Result>): Promise<Result> {
    this.#inHand.set(record.id, record);
    const tracked = work.finally(() => {
      this.#inHand.delete(record.id);
      this.#running.delete(tracked);
    });
    this.#running.add(tracked);
    return tracked;
  }

  /** Takes what there is room for and begins to work on it; one turn after the other. */
  take(): Promise<readonly { readonly item: Item; readonly done: Promise<void> }[]> {
    const turn = this.#turn.then(async () => {
      const items = this.room > 0 ? await this.#source.take(this.room) : [];
      return items.map((item) => ({ item, done: this.track(item, this.#run(item)) }));
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #run(item: Item): Promise<void> {
    this.#taken++;
    await this.#source.run(item);
    this.#taken--;
  }

  /** Resolves when all that is in hand now has ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  /** Lets the work come to its end or to its next point of rest; after so long it is left where it stands. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping.abort();
    const deadline = setTimeout(() => this.#leaving.abort(), timeoutMs);
    await this.#turn;
    await this.settled();
    clearTimeout(deadline);
  }
}
