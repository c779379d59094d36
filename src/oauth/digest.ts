import { createHash } from 'node:crypto';

/** What is stored of codes, tokens and ids, all of which are random. */
export function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
