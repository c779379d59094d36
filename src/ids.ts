import { randomFillSync } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 24;

/** The prefixes of every id that leaves the building. */
export type IdPrefix =
  | 'acct'
  | 'key'
  | 'grant'
  | 'txn'
  | 'req'
  | 'client'
  | 'proc'
  | 'job'
  | 'ast'
  | 'file'
  | 'person'
  | 'sess'
  | 'link'
  | 'oag';

/** `acct_` and 24 base62 characters (142 bits): unguessable, unique across processes and restarts. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomBase62(ID_LENGTH)}`;
}

export function isIdOf(prefix: IdPrefix, id: string): boolean {
  return id.startsWith(`${prefix}_`);
}

// A request id is made on every request: random bytes are drawn a block at a time.
const pool = Buffer.alloc(8192);
let used = pool.length;

/** Characters from a cryptographic source, without bias: bytes of 248 and above (4 × 62) are thrown away. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const byte = pool[used++] as number;
    if (byte < 248) text += BASE62[byte % 62];
  }
  return text;
}

/** A number written in base62 with leading zeros, for checksums. */
export function toBase62(value: number, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = BASE62[rest % 62] + text;
  return text;
}
