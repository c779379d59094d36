import type { Caller } from '../accounts/index.ts';
import { type Catalogue, type ListedModel, requireModel } from '../catalogue/index.ts';
import type { Endpoint } from '../configuration/index.ts';
import { ApiError } from '../errors.ts';
import { costPricing, type Pricing } from '../pricing/index.ts';
import type { Upstream, Vendor, Vendors } from '../vendors/index.ts';
import type { RouteAccepts } from './fits.ts';
import type { Health } from './health.ts';
import type { Latency } from './latency.ts';
import { assertAvailable } from './turns.ts';

/** One upstream that is able to serve this request. */
export interface Candidate {
  readonly upstreamId: string;
  readonly vendor: Vendor;
  /** The model's name on the vendor's wire. */
  readonly upstreamModel: string;
  readonly address: string;
  readonly apiKey: string;
  readonly dialect: string | undefined;
  readonly credential: Upstream['credential'];
  readonly betas: readonly string[] | undefined;
  readonly serverTools: boolean | undefined;
  /** How many inputs of an embeddings call it takes at once. */
  readonly embeddingInputsMax: number | undefined;
  readonly timeoutMs: number;
  readonly priority: number;
  readonly weight: number;
  /** How its route narrows what the model takes. */
  readonly accepts: RouteAccepts;
  /** What the upstream takes for it; undefined where the configuration does not say. */
  readonly cost: Pricing | undefined;
  /** Told how long an attempt takes; undefined where that decides nothing. */
  readonly latency?: Latency | undefined;
}

export interface CandidateDeps {
  readonly catalogue: Catalogue;
  readonly health: Health;
  readonly vendors: Vendors;
}

/** Throws `model_not_found` for a model that does not exist, is out of reach, or does not serve this endpoint. */
export function modelFor(
  { catalogue }: CandidateDeps,
  caller: Pick<Caller, 'groups'>,
  id: string,
  endpoint: Endpoint,
): ListedModel {
  return requireModel(catalogue.snapshot, caller.groups, id, endpoint);
}

/**
 * In the order in which they are to be tried: by priority, and at random by weight among equals. Throws
 * `no_capable_provider` when none can do such work, `no_available_provider` when no breaker lets a request through now.
 */
export function candidatesFor(
  deps: CandidateDeps,
  caller: Pick<Caller, 'groups'>,
  model: ListedModel,
  isAble: (candidate: Candidate) => boolean,
): Candidate[] {
  const { health } = deps;
  const able = reachable(deps, caller.groups, model).filter(isAble);
  if (able.length === 0) throw new ApiError('no_capable_provider');
  assertAvailable(health, able);
  return able.length === 1 ? able : inOrder(able, health.pacing.random);
}

// A model lives as long as the snapshot it belongs to, and a list of groups as long as its caller is remembered.
const reachableOf = new WeakMap<ListedModel, WeakMap<readonly string[], readonly Candidate[]>>();

function reachable(deps: CandidateDeps, groups: readonly string[], model: ListedModel): readonly Candidate[] {
  let known = reachableOf.get(model);
  if (known === undefined) {
    known = new WeakMap();
    reachableOf.set(model, known);
  }
  let candidates = known.get(groups);
  if (candidates === undefined) {
    candidates = findReachable(deps, groups, model);
    known.set(groups, candidates);
  }
  return candidates;
}

/** Every enabled upstream of these groups that a route of the model leads to. */
export function findReachable(
  deps: Pick<CandidateDeps, 'catalogue' | 'vendors'>,
  groups: readonly string[],
  model: ListedModel,
): Candidate[] {
  return model.routes.flatMap((route) => {
    const upstream = deps.catalogue.snapshot.upstreams.get(route.upstream);
    if (upstream?.enabled !== true || !upstream.groups.some((group) => groups.includes(group))) return [];
    const candidate = candidateOf(deps, upstream.id, route.model);
    const cost = route.cost && costPricing(model.pricing, route.cost);
    return candidate === undefined ? [] : [{ ...candidate, accepts: route.accepts ?? {}, cost }];
  });
}

/** An upstream as it is configured now; undefined when it is not any more. */
export function candidateOf(
  { catalogue: { snapshot }, vendors }: Pick<CandidateDeps, 'catalogue' | 'vendors'>,
  upstreamId: string,
  upstreamModel: string,
): Candidate | undefined {
  const upstream = snapshot.upstreams.get(upstreamId);
  const vendor = upstream && vendors.find(upstream.vendor);
  if (upstream === undefined || vendor === undefined) return undefined;
  return {
    upstreamId,
    vendor,
    upstreamModel,
    address: upstream.base_url ?? '',
    apiKey: snapshot.secrets.get(upstreamId) ?? '',
    dialect: upstream.dialect,
    credential: upstream.credential,
    betas: upstream.betas,
    serverTools: upstream.server_tools,
    embeddingInputsMax: upstream.embedding_inputs_max,
    timeoutMs: upstream.timeout_seconds * 1000,
    priority: upstream.priority,
    weight: upstream.weight,
    accepts: {},
    cost: undefined,
  };
}

/** A draw with the k-th root of chance: the higher the weight, the likelier to come first, in exact proportion. */
function inOrder(candidates: readonly Candidate[], random: () => number): Candidate[] {
  const drawn = candidates.map((candidate) => ({ candidate, lot: random() ** (1 / candidate.weight) }));
  drawn.sort((a, b) => b.candidate.priority - a.candidate.priority || b.lot - a.lot);
  return drawn.map(({ candidate }) => candidate);
}
