import type { Clock } from '../clock.ts';
import type { Bus, Db } from '../db/index.ts';
import type { GuardedFetch } from '../fetch/index.ts';
import type { Logger } from '../log.ts';
import type { AttemptParts, CandidateParts } from '../routing/index.ts';
import type { ObjectStore } from '../storage/index.ts';

export interface JobParts extends AttemptParts, CandidateParts {
  readonly db: Db;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Logger;
  readonly objects: ObjectStore;
  readonly guardedFetch: GuardedFetch;
}
