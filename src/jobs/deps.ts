import type { Clock } from '../clock.ts';
import type { Bus, Db } from '../db/index.ts';
import type { GuardedFetch } from '../fetch/index.ts';
import type { Logger } from '../log.ts';
import type { AttemptDeps, CandidateDeps } from '../routing/index.ts';
import type { Tracing } from '../signals/index.ts';
import type { ObjectStore } from '../storage/index.ts';
import type { JobMinutes } from './job.ts';

export interface JobDeps extends AttemptDeps, CandidateDeps {
  readonly db: Db;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Logger;
  readonly jobMinutes: JobMinutes;
  readonly objects: ObjectStore;
  /** Present where traces are exported. */
  readonly tracing?: Tracing | undefined;
  /** For what callers name. */
  readonly guardedFetch: GuardedFetch;
  /** For what upstreams have made, which may be large. */
  readonly collectingFetch: GuardedFetch;
}
