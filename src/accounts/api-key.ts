import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomBase62, toBase62 } from '../ids.ts';
import { CREDENTIAL_BYTES_MAX } from '../limits.ts';

const MARKER = 'sk-tg1-';
const RANDOM_CHARS = 48;
const CHECKSUM_CHARS = 6;
const SHAPE = new RegExp(`^${MARKER}[0-9A-Za-z]{${RANDOM_CHARS + CHECKSUM_CHARS}}$`);

/** `sk-tg1-`, 48 random base62 characters (285 bits) and 6 that catch typing errors. */
export function newApiKey(): string {
  const body = MARKER + randomBase62(RANDOM_CHARS);
  return body + checksum(body);
}

/** The first four of the random part: what is kept and shown of a key, so that a person can tell keys apart. */
export function apiKeyPrefix(key: string): string {
  return key.slice(MARKER.length, MARKER.length + 4);
}

/** Whether this could be a key at all; a typing error is refused without asking the database. */
export function isApiKeyShape(text: string): boolean {
  if (text.length > CREDENTIAL_BYTES_MAX || !SHAPE.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_CHARS);
  return text.slice(-CHECKSUM_CHARS) === checksum(body);
}

export function apiKeyDigest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function checksum(body: string): string {
  return toBase62(crc32(body), CHECKSUM_CHARS);
}
