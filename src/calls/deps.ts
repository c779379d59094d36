import type { BillingDeps } from '../billing/index.ts';
import type { GuardedFetch } from '../fetch/index.ts';
import type { AttemptContext, AttemptDeps, CandidateDeps } from '../routing/index.ts';
import type { ObjectStore } from '../storage/index.ts';

export interface CallDeps extends CandidateDeps, AttemptDeps, BillingDeps {
  /** For what is delivered as a link. */
  readonly objects: ObjectStore;
  /** For what callers name. */
  readonly guardedFetch: GuardedFetch;
  /** For what upstreams name as their results. */
  readonly collectingFetch: GuardedFetch;
}

/** What a call is known by, when to give it up (the signal is aborted when the caller leaves), and its trace. */
export type CallContext = AttemptContext & Required<Pick<AttemptContext, 'trace'>>;
