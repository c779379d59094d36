import { ApiError, type UpstreamError } from '../errors.ts';
import { ATTEMPTS_MAX, RETRY_PAUSE_MS } from '../limits.ts';
import type { Approach } from './breaker.ts';
import type { Candidate } from './candidates.ts';
import type { Permit } from './circuit.ts';
import type { Health } from './health.ts';

/** One candidate's turn to be tried. */
export interface Turn {
  readonly candidate: Candidate;
  readonly permit: Permit;
  /** To be waited for before it is asked. */
  readonly pauseMs: number;
}

/** After what a candidate may be asked once more: a call after any passing fault, a submission only if plainly refused. */
export type Repeat = 'call' | 'submission';

/**
 * The order of a request's attempts: each candidate that its breaker lets through; then, as a last resort, those whose
 * breaker is open; then, where there were fewer candidates than attempts, one that failed with a passing fault once more.
 */
export class Turns {
  readonly #health: Health;
  readonly #candidates: readonly Candidate[];
  readonly #repeat: Repeat;
  readonly #tried: Candidate[] = [];
  readonly #faults: UpstreamError[] = [];
  #again: Candidate | undefined;
  #isRetried = false;

  constructor(health: Health, candidates: readonly Candidate[], repeat: Repeat) {
    this.#health = health;
    this.#candidates = candidates;
    this.#repeat = repeat;
  }

  next(): Turn | undefined {
    if (this.#tried.length >= ATTEMPTS_MAX) return undefined;
    const turn = this.#untried('in order') ?? this.#lastResort() ?? this.#retry();
    if (turn !== undefined) this.#tried.push(turn.candidate);
    return turn;
  }

  /** To be told of every fault of an attempt. */
  failed(candidate: Candidate, error: UpstreamError): void {
    this.#faults.push(error);
    if (error.isUncertain && this.#repeat === 'submission') return;
    if (error.fault === 'server' || error.fault === 'connection') this.#again ??= candidate;
  }

  /** What the caller is told once there is no further turn. */
  exhausted(): ApiError {
    const cause = this.#faults.at(-1);
    if (this.isRejected) return new ApiError('upstream_rejected', { cause });
    if (this.#areUnfit()) return noCandidateAvailable(this.#health, this.#left());
    const allTimedOut = this.#faults.every((error) => error.fault === 'timeout');
    return new ApiError(allTimedOut ? 'request_timeout' : 'upstream_failed', { cause });
  }

  /** Every upstream that can be asked is unfit for this request. */
  get isRejected(): boolean {
    const isOver = this.#tried.length >= ATTEMPTS_MAX || this.#left().length === 0;
    return isOver && this.#faults.length > 0 && this.#areUnfit();
  }

  /** As well when none was asked: nothing is known against the candidates whose breakers kept the request away. */
  #areUnfit(): boolean {
    return this.#faults.every(({ fault }) => fault === 'unfit');
  }

  #left(): readonly Candidate[] {
    return this.#candidates.filter((candidate) => !this.#tried.includes(candidate));
  }

  #untried(approach: Approach, candidates: readonly Candidate[] = this.#candidates): Turn | undefined {
    for (const candidate of candidates) {
      const permit = this.#tried.includes(candidate) ? undefined : this.#health.permit(candidate, approach);
      if (permit !== undefined) return { candidate, permit, pauseMs: 0 };
    }
    return undefined;
  }

  #lastResort(): Turn | undefined {
    const approach = this.#faults.length === 0 ? 'all open' : 'last resort';
    return this.#untried(approach, bySoonest(this.#health, this.#candidates));
  }

  #retry(): Turn | undefined {
    const candidate = this.#again;
    if (candidate === undefined || this.#isRetried) return undefined;
    this.#isRetried = true;
    const permit = this.#health.permit(candidate, 'last resort');
    const { least, most } = RETRY_PAUSE_MS;
    const pauseMs = least + (most - least) * this.#health.pacing.random();
    return permit && { candidate, permit, pauseMs };
  }
}

/** Throws unless one of them may be tried now. */
export function assertAvailable(health: Health, candidates: readonly Candidate[]): void {
  const nowMs = health.nowMs();
  const isAvailable = candidates.some((candidate) => {
    const circuit = health.circuitOf(candidate);
    return circuit.isClosed || circuit.allows(nowMs, 'in order') || circuit.allows(nowMs, 'all open');
  });
  if (!isAvailable) throw noCandidateAvailable(health, candidates);
}

function noCandidateAvailable(health: Health, candidates: readonly Candidate[]): ApiError {
  const nowMs = health.nowMs();
  const nextMs = Math.min(...candidates.map((candidate) => health.circuitOf(candidate).nextTryMs(nowMs)));
  const seconds = Math.max(1, Math.ceil((nextMs - nowMs) / 1000));
  return new ApiError('no_available_provider', { headers: { 'retry-after': String(seconds) } });
}

function bySoonest(health: Health, candidates: readonly Candidate[]): readonly Candidate[] {
  if (candidates.length === 1) return candidates;
  return candidates.toSorted((a, b) => health.circuitOf(a).openUntilMs - health.circuitOf(b).openUntilMs);
}
