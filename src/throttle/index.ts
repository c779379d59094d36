/**
 * Rate and concurrency limits: a port, the implementation that counts in this process's memory, and the one that counts in
 * Redis for all processes, with what it does while Redis is away. The Redis client is loaded when it is used.
 */
export { MemoryThrottle } from './memory.ts';
export { RedisThrottle } from './redis.ts';
export { RedisConnection } from './redis-connection.ts';
export { RedisFault } from './redis-fault.ts';
export type { Allowance, Throttle } from './throttle.ts';
