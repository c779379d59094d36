/**
 * What becomes known of a request while it is worked on, for its row in the request log. One object per request, filled in
 * by the layers that it passes: the edge knows the model that was asked for, billing the reservation, routing the upstream.
 */
export interface RequestTrace {
  model: string | undefined;
  reservationId: string | undefined;
  /** Of the last attempt. */
  upstreamId: string | undefined;
  jobId: string | undefined;
  isStreamed: boolean;
}

export function newTrace(): RequestTrace {
  return { model: undefined, reservationId: undefined, upstreamId: undefined, jobId: undefined, isStreamed: false };
}
