import type { IntakeParts } from './parts.ts';
import { countDueObjects, forgetObjects, selectDueObjects } from './store.ts';

const PER_TURN_MAX = 100;
const AT_ONCE_MAX = 8;

export interface Backlog {
  readonly pending: number;
  /** For how long the oldest of it has waited. */
  readonly oldestSeconds: number;
}

/** Deletes what must go from the object store. Any process may do it at any time. */
export class CleanUp {
  readonly #parts: IntakeParts;
  #isRunning = false;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /**
   * The object goes first and its row after, so that a process that dies in between leaves a row that says what is still
   * to be done. Tells how many it deleted.
   */
  async run(): Promise<number> {
    this.#isRunning = true;
    try {
      for (let total = 0; ; ) {
        const deleted = await this.#turn();
        total += deleted;
        if (deleted < PER_TURN_MAX) return total;
      }
    } finally {
      this.#isRunning = false;
    }
  }

  async #turn(): Promise<number> {
    const { db, clock, objects, log } = this.#parts;
    const now = clock.now();
    const keys = await selectDueObjects(db, now, PER_TURN_MAX);
    if (keys.length > 0) log.trace('objects to be deleted');
    for (let at = 0; at < keys.length; at += AT_ONCE_MAX) {
      await Promise.all(keys.slice(at, at + AT_ONCE_MAX).map((key) => objects.remove(key)));
    }
    if (keys.length === 0) return 0;
    log.trace('objects deleted');
    await forgetObjects(db, keys, now);
    log.trace('objects forgotten');
    return keys.length;
  }

  async backlog(): Promise<Backlog> {
    const { db, clock } = this.#parts;
    const now = clock.now();
    const { due, oldestAt } = await countDueObjects(db, now);
    return { pending: due, oldestSeconds: oldestAt === null ? 0 : (now.getTime() - oldestAt.getTime()) / 1000 };
  }
}
