import type { Gathering } from '../db/index.ts';
import type { EndedJob } from './job.ts';
import type { JobParts } from './parts.ts';
import type { JobQueue } from './queue.ts';

/** What the steps of a job work with. */
export interface EngineParts {
  readonly parts: JobParts;
  readonly queue: JobQueue;
  readonly ends: Gathering<EndedJob, undefined>;
}
