import type { Clock } from '../../src/clock.ts';

/** Stands still until it is moved. */
export class ManualClock implements Clock {
  #ms = Date.parse('2030-01-15T12:00:00Z');

  now(): Date {
    return new Date(this.#ms);
  }

  nowMs(): number {
    return this.#ms;
  }

  advance(seconds: number): void {
    this.#ms += seconds * 1000;
  }
}
