/**
 * The one source of time. Everything that a person could want to see pass faster in a test (deadlines, leases,
 * links, retention, rate buckets) reads it; nothing else calls `Date.now()`, and SQL never calls `now()`.
 */
export interface Clock {
  now(): Date;
  /** The same moment in milliseconds since 1970, without an object. */
  nowMs(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  nowMs: () => Date.now(),
};

/** System time plus an offset that only grows: the operator's test clock. */
export class OffsetClock implements Clock {
  #offsetMs: number;

  constructor(offsetMs = 0) {
    this.#offsetMs = offsetMs;
  }

  now(): Date {
    return new Date(this.nowMs());
  }

  nowMs(): number {
    return Date.now() + this.#offsetMs;
  }

  get offsetMs(): number {
    return this.#offsetMs;
  }

  setOffset(offsetMs: number): void {
    this.#offsetMs = Math.max(this.#offsetMs, offsetMs);
  }
}

export function unixSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
