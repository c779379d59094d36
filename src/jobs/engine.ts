import { GroupCommit } from '../db/index.ts';
import { LeasedWork, LostLease } from '../leased/index.ts';
import { JOB_STEPS_AT_ONCE_MAX } from '../limits.ts';
import type { Span } from '../signals/index.ts';
import type { JobDeps } from './deps.ts';
import { dispatch, recover } from './dispatch.ts';
import { endAllJobs, endJob } from './end.ts';
import type { EngineDeps } from './engine-deps.ts';
import { type EndedJob, type LeasedJob, nextStep, type Step } from './job.ts';
import { collect, giveUp, poll } from './poll.ts';
import { JobQueue } from './queue.ts';

const ENDS_PER_ROUND_MAX = 64;
/** After an error of our own a job is left alone for this long. */
const AFTER_ERROR_MS = 5_000;

/** Takes jobs and does for each what it needs, step after step, until there is something to wait for. */
export class Engine implements EngineDeps {
  readonly deps: JobDeps;
  readonly queue: JobQueue;
  readonly ends: GroupCommit<EndedJob, undefined>;
  readonly leased: LeasedWork<LeasedJob>;

  constructor(deps: JobDeps) {
    this.deps = deps;
    this.queue = new JobQueue(deps);
    this.ends = new GroupCommit((ends) => endAllJobs(deps, ends), ENDS_PER_ROUND_MAX);
    this.leased = new LeasedWork({
      takenMax: JOB_STEPS_AT_ONCE_MAX,
      take: (limit) => this.queue.take(limit, [...this.leased.inHand.keys()]),
      run: (job) => this.#run(job, this.leased.leaving),
    });
  }

  extendLeases(): Promise<void> {
    return this.queue.extend([...this.leased.inHand.values()]);
  }

  /** Never throws: whatever happens to one job is in the log and leaves the others alone. */
  async #run(job: LeasedJob, signal: AbortSignal): Promise<void> {
    let current = job;
    try {
      for (let next: LeasedJob | undefined = job; next !== undefined; next = await this.#step(current, signal)) {
        current = next;
        if (this.leased.stopping.aborted) return await this.#handOver(current);
      }
    } catch (error) {
      if (error instanceof LostLease) return;
      if (signal.aborted) await this.#handOver(current);
      else await this.#leave(current, error);
    }
  }

  /** The process ends: a job between two steps, or in one that was aborted, is another's at once. */
  async #handOver(leased: LeasedJob): Promise<void> {
    // Without the database the lease runs out by itself.
    await this.queue.release(leased).catch(() => undefined);
  }

  /** Undefined: the job waits for something, or is over. */
  async #step(leased: LeasedJob, signal: AbortSignal): Promise<LeasedJob | undefined> {
    const step = nextStep(leased, this.deps.clock.now(), this.deps.jobMinutes);
    const span = this.#span(leased, step);
    try {
      return await this.#take(step, leased, signal, span);
    } catch (error) {
      span?.end(signal.aborted ? 'canceled' : error instanceof LostLease ? 'lost_lease' : 'internal_error');
      throw error;
    } finally {
      span?.end();
    }
  }

  /** A trace of its own, linked to the request that created the job: that may have been hours ago. */
  #span({ job }: LeasedJob, step: Step): Span | undefined {
    if (job.traceparent === undefined) return undefined;
    const attributes = {
      'tollgate.job_id': job.id,
      'tollgate.request_id': job.requestId,
      'gen_ai.request.model': job.model,
    };
    return this.deps.tracing?.linked(`job ${step}`, job.traceparent, attributes);
  }

  async #take(step: Step, leased: LeasedJob, signal: AbortSignal, span?: Span): Promise<LeasedJob | undefined> {
    switch (step) {
      case 'recover':
        return recover(this, leased, signal);
      case 'dispatch':
        return dispatch(this, leased, signal, span);
      case 'poll':
        return poll(this, leased, signal);
      case 'give up':
        return giveUp(this, leased);
      case 'collect':
        return collect(this, leased, signal);
      case 'expire':
        await endJob(this, leased, 'queue_expired');
        return undefined;
      case 'end':
        await endJob(this, leased);
        return undefined;
    }
  }

  /** If even this cannot be written, the lease runs out by itself. What a worker without the job ran into is no fault. */
  async #leave(leased: LeasedJob, error: unknown): Promise<void> {
    const dueAt = new Date(this.deps.clock.nowMs() + AFTER_ERROR_MS);
    try {
      await this.queue.save(leased, { dueAt });
    } catch (failure) {
      if (failure instanceof LostLease) return;
    }
    this.deps.log.error({ job_id: leased.job.id, err: error }, 'a step of a job failed and will be tried again');
  }
}
