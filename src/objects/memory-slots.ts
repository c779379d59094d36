import { BUFFERED_INPUTS_MAX } from '../limits.ts';

/** A counting semaphore over the small inputs that this process keeps in memory. With no slot free, an input is stored. */
export class MemorySlots {
  #used = 0;

  /** Undefined when none is free. */
  tryAcquire(): MemorySlot | undefined {
    if (this.#used === BUFFERED_INPUTS_MAX) return undefined;
    this.#used++;
    let isHeld = true;
    return {
      release: () => {
        if (isHeld) this.#used--;
        isHeld = false;
      },
    };
  }
}

/** Room for one input of up to BUFFERED_INPUT_BYTES_MAX. */
export interface MemorySlot {
  /** May be called more than once. */
  release(): void;
}
