import type { FastifyRequest } from 'fastify';
import { PREFERRED_WAIT_SECONDS_MAX } from '../../limits.ts';

/**
 * How many seconds a request prefers to wait for its job (RFC 7240, `Prefer: wait=N`), at most as many as are waited here.
 * Undefined without the preference, and for one that cannot be read: a preference is never refused.
 */
export function preferredWaitSeconds({ headers }: FastifyRequest): number | undefined {
  const { prefer } = headers;
  if (prefer === undefined) return undefined;
  for (const preference of String(prefer).split(',')) {
    const [, seconds] = WAIT.exec(preference) ?? [];
    // Of a preference that is given twice, the first counts.
    if (seconds !== undefined) return Math.min(Number(seconds), PREFERRED_WAIT_SECONDS_MAX);
  }
  return undefined;
}

const WAIT = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;.*)?$/i;
