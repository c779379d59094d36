import { setMaxListeners } from 'node:events';
import { orPrecheckFailed } from '../billing/index.ts';
import { DatabaseUnavailable } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { killPoint } from '../kill-point.ts';
import { REQUEST_TIMEOUT_MS, RESERVATION_LEASE_MS, TRANSCRIPTIONS_RESUMED_MAX } from '../limits.ts';
import { Admissions, type Applicant } from './admission.ts';
import type { TranscriptionDeps } from './deps.ts';
import { endRecord, LostRecord } from './end.ts';
import type { LeasedRecord, Outcome, SavedResult } from './record.ts';
import { letGo, selectOpenIds, takeOver } from './store.ts';
import { LeftRunning, type Submission, takeUp, transcribe, type WorkDeps } from './transcribe.ts';
import { Waits } from './waits.ts';

/** A record that exists, and what will come of it if the caller has the patience. */
export interface Started {
  readonly id: string;
  /** Throws ApiError. What is behind it goes on all the same. */
  readonly result: Promise<SavedResult>;
}

/** Every record that this process works on, from its reservation to its end. */
export class Transcriptions {
  readonly #deps: TranscriptionDeps;
  readonly #admissions: Admissions;
  readonly #work: WorkDeps;
  readonly #stopping = new AbortController();
  readonly #leaving = new AbortController();
  /** In hand: what else bears this process's name was let fall, and may be taken up again. */
  readonly #ids = new Set<string>();
  readonly #running = new Set<Promise<unknown>>();
  #resumed = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(deps: TranscriptionDeps) {
    this.#deps = deps;
    this.#admissions = new Admissions(deps);
    const [stopping, leaving] = [this.#stopping.signal, this.#leaving.signal];
    setMaxListeners(0, stopping, leaving);
    this.#work = { deps, waits: new Waits(deps.clock), stopping, leaving };
  }

  /**
   * Reserves the credits and makes the record; from then on the work does not depend on the request. Throws
   * `insufficient_credits`, and then there is neither; or `precheck_failed`, and then what a lost answer may have made is
   * ended by the next look.
   */
  async begin(applicant: Applicant, submission: Submission): Promise<Started> {
    const { id, wanted, objectKey, seconds, reservationId, createdAt } = applicant.record;
    const unassigned = { upstreamId: null, upstreamModel: null, task: null };
    const { price } = applicant;
    const record: LeasedRecord = {
      id,
      fence: 0,
      wanted,
      objectKey,
      seconds,
      reservationId,
      price,
      createdAt,
      ...unassigned,
    };
    this.#ids.add(id);
    try {
      await orPrecheckFailed(() => this.#admissions.admit(applicant));
    } catch (error) {
      this.#ids.delete(id);
      throw error;
    }
    const result = this.#withinTimeout(this.#track(id, this.#run(record, transcribe(this.#work, record, submission))));
    result.catch(() => undefined);
    return { id, result };
  }

  /** Takes up what dead processes have left. Any process may do it at any time. */
  resume(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#takeOver());
    const turn = this.#turn;
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /**
   * Call it when no caller waits any more. Calls that are under way come to their end, or are given back after this long;
   * tasks are left to the next process.
   */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping.abort();
    const deadline = setTimeout(() => this.#leaving.abort(), timeoutMs);
    await this.#turn;
    await Promise.allSettled(this.#running);
    clearTimeout(deadline);
  }

  async #takeOver(): Promise<void> {
    const { db, clock, processId, log } = this.#deps;
    const limit = TRANSCRIPTIONS_RESUMED_MAX - this.#resumed;
    if (this.#stopping.signal.aborted || limit <= 0) return;
    // First what there is, then what of it is in hand: the other way round, one that begins meanwhile would seem let fall.
    const fallen = (await selectOpenIds(db, processId)).filter((id) => !this.#ids.has(id));
    const now = clock.now();
    const lease = { owner: processId, until: new Date(now.getTime() + RESERVATION_LEASE_MS) };
    const records = await takeOver(db, { now, lease, fallen, limit });
    if (records.length > 0) killPoint(log, 'transcription.take-over.after-commit');
    const works = records.map((record) => this.#track(record.id, this.#resumeOne(record)));
    // Those without a task at an upstream end before the next look.
    await Promise.all(works.filter((_, place) => records[place]?.task === null));
  }

  async #resumeOne(record: LeasedRecord): Promise<void> {
    this.#resumed++;
    // What became of it stands in the record and in the log; no caller waits for it.
    await this.#run(record, takeUp(this.#work, record)).catch(() => undefined);
    this.#resumed--;
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

  #track<Result>(id: string, work: Promise<Result>): Promise<Result> {
    this.#ids.add(id);
    const tracked = work.finally(() => {
      this.#ids.delete(id);
      this.#running.delete(tracked);
    });
    this.#running.add(tracked);
    return tracked;
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
  if (error instanceof LostRecord) return stillRunning('request_timeout', error);
  return error instanceof DatabaseUnavailable ? stillRunning('database_unavailable', error) : error;
}

/** `x-should-retry: false`, because client libraries retry by themselves and a retry would be charged again. */
function stillRunning(code: 'request_timeout' | 'shutting_down' | 'database_unavailable', cause?: unknown): ApiError {
  return new ApiError(code, { headers: { 'x-should-retry': 'false' }, cause });
}
