import type { ConfigDocument } from '../configuration/index.ts';
import { ApiError } from '../errors.ts';
import { UPSTREAM_TEST_TIMEOUT_MS } from '../limits.ts';
import { upstreamOf } from './attempt.ts';
import { candidateOf } from './candidates.ts';
import type { TestDeps } from './test-upstream.ts';
import { type Failure, failureOf } from './upstream-problem.ts';

/** What an upstream offers, as far as it can say. */
export interface UpstreamModels {
  /** Whether its vendor has a call that tells it. */
  readonly canTell: boolean;
  readonly failure: Failure | undefined;
  readonly models: readonly OfferedModel[];
  /** Names in routes that the upstream did not list. */
  readonly unlisted: readonly string[];
  /** Whether there is more than was read. */
  readonly hasMore: boolean;
}

interface OfferedModel {
  /** As a route names it. */
  readonly id: string;
  /** The public names that lead to it. */
  readonly usedBy: readonly string[];
}

/** Asks an upstream for the list of its models, which costs nothing. No breaker learns of it. Throws `upstream_not_found`. */
export async function listUpstreamModels(
  deps: TestDeps,
  upstreamId: string,
  left: AbortSignal,
): Promise<UpstreamModels> {
  const { snapshot } = deps.catalogue;
  const candidate = candidateOf(deps, upstreamId, '');
  if (candidate === undefined) throw new ApiError('upstream_not_found');
  const { listModels } = candidate.vendor;
  const nothing = { failure: undefined, models: [], unlisted: [], hasMore: false };
  if (listModels === undefined) return { ...nothing, canTell: false };
  const signal = AbortSignal.any([left, AbortSignal.timeout(UPSTREAM_TEST_TIMEOUT_MS)]);
  const users = usersOf(snapshot.document, upstreamId);
  try {
    const { ids, isWhole } = await listModels(upstreamOf(candidate, deps.pools, signal));
    const models = [...ids].sort().map((id) => ({ id, usedBy: users.get(id) ?? [] }));
    const unlisted = isWhole ? [...users.keys()].filter((id) => !ids.includes(id)) : [];
    return { canTell: true, failure: undefined, models, unlisted, hasMore: !isWhole };
  } catch (error) {
    const failure = failureOf(snapshot, error, signal);
    const { fault, problem, detail } = failure;
    deps.log.warn({ upstream: upstreamId, fault, problem, detail }, 'an upstream did not list its models');
    return { ...nothing, canTell: true, failure };
  }
}

/** By the name on the wire, the public names that lead there. */
function usersOf({ models }: ConfigDocument, upstreamId: string): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>();
  for (const { id, routes } of models) {
    for (const { upstream, model } of routes) {
      if (upstream === upstreamId) users.set(model, [...(users.get(model) ?? []), id]);
    }
  }
  return users;
}
