import type { Clock } from '../clock.ts';
import type { Db } from '../db/index.ts';
import type { GuardedFetch } from '../fetch/index.ts';
import type { Logger } from '../log.ts';
import type { MemorySlots } from '../objects/index.ts';
import type { AttemptDeps, CandidateDeps } from '../routing/index.ts';
import type { ObjectStore } from '../storage/index.ts';

export interface TranscriptionDeps extends AttemptDeps, CandidateDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Logger;
  readonly objects: ObjectStore;
  readonly memorySlots: MemorySlots;
  /** For what callers name. */
  readonly guardedFetch: GuardedFetch;
  /** Owns the records made here, for as long as it extends its lease. */
  readonly processId: string;
  /** How long results are kept; negative keeps them for ever. */
  readonly transcriptDays: number;
}
