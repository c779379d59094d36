/** How much a subject (a key, an account's tokens, an address) may ask for. */
export interface Allowance {
  readonly rpm: number;
  /** Undefined takes no slot at all. */
  readonly concurrency: number | undefined;
}

type Refusal = 'rate_limited' | 'too_many_concurrent_requests' | 'limits_unavailable';

export type ThrottleResult =
  /** `release` gives the slot back and is harmless when repeated. */
  { readonly state: 'acquired'; readonly release: () => void } | { readonly state: 'refused'; readonly code: Refusal };

export const RATE_REFUSED: ThrottleResult = { state: 'refused', code: 'rate_limited' };
export const SLOT_REFUSED: ThrottleResult = { state: 'refused', code: 'too_many_concurrent_requests' };
export const UNLIMITED: ThrottleResult = { state: 'acquired', release: () => undefined };

/** For health and metrics. */
export interface ThrottleStatus {
  /**
   * Who counts. `process`: each process for itself, by setting. `shared`: all together, in Redis. While Redis is away `local`
   * (each process takes its share of every limit) or `fail` (requests are refused), as the setting says.
   */
  readonly counting: 'process' | 'shared' | 'local' | 'fail';
  /** How often Redis went away since the start. */
  readonly outages: number;
  /** Requests since the start that were decided, or refused, without Redis because it was away. */
  readonly decidedAlone: number;
}

/**
 * A token bucket and a semaphore per subject. A bucket holds a minute's worth, so that many at once pass, and fills
 * up evenly. Nothing waits: what does not fit is refused.
 */
export interface Throttle {
  /** Takes one request of the bucket and one slot, both or neither: a refusal costs the subject nothing. */
  take(subject: string, allowance: Allowance): ThrottleResult | Promise<ThrottleResult>;
  readonly status: ThrottleStatus;
}
