import type { Caller } from '../accounts/index.ts';
import type { Catalogue, ListedModel } from '../catalogue/index.ts';
import type { Endpoint } from '../configuration/index.ts';
import { ApiError } from '../errors.ts';
import { findVendor, type Vendor } from '../vendors/index.ts';
import type { Health } from './health.ts';

/** One upstream that is able to serve this request. */
export interface Candidate {
  readonly upstreamId: string;
  readonly vendor: Vendor;
  /** The model's name on the vendor's wire. */
  readonly upstreamModel: string;
  readonly address: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly priority: number;
  readonly weight: number;
}

export interface CandidateParts {
  readonly catalogue: Catalogue;
  readonly health: Health;
}

/** Throws `model_not_found`, alike for a model that does not exist, is out of reach, or does not serve this endpoint. */
export function modelFor({ catalogue }: CandidateParts, caller: Caller, id: string, endpoint: Endpoint): ListedModel {
  const model = catalogue.snapshot.find(id, caller.groups);
  if (model === undefined || !model.endpoints.includes(endpoint)) throw new ApiError('model_not_found');
  return model;
}

/**
 * In the order in which they are to be tried: by priority, and at random by weight among equals. Throws
 * `no_capable_provider` when none can do such work, `no_available_provider` when all that can are cooling down.
 */
export function candidatesFor(
  { catalogue, health }: CandidateParts,
  caller: Caller,
  model: ListedModel,
  isAble: (vendor: Vendor) => boolean,
): Candidate[] {
  const able = reachable(catalogue, caller.groups, model).filter(({ vendor }) => isAble(vendor));
  if (able.length === 0) throw new ApiError('no_capable_provider');
  const available = able.filter(({ upstreamId }) => !health.isCooling(upstreamId));
  if (available.length === 0) throw new ApiError('no_available_provider');
  return available.length === 1 ? available : inOrder(available);
}

// A model lives as long as the snapshot it belongs to, and a list of groups as long as its caller is remembered.
const reachableOf = new WeakMap<ListedModel, WeakMap<readonly string[], readonly Candidate[]>>();

function reachable(catalogue: Catalogue, groups: readonly string[], model: ListedModel): readonly Candidate[] {
  let known = reachableOf.get(model);
  if (known === undefined) {
    known = new WeakMap();
    reachableOf.set(model, known);
  }
  let candidates = known.get(groups);
  if (candidates === undefined) {
    candidates = findReachable(catalogue, groups, model);
    known.set(groups, candidates);
  }
  return candidates;
}

function findReachable({ snapshot }: Catalogue, groups: readonly string[], model: ListedModel): Candidate[] {
  return model.routes.flatMap((route) => {
    const upstream = snapshot.upstreams.get(route.upstream);
    const vendor = upstream === undefined ? undefined : findVendor(upstream.vendor);
    if (upstream === undefined || vendor === undefined || !upstream.enabled) return [];
    if (!upstream.groups.some((group) => groups.includes(group))) return [];
    return [
      {
        upstreamId: upstream.id,
        vendor,
        upstreamModel: route.model,
        address: upstream.base_url ?? '',
        apiKey: snapshot.secrets.get(upstream.id) ?? '',
        timeoutMs: upstream.timeout_seconds * 1000,
        priority: upstream.priority,
        weight: upstream.weight,
      },
    ];
  });
}

/** A draw with the k-th root of chance: the higher the weight, the likelier to come first, in exact proportion. */
function inOrder(candidates: readonly Candidate[]): Candidate[] {
  const drawn = candidates.map((candidate) => ({ candidate, lot: Math.random() ** (1 / candidate.weight) }));
  drawn.sort((a, b) => b.candidate.priority - a.candidate.priority || b.lot - a.lot);
  return drawn.map(({ candidate }) => candidate);
}
