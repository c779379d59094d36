import type { Clock } from '../clock.ts';
import { BUCKETS_MAX } from '../limits.ts';
import {
  type Allowance,
  RATE_REFUSED,
  SLOT_REFUSED,
  type Throttle,
  type ThrottleResult,
  UNLIMITED,
} from './throttle.ts';

// Levels are counted in requests × 60 000, so that one millisecond adds exactly `rpm` and every step is a whole number.
const ONE_REQUEST = 60_000;

interface Bucket {
  level: number;
  filledAtMs: number;
  rpm: number;
  slotsInUse: number;
}

/** Counts for this process alone. */
export class MemoryThrottle implements Throttle {
  readonly status = { counting: 'process', outages: 0, decidedAlone: 0 } as const;
  readonly #clock: Clock;
  readonly #bucketsMax: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, bucketsMax: number = BUCKETS_MAX) {
    this.#clock = clock;
    this.#bucketsMax = bucketsMax;
  }

  take(subject: string, allowance: Allowance): ThrottleResult {
    const bucket = this.#bucketOf(subject, allowance);
    if (bucket.level < ONE_REQUEST) return RATE_REFUSED;
    if (allowance.concurrency !== undefined && bucket.slotsInUse >= allowance.concurrency) return SLOT_REFUSED;
    bucket.level -= ONE_REQUEST;
    if (allowance.concurrency === undefined) return UNLIMITED;
    bucket.slotsInUse++;
    return { state: 'acquired', release: releaseOnce(bucket) };
  }

  #bucketOf(subject: string, { rpm }: Allowance): Bucket {
    const nowMs = this.#clock.nowMs();
    const bucket = this.#buckets.get(subject);
    if (bucket !== undefined) {
      fill(bucket, rpm, nowMs);
      return bucket;
    }
    if (this.#buckets.size >= this.#bucketsMax) this.#makeRoom(nowMs);
    const fresh: Bucket = { level: rpm * ONE_REQUEST, filledAtMs: nowMs, rpm, slotsInUse: 0 };
    this.#buckets.set(subject, fresh);
    return fresh;
  }

  /** A full bucket without slots is the same as none. If that frees too little, the longest known go first. */
  #makeRoom(nowMs: number): void {
    const target = Math.floor(this.#bucketsMax * 0.9);
    for (const onlyFull of [true, false]) {
      for (const [subject, bucket] of this.#buckets) {
        if (this.#buckets.size <= target) return;
        fill(bucket, bucket.rpm, nowMs);
        const expendable = bucket.slotsInUse === 0 && (!onlyFull || bucket.level === bucket.rpm * ONE_REQUEST);
        if (expendable) this.#buckets.delete(subject);
      }
    }
  }
}

function fill(bucket: Bucket, rpm: number, nowMs: number): void {
  // A clock set back adds nothing and takes nothing.
  const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs);
  bucket.level = Math.min(rpm * ONE_REQUEST, bucket.level + elapsedMs * rpm);
  bucket.filledAtMs = nowMs;
  bucket.rpm = rpm;
}

function releaseOnce(bucket: Bucket): () => void {
  let isReleased = false;
  return () => {
    if (!isReleased) bucket.slotsInUse--;
    isReleased = true;
  };
}
