/** After this long a measured latency counts half. */
export const LATENCY_HALF_LIFE_MS = 60_000;
/** An upstream without a figure is tried first once in this time. */
export const LATENCY_TRIAL_MS = 60_000;
/** Latencies that exceed the best by no more than this share count as equal to it. */
export const LATENCY_TIE_SHARE = 0.1;
/** Of the requests of a model routed by speed, this share is ordered by weight alone. */
export const EXPLORED_SHARE = 0.05;
/** Figures that one process keeps; the oldest goes first. */
export const LATENCIES_MAX = 4_096;
