import { setTimeout } from 'node:timers/promises';

/** Chance and waiting, given from outside as the clock is, so that a simulation can repeat the one and skip the other. */
export interface Pacing {
  /** At least 0 and less than 1. */
  readonly random: () => number;
  /** Rejects when the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const systemPacing: Pacing = {
  random: Math.random,
  pause: (ms, signal) => setTimeout(ms, undefined, { signal }),
};
