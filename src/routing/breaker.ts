import type { Fault, UpstreamError } from '../errors.ts';
import { OPEN_JITTER, OPEN_MS, PROBE_EVERY_MS, RETRY_AFTER_MS_MAX, STRIKES_MAX } from '../limits.ts';
import { FaultWindow } from './fault-window.ts';

export type BreakerState = 'closed' | 'open' | 'half_open';

/** What is shared between processes, and shown to an operator. */
export interface BreakerRow {
  readonly strikes: number;
  readonly trips: number;
  readonly openedAt: Date | null;
  readonly openUntil: Date | null;
  /** The upstream named `openUntil` itself. */
  readonly hasRetryAfter: boolean;
  readonly lastFault: string | null;
  readonly lastDetail: string | null;
  readonly lastFaultAt: Date | null;
}

const CLOSED = { strikes: 0, trips: 0, openedAt: null, openUntil: null, hasRetryAfter: false } as const;
export const WELL: BreakerRow = { ...CLOSED, lastFault: null, lastDetail: null, lastFaultAt: null };

const DETAIL_CHARS_MAX = 500;

/** A fault as a breaker is told of it. */
export interface NotedFault {
  readonly error: UpstreamError;
  readonly requestId: string;
  readonly nowMs: number;
  readonly random: () => number;
  /** The attempt began before the breaker opened for the last time, so its outcome is old news. */
  readonly isStale: boolean;
}

/** How a request comes to a breaker that is not closed. */
export type Approach =
  /** In the ordinary order of candidates. */
  | 'in order'
  /** After every candidate that is closed has failed. */
  | 'last resort'
  /** While no candidate is closed. */
  | 'all open';

/**
 * A circuit breaker: closed, open for a time, then half-open, where one attempt at a time goes through as a probe and its
 * success closes it. Decides in memory and knows no other process. Attempts of one request count as one strike: what is
 * tried again within a blink says nothing new.
 */
export class Breaker {
  /** Tells attempts that began before the last opening from those that began after it. */
  openings = 0;
  readonly #strikers = new Set<string>();
  readonly #window = new FaultWindow();
  #row: BreakerRow;
  /** 0 while it is closed. */
  #openUntilMs = 0;
  #openedAtMs = 0;
  #probe: object | undefined;
  #probedAtMs = Number.NEGATIVE_INFINITY;

  constructor(row: BreakerRow = WELL) {
    this.#row = row;
    this.load(row);
  }

  get isClosed(): boolean {
    return this.#openUntilMs === 0;
  }

  get openUntilMs(): number {
    return this.#openUntilMs;
  }

