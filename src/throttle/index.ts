/** Rate and concurrency limits: a port, and the implementation that counts in this process's memory. */
export { MemoryThrottle } from './memory.ts';
export type { Allowance, Throttle } from './throttle.ts';
