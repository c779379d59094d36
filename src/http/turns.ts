import { setTimeout as sleep } from 'node:timers/promises';

/** Between two long pieces of work everybody else's gets at least this long. */
const REST_MS = 20;

/**
 * Long work that cannot be interrupted, such as parsing a large body, one piece after the other: many at once would
 * keep everybody else waiting for the sum of them.
 */
export class Turns {
  #free: Promise<unknown> = Promise.resolve();

  /** Resolves when it is this one's turn; the turn is over when its caller next waits. */
  next(): Promise<unknown> {
    const turn = this.#free;
    this.#free = turn.then(() => sleep(REST_MS));
    return turn;
  }
}
