import type { Clock } from '../clock.ts';
import type { Db } from '../db/index.ts';
import type { Logger } from '../log.ts';
import type { ObjectStore } from '../storage/index.ts';
import type { MemorySlots } from './memory-slots.ts';

export interface ObjectDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Logger;
  readonly objects: ObjectStore;
}

export interface BufferingDeps extends ObjectDeps {
  readonly memorySlots: MemorySlots;
}
