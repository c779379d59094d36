import { type Actor, recordChange } from '../audit/index.ts';
import type { Snapshot } from '../catalogue/index.ts';
import type { Clock } from '../clock.ts';
import type { Bus, Db } from '../db/index.ts';
import type { UpstreamError } from '../errors.ts';
import { FAULT_NOTE_EVERY_MS } from '../limits.ts';
import type { Logger } from '../log.ts';
import { type Approach, Breaker, type BreakerRow, type BreakerState, WELL } from './breaker.ts';
import type { Candidate } from './candidates.ts';
import { Circuit, isCounted, type Permit } from './circuit.ts';
import { type Credential, isSameCredential } from './credential.ts';
import { Latencies } from './latency.ts';
import { MinuteCount } from './minute-count.ts';
import { type Pacing, systemPacing } from './pacing.ts';
import { preferred, type RoutedModel, type RoutedRequest } from './preference.ts';
import { deleteBreakers, readBreakers, saveBreaker } from './store.ts';
import { type Repeat, Turns } from './turns.ts';

export interface HealthDeps {
  readonly db: Db;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pacing?: Pacing | undefined;
}

export interface Target extends Credential {
  readonly upstreamModel: string;
}

/** What an operator sees of a breaker. */
export interface BreakerView {
  readonly state: BreakerState;
  readonly strikes: number;
  readonly nextProbeAt: Date | null;
  readonly lastFault: string | null;
  readonly lastDetail: string | null;
  readonly lastFaultAt: Date | null;
}

/** One upstream under one credential. */
interface Account extends Credential {
  readonly breaker: Breaker;
  readonly circuits: Map<string, Circuit>;
}

/** The whole upstream, where a row is for one of its models otherwise. */
const WHOLE = '';
const ACCOUNTS_PER_UPSTREAM_MAX = 4;

/**
 * The breakers of every upstream model. Decided in memory at once, shared with the other processes through the database
 * right after; a process that misses an announcement learns by faults of its own. Probes are counted by each process.
 */
export class Health {
  readonly pacing: Pacing;
  readonly latencies = new Latencies();
  readonly #deps: HealthDeps;
  /** Newest first: attempts under an older credential end at breakers that no longer matter. */
  readonly #accounts = new Map<string, Account[]>();
  readonly #rows = new Map<string, BreakerRow>();
  readonly #attempts = new Map<string, MinuteCount>();
  readonly #unsaved = new Map<string, PendingSave>();
  readonly #notedAtMs = new WeakMap<Breaker, number>();
  #saving: Promise<void> | undefined;
  #changes = 0;

  constructor(deps: HealthDeps) {
    this.#deps = deps;
    this.pacing = deps.pacing ?? systemPacing;
    const reload = () => this.load().catch(() => undefined);
    deps.bus.on('upstream', reload);
    deps.bus.onLost(() => void reload());
  }

  /** Resolves when no write is under way. */
  async saved(): Promise<void> {
    await this.#saving;
  }

