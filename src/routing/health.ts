import type { Clock } from '../clock.ts';
import type { Bus, Db } from '../db/index.ts';
import type { Fault, UpstreamError } from '../errors.ts';
import { COOLDOWN_FIRST_MS, COOLDOWN_MS_MAX, RETRY_AFTER_MS_MAX } from '../limits.ts';
import type { Logger } from '../log.ts';
import { type HealthRow, readHealth, saveHealth } from './store.ts';

export interface HealthParts {
  readonly db: Db;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What an operator sees of an upstream. */
export interface UpstreamHealth {
  readonly strikes: number;
  readonly coolingUntil: Date | null;
  readonly lastFault: string | null;
  readonly lastDetail: string | null;
  readonly lastFaultAt: Date | null;
  readonly attemptsLastMinute: number;
}

const HEALTHY: HealthRow = { strikes: 0, coolingUntil: null, lastFault: null, lastDetail: null, lastFaultAt: null };

/**
 * Which upstreams to leave alone for now. Decided in memory at once, shared with the other processes through the
 * database right after; a process that misses an announcement learns by a fault of its own.
 */
export class Health {
  readonly #parts: HealthParts;
  readonly #rows = new Map<string, HealthRow>();
  readonly #attempts = new Map<string, MinuteCount>();
  #saved: Promise<void> = Promise.resolve();

  constructor(parts: HealthParts) {
    this.#parts = parts;
    const reload = () => this.load().catch(() => undefined);
    parts.bus.on('upstream', reload);
    parts.bus.onLost(() => void reload());
  }

  /** What this process has decided meanwhile is newer than what was read: then it is read again. */
  async load(): Promise<void> {
    for (;;) {
      const saved = this.#saved;
      await saved;
      const rows = await readHealth(this.#parts.db);
      if (saved !== this.#saved) continue;
      this.#rows.clear();
      for (const { id, ...row } of rows) this.#rows.set(id, row);
      return;
    }
  }

  isCooling(upstreamId: string): boolean {
    const until = this.#rows.get(upstreamId)?.coolingUntil ?? null;
    return until !== null && until.getTime() > this.#parts.clock.nowMs();
  }

  noteAttempt(upstreamId: string): void {
    let count = this.#attempts.get(upstreamId);
    if (count === undefined) {
      count = new MinuteCount();
      this.#attempts.set(upstreamId, count);
    }
    count.add(this.#parts.clock.nowMs());
  }

  /** One success ends a series of faults, unless its attempt began before the last of them. */
  noteSuccess(upstreamId: string): void {
    const row = this.#rows.get(upstreamId);
    if (row === undefined || row.strikes === 0 || this.isCooling(upstreamId)) return;
    this.#save(upstreamId, { ...row, strikes: 0, coolingUntil: null });
  }

  /** Faults of the request itself say nothing about the upstream. */
  noteFault(upstreamId: string, error: UpstreamError): void {
    if (error.isRequested || error.fault === 'client' || error.fault === 'policy' || error.fault === 'unfit') return;
    const now = this.#parts.clock.now();
    // Attempts that were under way together fail together, and that is one strike.
    const strikes = (this.#rows.get(upstreamId)?.strikes ?? 0) + (this.isCooling(upstreamId) ? 0 : 1);
    this.#save(upstreamId, {
      strikes,
      coolingUntil: new Date(now.getTime() + cooldownMs(error, strikes)),
      lastFault: error.fault,
      lastDetail: error.message.slice(0, 500),
      lastFaultAt: now,
    });
  }

  /** Shown to the operator; neither a strike nor a reason to leave the upstream alone. */
  noteOverclaim(upstreamId: string, detail: string): void {
    const row = this.#rows.get(upstreamId) ?? HEALTHY;
    const lastFaultAt = this.#parts.clock.now();
    this.#save(upstreamId, { ...row, lastFault: 'overclaim', lastDetail: detail.slice(0, 500), lastFaultAt });
  }

  of(upstreamId: string): UpstreamHealth {
    const nowMs = this.#parts.clock.nowMs();
    const row = this.#rows.get(upstreamId) ?? HEALTHY;
    return { ...row, attemptsLastMinute: this.#attempts.get(upstreamId)?.lastMinute(nowMs) ?? 0 };
  }

  #save(upstreamId: string, row: HealthRow): void {
    this.#rows.set(upstreamId, row);
    // One after the other, so that the last to be decided is the last to be written.
    this.#saved = this.#saved.then(() => this.#share(upstreamId, row));
  }

  async #share(upstreamId: string, row: HealthRow): Promise<void> {
    const { db, bus, log } = this.#parts;
    try {
      await db.transaction(async (tx) => {
        await saveHealth(tx, upstreamId, row);
        await bus.announce(tx, 'upstream', upstreamId);
      });
    } catch (error) {
      log.warn({ upstream: upstreamId, err: error }, 'the health of an upstream was not shared');
    }
  }
}

/** What needs an operator stays away longest; what passes doubles, unless the upstream itself said how long. */
function cooldownMs(
  { fault, retryAfterMs }: { fault: Fault; retryAfterMs: number | undefined },
  strikes: number,
): number {
  if (fault === 'account' || fault === 'config') return COOLDOWN_MS_MAX;
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, RETRY_AFTER_MS_MAX);
  return Math.min(COOLDOWN_FIRST_MS * 2 ** (strikes - 1), COOLDOWN_MS_MAX);
}

/** Counts by whole minutes: the last full one, or this one if there was none before. */
class MinuteCount {
  #minute = 0;
  #current = 0;
  #previous = 0;

  add(nowMs: number): void {
    this.#turn(nowMs);
    this.#current++;
  }

  lastMinute(nowMs: number): number {
    this.#turn(nowMs);
    return Math.max(this.#previous, this.#current);
  }

  #turn(nowMs: number): void {
    const minute = Math.floor(nowMs / 60_000);
    if (minute === this.#minute) return;
    this.#previous = minute === this.#minute + 1 ? this.#current : 0;
    this.#current = 0;
    this.#minute = minute;
  }
}
