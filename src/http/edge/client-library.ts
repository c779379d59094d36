import type { FastifyRequest } from 'fastify';

/** Which attempt of one call this is, as generated client libraries count: 0 is the first. Undefined where none is told. */
export function retryCountOf({ headers }: FastifyRequest): number | undefined {
  const count = headers['x-stainless-retry-count'];
  return typeof count === 'string' && /^\d{1,3}$/.test(count) ? Number(count) : undefined;
}

/**
 * Whether the caller's library tells its retries from first attempts. Of any other, a retry cannot be told from a new wish:
 * once a job exists, it must not be answered with anything that makes it try again.
 */
export function countsRetries({ headers }: FastifyRequest): boolean {
  return headers['x-stainless-lang'] !== undefined;
}
