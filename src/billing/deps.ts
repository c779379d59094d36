import type { Clock } from '../clock.ts';
import type { Db } from '../db/index.ts';
import type { CallLedger } from '../ledger/index.ts';

export interface BillingDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly callLedger: CallLedger;
}