  /** What this process has decided meanwhile is newer than what was read: then it is read again. */
  async load(): Promise<void> {
    for (;;) {
      await this.saved();
      const before = this.#changes;
      const rows = await readBreakers(this.#deps.db);
      if (before !== this.#changes) continue;
      this.#rows.clear();
      for (const row of rows) this.#rows.set(keyOf(row.upstreamId, row.upstreamModel), row);
      for (const [upstreamId, [account]] of this.#accounts) {
        account?.breaker.load(this.#rowOf(upstreamId, WHOLE));
        for (const [model, circuit] of account?.circuits ?? []) circuit.model.load(this.#rowOf(upstreamId, model));
      }
      return;
    }
  }

  nowMs(): number {
    return this.#deps.clock.nowMs();
  }

  circuitOf(target: Target): Circuit {
    const account = this.#accountOf(target);
    let circuit = account.circuits.get(target.upstreamModel);
    if (circuit === undefined) {
      const model = new Breaker(this.#rowOf(target.upstreamId, target.upstreamModel));
      circuit = new Circuit(account.breaker, model);
      account.circuits.set(target.upstreamModel, circuit);
    }
    return circuit;
  }

  /** In the order that the model's `routing` prefers. */
  preferred(model: RoutedModel, candidates: readonly Candidate[], request: RoutedRequest): readonly Candidate[] {
    return preferred(this, model, candidates, request);
  }

  /** In which order a request tries them. */
  turns(candidates: readonly Candidate[], repeat: Repeat): Turns {
    return new Turns(this, candidates, repeat);
  }

  /** Leave to try this candidate now; undefined while its breaker keeps requests away. */
  permit(target: Target, approach: Approach): Permit | undefined {
    return this.circuitOf(target).permit(this.#deps.clock.nowMs(), approach);
  }

  noteAttempt(upstreamId: string): void {
    let count = this.#attempts.get(upstreamId);
    if (count === undefined) {
      count = new MinuteCount();
      this.#attempts.set(upstreamId, count);
    }
    count.add(this.#deps.clock.nowMs());
  }

  noteSuccess(target: Target, permit: Permit): void {
    const { circuit } = permit;
    const nowMs = this.#deps.clock.nowMs();
    const isStale = circuit.isStale(permit);
    if (circuit.model.noteSuccess(nowMs, isStale)) this.#share(target, circuit.model, target.upstreamModel);
    if (circuit.upstream.isClosed) return;
    if (circuit.upstream.noteSuccess(nowMs, isStale)) this.#share(target, circuit.upstream, WHOLE);
  }

  noteFault(target: Target, permit: Permit, requestId: string, error: UpstreamError): void {
    const { circuit } = permit;
    this.#count(target, circuit, { requestId, error, isStale: circuit.isStale(permit), isLate: false });
  }

  /** However the attempt ended, its place as a probe is free again; one that was given up says nothing else. */
  noteEnd(permit: Permit): void {
    permit.circuit.release(permit);
  }

  /** After the attempt was counted as a success. */
  noteLateFault(target: Target, requestId: string, error: UpstreamError): void {
    this.#count(target, this.circuitOf(target), { requestId, error, isStale: true, isLate: true });
  }

  /** No strike; shown as the last fault. */
  noteOverclaim(upstreamId: string, upstreamModel: string, detail: string): void {
    const breaker = this.#breakerAt(upstreamId, upstreamModel);
    breaker.noteDetail('overclaim', detail, this.#deps.clock.nowMs());
    this.#rows.set(keyOf(upstreamId, upstreamModel), breaker.row);
    this.#enqueue({ upstreamId, upstreamModel, breaker, isNews: false });
  }

  /** Closes every breaker of an upstream, on every process. */
  async reset(upstreamId: string, by: Actor): Promise<void> {
    const { db, bus, clock } = this.#deps;
    for (const key of this.#unsaved.keys()) if (key.startsWith(keyOf(upstreamId, ''))) this.#unsaved.delete(key);
    // A write that is under way must not bring back what is deleted.
    await this.saved();
    await db.transaction(async (tx) => {
      await deleteBreakers(tx, upstreamId);
      await recordChange(tx, by, { at: clock.now(), action: 'upstream.reset', target: upstreamId, detail: {} });
      await bus.announce(tx, 'upstream', upstreamId);
    });
    this.#accounts.delete(upstreamId);
    this.#changes++;
    await this.load();
    await bus.heardByAll();
  }

  attemptsLastMinute(upstreamId: string): number {
    return this.#attempts.get(upstreamId)?.lastMinute(this.#deps.clock.nowMs()) ?? 0;
  }

  /** Of the upstream as a whole where no model is named. */
  view(upstreamId: string, upstreamModel: string = WHOLE): BreakerView {
    const breaker = this.#breakerAt(upstreamId, upstreamModel);
    const nowMs = this.#deps.clock.nowMs();
    const { strikes, lastFault, lastDetail, lastFaultAt } = breaker.row;
    const nextProbeAt = breaker.isClosed ? null : new Date(Math.max(breaker.openUntilMs, nowMs));
    return { state: breaker.stateAt(nowMs), strikes, nextProbeAt, lastFault, lastDetail, lastFaultAt };
  }

  /** Those whose every enabled route has an open breaker: their callers are answered 503. */
  modelsWithoutCandidate({ document, upstreams }: Snapshot): string[] {
    const lost = document.models.filter(({ routes }) => {
      const enabled = routes.filter(({ upstream }) => upstreams.get(upstream)?.enabled === true);
      return enabled.length > 0 && enabled.every(({ upstream, model }) => this.#isOpen(upstream, model));
    });
    return lost.map(({ id }) => id);
  }

  /** Neither closed nor due for a probe. */
  #isOpen(upstreamId: string, upstreamModel: string): boolean {
    const nowMs = this.#deps.clock.nowMs();
    const breakers = [WHOLE, upstreamModel].map((model) => this.#breakerAt(upstreamId, model));
    return breakers.some((breaker) => breaker.stateAt(nowMs) === 'open');
  }

  #count(target: Target, circuit: Circuit, { requestId, error, isStale, isLate }: Counted): void {
    if (!isCounted(error)) return;
    const breaker = circuit.breakerFor(error.fault);
    const nowMs = this.#deps.clock.nowMs();
    const noted = { error, requestId, nowMs, isStale, random: this.pacing.random };
    const model = breaker === circuit.model ? target.upstreamModel : WHOLE;
    if (breaker.noteFault(noted, isLate)) this.#share(target, breaker, model);
    else if (nowMs - (this.#notedAtMs.get(breaker) ?? Number.NEGATIVE_INFINITY) >= FAULT_NOTE_EVERY_MS) {
      this.#share(target, breaker, model, false);
    }
  }

  #accountOf({ upstreamId, address, apiKey, credential }: Credential): Account {
    const known = this.#accounts.get(upstreamId) ?? [];
    const found = known.find((account) => isSameCredential(account, { upstreamId, address, apiKey, credential }));
    if (found !== undefined) return found;
    const breaker = new Breaker(this.#rowOf(upstreamId, WHOLE));
    const account: Account = { upstreamId, address, apiKey, credential, breaker, circuits: new Map() };
    this.#accounts.set(upstreamId, [account, ...known].slice(0, ACCOUNTS_PER_UPSTREAM_MAX));
    return account;
  }

  #breakerAt(upstreamId: string, upstreamModel: string): Breaker {
    const account = this.#accounts.get(upstreamId)?.[0];
    const breaker = upstreamModel === WHOLE ? account?.breaker : account?.circuits.get(upstreamModel)?.model;
    return breaker ?? new Breaker(this.#rowOf(upstreamId, upstreamModel));
  }

  #rowOf(upstreamId: string, upstreamModel: string): BreakerRow {
    return this.#rows.get(keyOf(upstreamId, upstreamModel)) ?? WELL;
  }

  /** Gathers while a write is under way. A fault that opens nothing is kept for the operator, and concerns no process. */
  #share({ upstreamId }: Target, breaker: Breaker, upstreamModel: string, isNews = true): void {
    // Under an older credential, or from before a reset.
    if (this.#breakerAt(upstreamId, upstreamModel) !== breaker) return;
    this.#notedAtMs.set(breaker, this.#deps.clock.nowMs());
    this.#enqueue({ upstreamId, upstreamModel, breaker, isNews });
  }

  #enqueue(unsaved: PendingSave): void {
    const key = keyOf(unsaved.upstreamId, unsaved.upstreamModel);
    this.#changes++;
    this.#unsaved.set(key, { ...unsaved, isNews: unsaved.isNews || this.#unsaved.get(key)?.isNews === true });
    this.#saving ??= this.#save().finally(() => {
      this.#saving = undefined;
    });
  }

  async #save(): Promise<void> {
    const { db, bus, log } = this.#deps;
    while (this.#unsaved.size > 0) {
      const batch = [...this.#unsaved.values()];
      this.#unsaved.clear();
      try {
        await db.transaction(async (tx) => {
          for (const { breaker, ...id } of batch) await saveBreaker(tx, id, breaker.row);
          if (batch.some(({ isNews }) => isNews)) await bus.announce(tx, 'upstream', '');
        });
      } catch (error) {
        log.warn({ err: error }, 'the health of upstreams was not shared');
      }
    }
  }
}

interface PendingSave {
  readonly upstreamId: string;
  readonly upstreamModel: string;
  readonly breaker: Breaker;
  readonly isNews: boolean;
}

interface Counted {
  readonly requestId: string;
  readonly error: UpstreamError;
  readonly isStale: boolean;
  readonly isLate: boolean;
}

function keyOf(upstreamId: string, upstreamModel: string): string {
  return `${upstreamId}\n${upstreamModel}`;
}
