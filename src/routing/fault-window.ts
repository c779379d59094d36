import { FAULT_WINDOW_ATTEMPTS_MIN, FAULT_WINDOW_SECONDS } from '../limits.ts';

/** Attempts and faults of the last seconds, one bucket each: counting is two additions, whatever the traffic. */
export class FaultWindow {
  readonly #attempts = new Uint32Array(FAULT_WINDOW_SECONDS);
  readonly #faults = new Uint32Array(FAULT_WINDOW_SECONDS);
  #second = 0;

  countAttempt(nowMs: number): void {
    const bucket = this.#bucketAt(nowMs);
    this.#attempts[bucket] = (this.#attempts[bucket] ?? 0) + 1;
  }

  countFault(nowMs: number): void {
    const bucket = this.#bucketAt(nowMs);
    this.#faults[bucket] = (this.#faults[bucket] ?? 0) + 1;
  }

  /** Half of enough attempts have failed. */
  isFailing(nowMs: number): boolean {
    this.#bucketAt(nowMs);
    const attempts = sum(this.#attempts);
    return attempts >= FAULT_WINDOW_ATTEMPTS_MIN && sum(this.#faults) * 2 >= attempts;
  }

  clear(): void {
    this.#attempts.fill(0);
    this.#faults.fill(0);
  }

  #bucketAt(nowMs: number): number {
    const second = Math.floor(nowMs / 1000);
    const passed = Math.min(second - this.#second, FAULT_WINDOW_SECONDS);
    for (let step = 1; step <= passed; step++) {
      const bucket = (this.#second + step) % FAULT_WINDOW_SECONDS;
      this.#attempts[bucket] = 0;
      this.#faults[bucket] = 0;
    }
    if (passed > 0) this.#second = second;
    return this.#second % FAULT_WINDOW_SECONDS;
  }
}

function sum(buckets: Uint32Array): number {
  return buckets.reduce((total, count) => total + count, 0);
}
