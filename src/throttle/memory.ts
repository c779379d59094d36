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
    const nowMs = this.#clock.nowMs();
    const level = levelOf(bucket, allowance.rpm, nowMs);
    const refusal = refusalOf(bucket, level, allowance);
    // A refusal writes nothing, unless the rate has changed or the clock was set back: as in Redis, where it would cost more.
    if (refusal === undefined || bucket.rpm !== allowance.rpm || nowMs < bucket.filledAtMs) {
      bucket.level = refusal === undefined ? level - ONE_REQUEST : level;
      bucket.filledAtMs = nowMs;
      bucket.rpm = allowance.rpm;
    }
    if (refusal !== undefined) return refusal;
    if (allowance.concurrency === undefined) return UNLIMITED;
    bucket.slotsInUse++;
    return { state: 'acquired', release: releaseOnce(bucket) };
  }

  #bucketOf(subject: string, { rpm }: Allowance): Bucket {
    const bucket = this.#buckets.get(subject);
    if (bucket !== undefined) return bucket;
    const nowMs = this.#clock.nowMs();
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
        const isFull = levelOf(bucket, bucket.rpm, nowMs) === bucket.rpm * ONE_REQUEST;
        const expendable = bucket.slotsInUse === 0 && (!onlyFull || isFull);
        if (expendable) this.#buckets.delete(subject);
      }
    }
  }
}

/** Time that has passed counts at the rate that was in force; a clock set back adds nothing and takes nothing. */
function levelOf({ level, filledAtMs, rpm }: Bucket, rpmNow: number, nowMs: number): number {
  const elapsedMs = Math.max(0, nowMs - filledAtMs);
  return Math.min(rpmNow * ONE_REQUEST, rpm * ONE_REQUEST, level + elapsedMs * rpm);
}

function refusalOf({ slotsInUse }: Bucket, level: number, { concurrency }: Allowance): ThrottleResult | undefined {
  if (level < ONE_REQUEST) return RATE_REFUSED;
  return concurrency !== undefined && slotsInUse >= concurrency ? SLOT_REFUSED : undefined;
}

function releaseOnce(bucket: Bucket): () => void {
  let isReleased = false;
  return () => {
    if (!isReleased) bucket.slotsInUse--;
    isReleased = true;
  };
}
