import type { BillingParts } from '../billing/index.ts';
import type { AttemptParts, CandidateParts } from '../routing/index.ts';

export interface CallParts extends CandidateParts, AttemptParts, BillingParts {}

/** What a call is known by, and when to give it up: the signal is aborted when the caller leaves. */
export interface CallContext {
  readonly requestId: string;
  readonly signal: AbortSignal;
}
