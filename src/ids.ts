import { randomFillSync, randomUUID } from 'node:crypto';
import { systemClock } from './clock.ts';

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
  | 'oag'
  | 'resp'
  | 'msg'
  | 'rs'
  | 'fc'
  | 'ctc'
  | 'call';

/** What every request, job, result or file has one of: their tables have millions of rows, indexed by these ids. */
const TIMED: ReadonlySet<IdPrefix> = new Set(['req', 'job', 'ast', 'file', 'msg', 'rs', 'fc', 'ctc']);
/** Milliseconds in base 36, which sorts alike in every collation; eight characters would end in 2059. */
const TIME_LENGTH = 9;

/**
 * `acct_` and 24 base62 characters: unguessable, unique across processes and restarts. Ids of what there is much of begin
 * with the time, so that a new row is put beside the last one in an index of any size; after it 89 bits are random. The
 * time is for locality alone, and the system's: no rule reads it.
 */
export function newId(prefix: IdPrefix): string {
  if (!TIMED.has(prefix)) return `${prefix}_${randomBase62(ID_LENGTH)}`;
  const time = systemClock.nowMs().toString(36).padStart(TIME_LENGTH, '0');
  return `${prefix}_${time}${randomBase62(ID_LENGTH - TIME_LENGTH)}`;
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

let uuidSequence = 0;

/**
 * A UUID of version 7 for something that happened at this millisecond: ids are in the order of time, and within a
 * millisecond in the order in which this process made them (RFC 9562, 6.2, a counter in `rand_a`).
 */
export function timedUuid(ms: number): string {
  uuidSequence = (uuidSequence + 1) & 0xfff;
  const sequence = uuidSequence.toString(16).padStart(3, '0');
  return `${timePartOf(ms)}-7${sequence}${randomUUID().slice('00000000-0000-0000'.length)}`;
}

/** The least of the ids that `timedUuid` makes at this millisecond or later. */
export function firstUuidAt(ms: number): string {
  return `${timePartOf(ms)}-7000-8000-000000000000`;
}

function timePartOf(ms: number): string {
  const time = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}
