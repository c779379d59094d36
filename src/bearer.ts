import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from './settings.ts';

/** Compares an Authorization header with one token, in a time that tells nothing of how much of it was right. */
export function bearerCheck(token: Secret): (authorization: string | undefined) => boolean {
  const digestOf = (text: string) => createHash('sha256').update(text).digest();
  const expected = digestOf(`Bearer ${token.reveal()}`);
  return (authorization) => authorization !== undefined && timingSafeEqual(digestOf(authorization), expected);
}
