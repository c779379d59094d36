import { killPoint } from '../kill-point.ts';
import { StorageUnavailable } from '../storage/index.ts';
import type { ObjectDeps } from './deps.ts';
import { countDueObjects, forgetObjects, selectDueObjects } from './store.ts';

const PER_TURN_MAX = 100;
const AT_ONCE_MAX = 8;
/** When so much cannot be deleted, the store itself is away. */
const STUCK_MAX = 100;

export interface Backlog {
  readonly pending: number;
  /** For how long the oldest of it has waited. */
  readonly oldestSeconds: number;
}

/** Deletes what must go from the object store. Any process may do it at any time. */
export class CleanUp {
  readonly #deps: ObjectDeps;
  #isRunning = false;

  constructor(deps: ObjectDeps) {
    this.#deps = deps;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /**
   * The object goes first and its row after, so that a process that dies in between leaves a row that says what is still
   * to be done. What cannot be deleted does not keep the others; it is tried again in the next round.
   */
  async run(): Promise<void> {
    this.#isRunning = true;
    try {
      const stuck: string[] = [];
      while (stuck.length < STUCK_MAX && (await this.#turn(stuck))) {}
    } finally {
      this.#isRunning = false;
    }
  }

  /** Tells whether there may be more to do. */
  async #turn(stuck: string[]): Promise<boolean> {
    const { db, clock, log } = this.#deps;
    const now = clock.now();
    const keys = await selectDueObjects(db, now, PER_TURN_MAX, stuck);
    if (keys.length === 0) return false;
    killPoint(log, 'object.clean-up.before-delete');
    const deleted: string[] = [];
    for (let at = 0; at < keys.length; at += AT_ONCE_MAX) {
      await Promise.all(
        keys.slice(at, at + AT_ONCE_MAX).map(async (key) => {
          if (await this.#remove(key)) deleted.push(key);
          else stuck.push(key);
        }),
      );
    }
    killPoint(log, 'object.clean-up.after-delete');
    await forgetObjects(db, deleted, now);
    killPoint(log, 'object.clean-up.after-commit');
    return keys.length === PER_TURN_MAX;
  }

  async #remove(key: string): Promise<boolean> {
    try {
      await this.#deps.objects.remove(key);
      return true;
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      this.#deps.log.warn({ key, err: error }, 'an expired object could not be deleted and will be tried again');
      return false;
    }
  }

  async backlog(): Promise<Backlog> {
    const { db, clock } = this.#deps;
    const now = clock.now();
    const { due, oldestAt } = await countDueObjects(db, now);
    return { pending: due, oldestSeconds: oldestAt === null ? 0 : (now.getTime() - oldestAt.getTime()) / 1000 };
  }
}
