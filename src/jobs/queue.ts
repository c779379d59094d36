import { GroupCommit, retryWhileUnavailable } from '../db/index.ts';
import { type Fenced, LostLease, requireLeased } from '../leased/index.ts';
import { JOB_LEASE_MS } from '../limits.ts';
import type { JobDeps } from './deps.ts';
import type { Attempt, LeasedJob } from './job.ts';
import { outputKeys } from './output-keys.ts';
import { disownOutputs, extendJobs, releaseJob, type StepSave, saveSteps, takeJobs } from './queue-store.ts';

const SAVES_PER_ROUND_MAX = 256;
/** A job that is let go was not in a hurry: when many wait for slow upstreams, this is most of all that is written. */
const LEAVES_LINGER_MS = 50;
/** Longer than a deletion under the same key that runs just now may take. */
const DISOWNED_KEPT_MS = 60_000;

/** What a step changes about a job. */
export interface Change {
  readonly status?: 'running';
  readonly progress?: number;
  /** Those that are new or different. */
  readonly attempts?: readonly Attempt[];
  /** Lets the job go until then. */
  readonly dueAt?: Date;
}

/** Leases jobs for this process and saves what becomes of them. */
export class JobQueue {
  readonly #deps: JobDeps;
  readonly #saves = new GroupCommit((saves: readonly StepSave[]) => this.#saveAll(saves), SAVES_PER_ROUND_MAX);
  readonly #leaves = new GroupCommit(
    (saves: readonly StepSave[]) => this.#saveAll(saves),
    SAVES_PER_ROUND_MAX,
    LEAVES_LINGER_MS,
  );
  /** Jobs that are being let go, and the extension of leases that may be under way. */
  readonly #leaving = new Set<string>();
  #extension: Promise<unknown> = Promise.resolve();

  constructor(deps: JobDeps) {
    this.#deps = deps;
  }

  take(limit: number, except: readonly string[]): Promise<LeasedJob[]> {
    const now = this.#deps.clock.now();
    return takeJobs(this.#deps.db, now, leaseFrom(now), limit, except);
  }

  /** Call it several times per lease. */
  async extend(inHand: readonly Fenced[]): Promise<void> {
    const held = inHand.filter(({ id }) => !this.#leaving.has(id));
    if (held.length === 0) return;
    const extension = extendJobs(this.#deps.db, held, leaseFrom(this.#deps.clock.now()));
    this.#extension = Promise.allSettled([this.#extension, extension]).then(() => undefined);
    await extension;
  }

  /** Gives the lease up: the job is due at once, for any process. */
  release({ id, fence }: Fenced): Promise<void> {
    return this.#letGo(id, () => releaseJob(this.#deps.db, { id, fence }, this.#deps.clock.now()));
  }

  /** Writes a change and returns the job as it is then. Throws LostLease. */
  async save(leased: LeasedJob, change: Change): Promise<LeasedJob> {
    const now = this.#deps.clock.now();
    const { job, fence } = leased;
    const status = change.status ?? (job.status === 'running' ? 'running' : 'queued');
    const acceptedAt = job.acceptedAt ?? (status === 'running' ? now : null);
    const progress = Math.max(job.progress, change.progress ?? 0);
    const attempts = change.attempts ?? [];
    const dueAt = change.dueAt ?? leaseFrom(now);
    const step: StepSave = { jobId: job.id, fence, status, progress, acceptedAt, dueAt, attempts };
    try {
      if (change.dueAt === undefined) await retryWhileUnavailable(() => this.#saves.add(step));
      else await this.#letGo(job.id, () => retryWhileUnavailable(() => this.#leaves.add(step)));
    } catch (error) {
      if (error instanceof LostLease) await this.#disown(job, attempts);
      throw error;
    }
    return {
      id: job.id,
      fence,
      job: { ...job, status, progress, acceptedAt },
      attempts: merged(leased.attempts, attempts),
    };
  }

  /** An extension that is carried out after the job was let go would move its next step to the end of a lease. */
  async #letGo(id: string, write: () => Promise<unknown>): Promise<void> {
    this.#leaving.add(id);
    try {
      await this.#extension;
      await write();
    } finally {
      this.#leaving.delete(id);
    }
  }

  /** The worker that ended the job did not know of what was stored here meanwhile. */
  async #disown(job: LeasedJob['job'], attempts: readonly Attempt[]): Promise<void> {
    const stored = attempts.filter(({ state }) => state === 'collected' || state === 'failed');
    const keys = stored.flatMap((attempt) => outputKeys(job.id, attempt));
    const deleteAt = new Date(this.#deps.clock.nowMs() + DISOWNED_KEPT_MS);
    if (keys.length > 0) await retryWhileUnavailable(() => disownOutputs(this.#deps.db, job, keys, deleteAt));
  }

  async #saveAll(saves: readonly StepSave[]): Promise<readonly undefined[]> {
    const saved = await saveSteps(this.#deps.db, saves, this.#deps.clock.now());
    // Those of the batch that are still leased are saved again, which is idempotent.
    requireLeased(saves, saved);
    return saves.map(() => undefined);
  }
}

function leaseFrom(now: Date): Date {
  return new Date(now.getTime() + JOB_LEASE_MS);
}

/** The changed ones in the place of the old, in the order of their numbers. */
function merged(attempts: readonly Attempt[], changed: readonly Attempt[]): readonly Attempt[] {
  const all = new Map([...attempts, ...changed].map((attempt) => [attempt.number, attempt]));
  return [...all.values()].sort((one, other) => one.number - other.number);
}
