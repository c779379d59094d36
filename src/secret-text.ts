import { crc32 } from 'node:zlib';
import { randomBase62, toBase62 } from './ids.ts';
import { CREDENTIAL_BYTES_MAX } from './limits.ts';

const RANDOM_CHARS = 48;
const CHECKSUM_CHARS = 6;
const SHAPE = new RegExp(`^[0-9A-Za-z]{${RANDOM_CHARS + CHECKSUM_CHARS}}$`);

/** What the secret is for, 48 random base62 characters (285 bits) and 6 that catch typing errors. */
export function newSecretText(prefix: string): string {
  const body = prefix + randomBase62(RANDOM_CHARS);
  return body + checksum(body);
}

/** Whether this could be such a secret at all; a typing error is refused without asking the database. */
export function isSecretText(prefix: string, text: string): boolean {
  if (text.length > CREDENTIAL_BYTES_MAX || !text.startsWith(prefix)) return false;
  if (!SHAPE.test(text.slice(prefix.length))) return false;
  return text.slice(-CHECKSUM_CHARS) === checksum(text.slice(0, -CHECKSUM_CHARS));
}

function checksum(body: string): string {
  return toBase62(crc32(body), CHECKSUM_CHARS);
}