  get row(): BreakerRow {
    return this.isClosed ? { ...this.#row, strikes: this.#strikers.size } : this.#row;
  }

  stateAt(nowMs: number): BreakerState {
    if (this.isClosed) return 'closed';
    return nowMs < this.#openUntilMs ? 'open' : 'half_open';
  }

  /** Takes over what another process has decided. */
  load(row: BreakerRow): void {
    const untilMs = row.openUntil?.getTime() ?? 0;
    const isSame = untilMs === this.#openUntilMs;
    // A fault that opened nothing may be known to this process alone.
    if (isSame && (this.#row.lastFaultAt ?? 0) > (row.lastFaultAt ?? 0)) return;
    this.#row = row;
    if (isSame) return;
    if (untilMs === 0) this.#close();
    else this.#open(row.openedAt?.getTime() ?? 0, untilMs);
  }

  /** Whether an attempt may go through now, as a probe unless it is closed. */
  allows(nowMs: number, approach: Approach): boolean {
    if (this.isClosed) return true;
    if (approach === 'all open') return nowMs >= this.nextTryMs(nowMs);
    if (this.#probe !== undefined) return false;
    if (nowMs >= this.#openUntilMs) return true;
    return approach === 'last resort' && !this.#row.hasRetryAfter && nowMs >= this.#probedAtMs + PROBE_EVERY_MS;
  }

  /** When the next attempt may go through if no other candidate is closed. A probe without an answer holds up no other. */
  nextTryMs(nowMs: number): number {
    if (this.isClosed) return nowMs;
    if (nowMs >= this.#openUntilMs) return this.#probe === undefined ? nowMs : this.#probedAtMs + PROBE_EVERY_MS;
    if (this.#row.hasRetryAfter) return this.#openUntilMs;
    return Math.min(this.#openUntilMs, Math.max(this.#openedAtMs, this.#probedAtMs) + PROBE_EVERY_MS);
  }

  beginProbe(probe: object, nowMs: number): void {
    if (this.isClosed) return;
    this.#probe = probe;
    this.#probedAtMs = nowMs;
  }

  endProbe(probe: object): void {
    if (this.#probe === probe) this.#probe = undefined;
  }

  /** Returns whether it closed. */
  noteSuccess(nowMs: number, isStale: boolean): boolean {
    if (this.isClosed) {
      this.#window.countAttempt(nowMs);
      if (this.#strikers.size > 0) this.#strikers.clear();
      return false;
    }
    if (isStale) return false;
    this.#close();
    this.#row = { ...this.#row, ...CLOSED };
    return true;
  }

  /** For the operator alone. */
  noteDetail(lastFault: string, detail: string, nowMs: number): void {
    const lastDetail = detail.slice(0, DETAIL_CHARS_MAX);
    this.#row = { ...this.#row, lastFault, lastDetail, lastFaultAt: new Date(nowMs) };
  }

  /** Returns whether it opened. `isLate`: the attempt was counted as a success before. */
  noteFault(fault: NotedFault, isLate = false): boolean {
    const { error, requestId, nowMs } = fault;
    this.noteDetail(error.fault, error.message, nowMs);
    if (!this.isClosed) return this.#noteWhileOpen(fault);
    if (!isLate) this.#window.countAttempt(nowMs);
    this.#window.countFault(nowMs);
    this.#strikers.add(requestId);
    const isRun = this.#strikers.size >= STRIKES_MAX || this.#window.isFailing(nowMs);
    if (kindOf(error.fault) === 'strikes' && !isRun) return false;
    this.#trip(fault);
    return true;
  }

  /** A probe before its time that fails, a last resort, does not draw the time out. */
  #noteWhileOpen(fault: NotedFault): boolean {
    const { error, nowMs, isStale } = fault;
    const isFailedProbe = !isStale && nowMs >= this.#openUntilMs;
    const toldUntilMs = nowMs + (error.fault === 'rate' ? (error.retryAfterMs ?? 0) : 0);
    if (!isFailedProbe && toldUntilMs <= this.#openUntilMs) return false;
    this.#trip(fault);
    return true;
  }

  #trip({ error, nowMs, random }: NotedFault): void {
    const { first, most } = OPEN_MS[kindOf(error.fault)];
    const { trips } = this.#row;
    const retryAfterMs = error.fault === 'rate' ? error.retryAfterMs : undefined;
    const backoffMs = Math.min(first * 2 ** trips, most) * (1 + OPEN_JITTER * random());
    const untilMs = Math.ceil(
      nowMs + (retryAfterMs === undefined ? backoffMs : Math.min(retryAfterMs, RETRY_AFTER_MS_MAX)),
    );
    this.#row = {
      ...this.#row,
      strikes: Math.max(this.#strikers.size, this.#row.strikes),
      trips: trips + 1,
      openedAt: new Date(nowMs),
      openUntil: new Date(untilMs),
      hasRetryAfter: retryAfterMs !== undefined,
    };
    this.#open(nowMs, untilMs);
  }

  #open(openedAtMs: number, untilMs: number): void {
    this.openings++;
    this.#openedAtMs = openedAtMs;
    this.#openUntilMs = untilMs;
    this.#begin();
  }

  #close(): void {
    this.#openUntilMs = 0;
    this.#begin();
  }

  #begin(): void {
    this.#probe = undefined;
    this.#probedAtMs = Number.NEGATIVE_INFINITY;
    this.#strikers.clear();
    this.#window.clear();
  }
}

function kindOf(fault: Fault): keyof typeof OPEN_MS {
  if (fault === 'rate') return 'rate';
  return fault === 'account' || fault === 'config' ? 'operator' : 'strikes';
}
