import type { Clock } from '../clock.ts';
import { type Bus, DatabaseUnavailable, type Db, retryWhileUnavailable } from '../db/index.ts';
import { WATCHED_JOBS_MAX } from '../limits.ts';
import { Waits } from '../waits.ts';
import { isTerminal, type Job } from './job.ts';
import { selectEnded, selectJob } from './store.ts';

interface WatchDeps {
  readonly db: Db;
  readonly bus: Bus;
  readonly clock: Clock;
}

/**
 * Requests that wait for the end of a job, whichever process ends it: the transaction that ends a job notifies every process
 * on the bus. A watch only reads; a request that leaves its watch changes nothing about the job.
 */
export class JobWatches {
  readonly #deps: WatchDeps;
  readonly #waits: Waits;
  /** By job, what ends the wait of each request. */
  readonly #watches = new Map<string, Set<() => void>>();
  #count = 0;
  #isStopping = false;

  constructor(deps: WatchDeps) {
    this.#deps = deps;
    this.#waits = new Waits(deps.clock);
    deps.bus.on('job_end', (ids) => this.#wake(ids.split(' ')));
    // While no process listened, ends were missed.
    deps.bus.onLost(() => void this.#lookForMissed());
  }

  /** Every place is taken: a request that cannot be answered without a wait is refused before it makes a job. */
  get isFull(): boolean {
    return this.#count >= WATCHED_JOBS_MAX;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Ends every wait, now and from now on: the process drains. */
  stop(): void {
    this.#isStopping = true;
    this.#wake([...this.#watches.keys()]);
  }

  /**
   * The job once it has ended; or as it is when so much time has passed, the signal is aborted, or the process drains.
   */
  async wait(job: Job, ms: number, signal: AbortSignal): Promise<Job> {
    if (isTerminal(job) || this.#isStopping) return job;
    const untilMs = this.#deps.clock.nowMs() + ms;
    const over = new AbortController();
    const end = () => over.abort();
    signal.addEventListener('abort', end);
    // Registered before the row is read, so that an end between the two is not missed.
    this.#add(job.id, end);
    try {
      const now = await this.#read(job);
      if (isTerminal(now) || signal.aborted) return now;
      await this.#waits.pass(untilMs - this.#deps.clock.nowMs(), over.signal);
      return await this.#read(now);
    } finally {
      signal.removeEventListener('abort', end);
      this.#remove(job.id, end);
    }
  }

  /** Through an outage of the database the job is as it was last seen. */
  async #read(job: Job): Promise<Job> {
    try {
      return (await selectJob(this.#deps.db, job.accountId, job.id)) ?? job;
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return job;
      throw error;
    }
  }

  #add(jobId: string, end: () => void): void {
    const watches = this.#watches.get(jobId) ?? new Set();
    this.#watches.set(jobId, watches.add(end));
    this.#count++;
  }

  #remove(jobId: string, end: () => void): void {
    const watches = this.#watches.get(jobId);
    watches?.delete(end);
    if (watches?.size === 0) this.#watches.delete(jobId);
    this.#count--;
  }

  #wake(jobIds: readonly string[]): void {
    for (const id of jobIds) for (const end of this.#watches.get(id) ?? []) end();
  }

  async #lookForMissed(): Promise<void> {
    // Tried again only while a request waits: not by a process that has drained and closed its connections.
    const look = async () => (this.#watches.size === 0 ? [] : selectEnded(this.#deps.db, [...this.#watches.keys()]));
    // Fails only in a long outage; the listener's return is followed by another look.
    this.#wake(await retryWhileUnavailable(look).catch(() => []));
  }
}
