import type { Clock } from '../clock.ts';
import type { Bus, Db } from '../db/index.ts';

export interface AccountDeps {
  readonly db: Db;
  readonly bus: Bus;
  readonly clock: Clock;
}
