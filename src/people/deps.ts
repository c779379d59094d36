import type { Clock } from '../clock.ts';
import type { Bus, Db } from '../db/index.ts';
import type { Throttle } from '../throttle/index.ts';

export interface PeopleDeps {
  readonly db: Db;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly throttle: Throttle;
}
