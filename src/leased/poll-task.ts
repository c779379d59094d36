import { UpstreamError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { type AttemptDeps, type CandidateDeps, candidateOf, redact, upstreamOf } from '../routing/index.ts';
import type { Upstream, Vendor } from '../vendors/index.ts';

/** A task at the upstream that accepted it. */
interface AcceptedTask {
  readonly upstreamId: string | null;
  readonly upstreamModel: string | null;
  readonly task: JsonObject | null;
}

/** A vendor's work, as far as it can be polled. */
interface Pollable<Progress> {
  poll?(task: JsonObject, upstream: Upstream): Promise<Progress>;
}

/**
 * Polls the upstream of a task once. Undefined: there is no task, or its upstream has left the configuration. A fault is
 * returned and logged, since it says nothing of the task, which can be polled again.
 */
export async function pollTask<Progress>(
  deps: AttemptDeps & CandidateDeps,
  { upstreamId, upstreamModel, task }: AcceptedTask,
  ids: { readonly job_id: string } | { readonly request_id: string },
  signal: AbortSignal,
  workOf: (vendor: Vendor) => Pollable<Progress> | undefined,
): Promise<Progress | UpstreamError | undefined> {
  const candidate = candidateOf(deps, upstreamId ?? '', upstreamModel ?? '');
  const work = candidate && workOf(candidate.vendor);
  if (candidate === undefined || work?.poll === undefined || task === null) return undefined;
  try {
    return await work.poll(task, upstreamOf(candidate, deps.pools, signal));
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const detail = redact(deps.catalogue.snapshot, error.message).slice(0, 500);
    const line = { ...ids, upstream: upstreamId, fault: error.fault, detail };
    if (!signal.aborted) deps.log.warn(line, 'an upstream could not be polled for a task');
    return error;
  }
}
