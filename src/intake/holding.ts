import { HELD_INPUTS_MAX } from '../limits.ts';

/** Room in memory for small inputs, over all requests of this process. Whoever finds it full uses the store. */
export class Holding {
  #held = 0;

  /** Undefined when it is full. */
  take(): Place | undefined {
    if (this.#held === HELD_INPUTS_MAX) return undefined;
    this.#held++;
    let isTaken = true;
    return {
      leave: () => {
        if (isTaken) this.#held--;
        isTaken = false;
      },
    };
  }
}

/** Room for one input of up to HELD_INPUT_BYTES_MAX. */
export interface Place {
  /** May be called more than once. */
  leave(): void;
}
