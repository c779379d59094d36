import type { ListedModel } from '../catalogue/index.ts';
import { charge, freezePrice, type Selectors, type Units } from '../pricing/index.ts';
import { EXPLORED_SHARE, LATENCY_TIE_SHARE } from '../routing-limits.ts';
import type { Candidate } from './candidates.ts';
import type { Health } from './health.ts';
import type { Latency, LatencyOf } from './latency.ts';

/** What of a request decides which candidate its model prefers. */
export interface RoutedRequest {
  /** As they are estimated for the reservation. */
  readonly units: Units;
  readonly selectors: Selectors;
  /** Whether its answer is sent on as it comes, comes whole, or is a task's, which is timed by what polls it. */
  readonly answer: 'stream' | 'whole' | 'task';
}

export type RoutedModel = Pick<ListedModel, 'routing'>;

/** What routing by speed goes by. */
type Measured = Pick<Health, 'latencies' | 'pacing' | 'nowMs'>;

/**
 * The candidates in the order that the model's `routing` prefers among equal priorities; where it says nothing, as they are.
 * They come drawn by weight, and a stable sort leaves equals so.
 */
export function preferred(
  health: Measured,
  { routing }: RoutedModel,
  candidates: readonly Candidate[],
  request: RoutedRequest,
): readonly Candidate[] {
  switch (routing) {
    case undefined:
    case 'weighted':
      return candidates;
    case 'cheapest':
      return cheapestFirst(candidates, request);
    case 'fastest':
      return fastestFirst(health, candidates, request.answer);
  }
}

/** Lower goes first. */
type Rank = number | bigint;
const LAST = Number.POSITIVE_INFINITY;

function cheapestFirst(candidates: readonly Candidate[], { units, selectors }: RoutedRequest): readonly Candidate[] {
  return candidates.length < 2 ? candidates : byRank(candidates, ({ cost }) => costRank(cost, units, selectors));
}

function costRank(cost: Candidate['cost'], units: Units, selectors: Selectors): Rank {
  if (cost === undefined) return LAST;
  try {
    return charge(freezePrice(cost, selectors), units);
  } catch (error) {
    // More than can be priced: the quote refuses the request.
    if (error instanceof RangeError) return LAST;
    throw error;
  }
}

function fastestFirst(
  health: Measured,
  candidates: readonly Candidate[],
  answer: RoutedRequest['answer'],
): readonly Candidate[] {
  const of: LatencyOf = answer === 'stream' ? 'first piece' : 'result';
  const figures = new Map(
    candidates.map((candidate) => [candidate, health.latencies.at(candidate.upstreamId, candidate.upstreamModel, of)]),
  );
  // Exploration: a slow upstream that is asked no more could not show that it has recovered.
  const isExplored = candidates.length > 1 && health.pacing.random() < EXPLORED_SHARE;
  const nowMs = health.nowMs();
  const ordered = isExplored ? candidates : byRank(candidates, speedRanks(figures, nowMs));
  if (answer === 'task') return ordered;
  return ordered.map((candidate) => ({ ...candidate, latency: figures.get(candidate) }));
}

/** Those to be tried for a figure, then by the mean, then those that have none. */
function speedRanks(figures: ReadonlyMap<Candidate, Latency>, nowMs: number): (candidate: Candidate) => Rank {
  const best = new Map<number, number>();
  for (const [{ priority }, { meanMs }] of figures) {
    if (meanMs !== undefined) best.set(priority, Math.min(best.get(priority) ?? LAST, meanMs));
  }
  return (candidate) => {
    const figure = figures.get(candidate);
    const meanMs = figure?.meanMs;
    if (meanMs === undefined) return figure?.isDueForTrial(nowMs) === true ? -1 : LAST;
    const bestMs = best.get(candidate.priority) ?? meanMs;
    return meanMs <= bestMs * (1 + LATENCY_TIE_SHARE) ? bestMs : meanMs;
  };
}

function byRank(candidates: readonly Candidate[], rankOf: (candidate: Candidate) => Rank): readonly Candidate[] {
  const ranked = candidates.map((candidate) => ({ candidate, rank: rankOf(candidate) }));
  ranked.sort((a, b) => b.candidate.priority - a.candidate.priority || compareRanks(a.rank, b.rank));
  return ranked.map(({ candidate }) => candidate);
}

function compareRanks(a: Rank, b: Rank): number {
  return a < b ? -1 : Number(a > b);
}
