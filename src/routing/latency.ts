import { LATENCIES_MAX, LATENCY_HALF_LIFE_MS, LATENCY_TRIAL_MS } from '../routing-limits.ts';

/** What was waited for: the first piece of an answer that streams, or a whole result. Never compared with each other. */
export type LatencyOf = 'first piece' | 'result';

/**
 * How long one upstream model takes: an exponentially weighted mean with a half-life. Sum and count decay alike, so that
 * the mean stands still while nothing is measured, and the longer ago the last sample was, the more a new one counts.
 */
export class Latency {
  #sum = 0;
  #count = 0;
  #decayedAtMs = 0;
  #trialUntilMs = Number.NEGATIVE_INFINITY;

  /** Undefined until something was measured. */
  get meanMs(): number | undefined {
    return this.#count === 0 ? undefined : this.#sum / this.#count;
  }

  /** Without a figure, and not tried for one lately: a trial that fails must not make every request try it first. */
  isDueForTrial(nowMs: number): boolean {
    return this.#count === 0 && nowMs >= this.#trialUntilMs;
  }

  begin(nowMs: number): void {
    if (this.#count === 0) this.#trialUntilMs = nowMs + LATENCY_TRIAL_MS;
  }

  /** Of an attempt that failed or was given up: it would have taken longer, so it counts only where it raises the mean. */
  noteAtLeast(ms: number, nowMs: number): void {
    if (this.meanMs !== undefined && ms > this.meanMs) this.note(ms, nowMs);
  }

  note(ms: number, nowMs: number): void {
    const kept = 0.5 ** (Math.max(0, nowMs - this.#decayedAtMs) / LATENCY_HALF_LIFE_MS);
    this.#sum = this.#sum * kept + Math.max(0, ms);
    this.#count = this.#count * kept + 1;
    this.#decayedAtMs = Math.max(nowMs, this.#decayedAtMs);
  }
}

/** A call for a result that is polled for. */
interface TimedTask {
  readonly upstreamId: string;
  readonly upstreamModel: string;
  readonly startedAt: Date;
}

/** The latencies that this process has measured, by upstream and model on its wire. */
export class Latencies {
  readonly #figures = new Map<string, Latency>();

  /** For an operator, in whole milliseconds; null where nothing was measured. */
  shown(upstreamId: string, upstreamModel: string, of: LatencyOf): number | null {
    const mean = this.#figures.get(keyOf(upstreamId, upstreamModel, of))?.meanMs;
    return mean === undefined ? null : Math.round(mean);
  }

  at(upstreamId: string, upstreamModel: string, of: LatencyOf): Latency {
    const key = keyOf(upstreamId, upstreamModel, of);
    let figure = this.#figures.get(key);
    if (figure === undefined) {
      figure = new Latency();
      this.#figures.set(key, figure);
      if (this.#figures.size > LATENCIES_MAX) this.#dropOldest();
    }
    return figure;
  }

  /** Of a task that has brought its result, or was given up. */
  noteTask({ upstreamId, upstreamModel, startedAt }: TimedTask, nowMs: number): void {
    this.at(upstreamId, upstreamModel, 'result').note(nowMs - startedAt.getTime(), nowMs);
  }

  #dropOldest(): void {
    for (const key of this.#figures.keys()) {
      this.#figures.delete(key);
      return;
    }
  }
}

function keyOf(upstreamId: string, upstreamModel: string, of: LatencyOf): string {
  return `${of}\n${upstreamId}\n${upstreamModel}`;
}
