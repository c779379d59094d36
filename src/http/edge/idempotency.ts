import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../errors.ts';
import { IDEMPOTENCY_KEY_BYTES_MAX } from '../../limits.ts';

/** An empty header counts as none. Throws `invalid_idempotency_key`. */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined || key === '') return undefined;
  if (typeof key !== 'string' || key.length > IDEMPOTENCY_KEY_BYTES_MAX || !/^[\x20-\x7e]*$/.test(key)) {
    throw new ApiError('invalid_idempotency_key');
  }
  return key;
}
