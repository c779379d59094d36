import { measureTranscription } from '../billing/index.ts';
import { DatabaseUnavailable } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { killPoint } from '../kill-point.ts';
import { LeasedWork, LostLease } from '../leased/index.ts';
import { REQUEST_TIMEOUT_MS, RESERVATION_LEASE_MS, TRANSCRIPTIONS_RESUMED_MAX } from '../limits.ts';
import { costOf, type FrozenPrice } from '../pricing/index.ts';
import type { RequestTrace } from '../request-log/index.ts';
import { Waits } from '../waits.ts';
import { type AdmitTranscription, type TranscriptionApplicant, transcriptionAdmission } from './admission.ts';
import type { TranscriptionDeps } from './deps.ts';
import { endRecord } from './end.ts';
import type { LeasedRecord, Outcome, SavedResult } from './record.ts';
import { letGo, letGoOf, selectOpenIds, takeOver } from './store.ts';
import { LeftRunning, type Submission, takeUp, transcribe, type WorkDeps } from './transcribe.ts';

/** A record that exists, and what will come of it if the caller has the patience. */
export interface Started {
  readonly id: string;
  readonly reservationId: string;
  /** Throws ApiError. What is behind it goes on all the same. */
  readonly result: Promise<SavedResult>;
}

/** Every record that this process works on, from its reservation to its end. */
export class Transcriptions {
  readonly #deps: TranscriptionDeps;
  readonly #admit: AdmitTranscription;
  readonly #leased: LeasedWork<LeasedRecord>;
  readonly #work: WorkDeps;

  constructor(deps: TranscriptionDeps) {
    this.#deps = deps;
    this.#admit = transcriptionAdmission(deps);
    this.#leased = new LeasedWork({
      takenMax: TRANSCRIPTIONS_RESUMED_MAX,
      take: (limit) => this.#takeOver(limit),
      run: (record) => this.#resume(record),
    });
    const { stopping, leaving } = this.#leased;
    this.#work = { deps, waits: new Waits(deps.clock), stopping, leaving };
  }

  /**
   * Reserves the credits and makes the record; from then on the work does not depend on the request. Throws
   * `insufficient_credits`, and then there is neither; or `precheck_failed`, and then what a lost answer may have made is
   * ended by the next look.
   */
  async begin(applicant: TranscriptionApplicant, submission: Submission): Promise<Started> {
    const { id, wanted, objectKey, seconds, reservationId, createdAt } = applicant.record;
    const unassigned = { upstreamId: null, upstreamModel: null, task: null };
    const { price } = applicant;
    const record = { id, fence: 0, wanted, objectKey, seconds, reservationId, price, createdAt, ...unassigned };
    const admitted = this.#admit(applicant);
    const work = admitted
      .then(() => this.#run(record, transcribe(this.#work, record, submission)))
      .then((saved) => noteCost(submission.trace, price, saved));
    // In hand before it is admitted, so that it never looks dropped.
    const result = this.#withinTimeout(this.#leased.track(record, work));
    result.catch(() => undefined);
    await admitted;
    return { id, reservationId, result };
  }

  /** Takes up what dead processes have left. Any process may do it at any time. */
  async resume(): Promise<void> {
    const works = await this.#leased.take();
    // Those without a task at an upstream end before the next look.
    await Promise.all(works.filter(({ item }) => item.task === null).map(({ done }) => done));
  }

  /** For a process that takes nothing up: its records that it works on no more are left to another. */
  async releaseDropped(): Promise<void> {
    const { db, clock, processId } = this.#deps;
    const dropped = await this.#dropped();
    if (dropped.length > 0) await letGoOf(db, processId, dropped, clock.now());
  }

  /**
   * Call it when no caller waits any more. Calls that are under way come to their end, or are given back after this long;
   * tasks are left to the next process.
   */
  stop(timeoutMs: number): Promise<void> {
    return this.#leased.stop(timeoutMs);
  }

  async #takeOver(limit: number): Promise<readonly LeasedRecord[]> {
    const { db, clock, processId, log } = this.#deps;
    const dropped = await this.#dropped();
    const now = clock.now();
    const lease = { owner: processId, until: new Date(now.getTime() + RESERVATION_LEASE_MS) };
    const records = await takeOver(db, { now, lease, dropped, limit });
    if (records.length > 0) killPoint(log, 'transcription.take-over.after-commit');
    return records;
  }

  async #dropped(): Promise<readonly string[]> {
    // First the open ones, then which are in hand: the other way round, one that begins meanwhile would seem dropped.
    const open = await selectOpenIds(this.#deps.db, this.#deps.processId);
    return open.filter((id) => !this.#leased.inHand.has(id));
  }

  /** The outcome stands in the record and in the log; no caller waits for it. */
  async #resume(record: LeasedRecord): Promise<void> {
    await this.#run(record, takeUp(this.#work, record)).catch(() => undefined);
  }

  async #run(record: LeasedRecord, outcome: Promise<Outcome>): Promise<SavedResult> {
    const { db, clock } = this.#deps;
    try {
      return await this.#end(record, await outcome);
    } catch (error) {
      if (error instanceof LeftRunning) await letGo(db, record, clock.now()).catch(() => undefined);
      throw errorForCaller(error);
    }
  }

  async #end(record: LeasedRecord, outcome: Outcome): Promise<SavedResult> {
    const charged = await endRecord(this.#deps, record, outcome);
    const { id, wanted, seconds } = record;
    const line = { request_id: id, status: outcome.status };
    if (outcome.status === 'completed') {
      this.#deps.log.info(line, 'transcription ended');
      return { transcript: outcome.transcript, wanted, seconds, charged };
    }
    const { code, cause } = outcome;
    if (code === 'internal_error') this.#deps.log.error({ ...line, code, err: cause }, 'transcription ended');
    else this.#deps.log.info({ ...line, code }, 'transcription ended');
    throw new ApiError(code, { cause });
  }

  /** The caller's, not the work's. */
  async #withinTimeout(work: Promise<SavedResult>): Promise<SavedResult> {
    const over = new AbortController();
    const timeout = this.#work.waits.pass(REQUEST_TIMEOUT_MS, over.signal).then(() => {
      throw stillRunning('request_timeout');
    });
    try {
      return await Promise.race([work, timeout]);
    } finally {
      over.abort();
    }
  }
}

/** What a caller is told of work that came to no end here. */
function errorForCaller(error: unknown): unknown {
  if (error instanceof LeftRunning) return stillRunning('shutting_down', error);
  if (error instanceof LostLease) return stillRunning('request_timeout', error);
  return error instanceof DatabaseUnavailable ? stillRunning('database_unavailable', error) : error;
}

/** `x-should-retry: false`, because client libraries retry by themselves and a retry would be charged again. */
function stillRunning(code: 'request_timeout' | 'shutting_down' | 'database_unavailable', cause?: unknown): ApiError {
  return new ApiError(code, { headers: { 'x-should-retry': 'false' }, cause });
}

/** For the request log, as far as the caller has waited for the result. */
function noteCost(trace: RequestTrace, price: FrozenPrice, saved: SavedResult): SavedResult {
  const { costPricing } = trace;
  if (costPricing !== undefined) trace.cost = costOf(costPricing, price, measureTranscription(saved.seconds).units);
  return saved;
}
