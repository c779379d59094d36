import type { Fault, UpstreamError } from '../errors.ts';
import type { Approach, Breaker, BreakerState } from './breaker.ts';

/** Leave for the attempts of one request at one candidate, by which their outcome is judged. */
export interface Permit {
  readonly circuit: Circuit;
  readonly openings: number;
  readonly isProbe: boolean;
}

/** The two breakers on the way to one upstream model: the upstream's own, which all its models share, and the model's. */
export class Circuit {
  readonly upstream: Breaker;
  readonly model: Breaker;
  #passing: Permit;

  constructor(upstream: Breaker, model: Breaker) {
    this.upstream = upstream;
    this.model = model;
    this.#passing = { circuit: this, openings: this.openings, isProbe: false };
  }

  get openings(): number {
    return this.upstream.openings + this.model.openings;
  }

  get isClosed(): boolean {
    return this.upstream.isClosed && this.model.isClosed;
  }

  get openUntilMs(): number {
    return Math.max(this.upstream.openUntilMs, this.model.openUntilMs);
  }

  stateAt(nowMs: number): BreakerState {
    if (this.isClosed) return 'closed';
    return nowMs < this.openUntilMs ? 'open' : 'half_open';
  }

  nextTryMs(nowMs: number): number {
    return Math.max(this.upstream.nextTryMs(nowMs), this.model.nextTryMs(nowMs));
  }

  allows(nowMs: number, approach: Approach): boolean {
    return this.upstream.allows(nowMs, approach) && this.model.allows(nowMs, approach);
  }

  /** While it is closed every request has the same one, so that it costs nothing. */
  permit(nowMs: number, approach: Approach): Permit | undefined {
    if (this.isClosed) {
      if (this.#passing.openings !== this.openings) this.#passing = { ...this.#passing, openings: this.openings };
      return this.#passing;
    }
    if (!this.allows(nowMs, approach)) return undefined;
    const permit = { circuit: this, openings: this.openings, isProbe: true };
    this.upstream.beginProbe(permit, nowMs);
    this.model.beginProbe(permit, nowMs);
    return permit;
  }

  /** Without an outcome that says anything about the upstream. */
  release(permit: Permit): void {
    if (!permit.isProbe) return;
    this.upstream.endProbe(permit);
    this.model.endProbe(permit);
  }

  /** The breaker that a fault is noted at. */
  breakerFor(fault: Fault): Breaker {
    return fault === 'account' ? this.upstream : this.model;
  }

  isStale(permit: Permit): boolean {
    return permit.openings !== this.openings;
  }
}

/** What a fault says about the request and nothing about the upstream. */
export function isCounted({ fault, isRequested }: UpstreamError): boolean {
  return !isRequested && fault !== 'client' && fault !== 'policy' && fault !== 'unfit';
}
