/** How much a subject (a key, an account's tokens, an address) may ask for. */
export interface Allowance {
  readonly rpm: number;
  /** Undefined takes no slot at all. */
  readonly concurrency: number | undefined;
}

type Refusal = 'rate_limited' | 'too_many_concurrent_requests';

export type ThrottleResult =
  /** `release` gives the slot back and is harmless when repeated. */
  { readonly state: 'acquired'; readonly release: () => void } | { readonly state: 'refused'; readonly code: Refusal };

/**
 * A token bucket and a semaphore per subject. A bucket holds a minute's worth, so that many at once pass, and fills
 * up evenly. Nothing waits: what does not fit is refused.
 */
export interface Throttle {
  /** Takes one request of the bucket and one slot, both or neither: a refusal costs the subject nothing. */
  take(subject: string, allowance: Allowance): ThrottleResult | Promise<ThrottleResult>;
  /** Whether other processes count with this one. */
  readonly shared: boolean;
}
