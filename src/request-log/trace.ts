import type { MicroCredits } from '../credits.ts';
import type { Pricing } from '../pricing/index.ts';
import type { Span } from '../signals/index.ts';

/**
 * What becomes known of a request while it is worked on, for its row in the request log. One object per request, filled in
 * by the layers that it passes: the edge knows the model that was asked for, billing the reservation, routing the upstream.
 */
export interface RequestTrace {
  /** Where the trace that others are told of is sampled. */
  readonly span: Span | undefined;
  model: string | undefined;
  reservationId: string | undefined;
  /** Of the last attempt. */
  upstreamId: string | undefined;
  jobId: string | undefined;
  isStreamed: boolean;
  /** When the first byte of a streamed answer was sent, on the monotonic clock. */
  streamedAtMs: number | undefined;
  /** How long the reservation took. */
  holdMs: number | undefined;
  /** How long upstreams took, all attempts together: to the whole answer, or to the first piece of a stream. */
  upstreamMs: number | undefined;
  settleMs: number | undefined;
  /** The rates of the upstream that was asked last, where its route states them. */
  costPricing: Pricing | undefined;
  /** What the call cost the operator, once it is settled. */
  cost: MicroCredits | undefined;
  /** Resolves when the call's reservation has ended, which may be after its answer. */
  billed: Promise<void> | undefined;
}

export function newTrace(span?: Span): RequestTrace {
  return {
    span,
    model: undefined,
    reservationId: undefined,
    upstreamId: undefined,
    jobId: undefined,
    isStreamed: false,
    streamedAtMs: undefined,
    holdMs: undefined,
    upstreamMs: undefined,
    settleMs: undefined,
    costPricing: undefined,
    cost: undefined,
    billed: undefined,
  };
}
