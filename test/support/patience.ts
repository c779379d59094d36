/** A wait that is longer would never end. It says nothing of how fast anything is: a machine may be very busy. */
export const WAIT_MS_MAX = 120_000;
