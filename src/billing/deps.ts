import type { Clock } from '../clock.ts';
import type { Db } from '../db/index.ts';
import type { Till } from '../ledger/index.ts';

export interface BillingDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly till: Till;
}
