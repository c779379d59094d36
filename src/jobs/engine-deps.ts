import type { GroupCommit } from '../db/index.ts';
import type { JobDeps } from './deps.ts';
import type { EndedJob } from './job.ts';
import type { JobQueue } from './queue.ts';

/** What the steps of a job work with. */
export interface EngineDeps {
  readonly deps: JobDeps;
  readonly queue: JobQueue;
  readonly ends: GroupCommit<EndedJob, undefined>;
}
