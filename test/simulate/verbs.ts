import { type Bill, openBill, quote } from '../../src/billing/index.ts';
import type { Db } from '../../src/db/index.ts';
import {
  type Ending,
  endAbandoned,
  grant,
  lapseExpired,
  type NewReservation,
  refund,
  settle,
} from '../../src/ledger/index.ts';
import { reserve } from '../../src/ledger/ledger.ts';
import { charge } from '../../src/pricing/index.ts';
import type { Counts, Sold, Tariff } from './tariff.ts';
import type { Process } from './world.ts';

/** What one hold is in the program: the order, its frozen price and, for a synchronous call, its bill. */
export interface Hold {
  readonly name: string;
  readonly sold: Sold;
  readonly counts: Counts;
  readonly process: Process;
  /** In force when the hold was first asked for. */
  readonly tariff: Tariff;
  readonly quoted: ReturnType<typeof quote>;
  readonly order: Parameters<typeof openBill>[1];
  /** Unknown before anything has told the id of a bill's reservation. */
  reservation: NewReservation | undefined;
  bill: Bill | undefined;
}

/** What a measured settlement needs. `current` is the price in force now, which must not matter. */
export interface Measured {
  readonly hold: Hold;
  readonly counts: Counts;
  readonly current: Tariff;
}

export interface JobSettlement {
  readonly id: string;
  readonly actual: bigint;
  readonly now: Date;
  readonly units: string;
}

/** The gateway's own entry points, in one place, so that a planted bug can stand in for one of them. */
export interface Verbs {
  readonly quote: typeof quote;
  readonly openBill: typeof openBill;
  readonly grant: typeof grant;
  readonly reserve: typeof reserve;
  readonly refund: typeof refund;
  readonly endAbandoned: typeof endAbandoned;
  readonly lapseExpired: typeof lapseExpired;
  settleBill(measured: Measured): Promise<bigint | undefined>;
  /** What a caller of the plain verbs computes before it settles. */
  costOf(measured: Measured): bigint;
  /** `line` is the job's own; `db` is there for what must not be done: an effect outside the transaction. */
  settleJob(line: Db, db: Db, settlement: JobSettlement): Promise<Ending>;
}

export const realVerbs: Verbs = {
  quote,
  openBill,
  grant,
  reserve,
  refund,
  endAbandoned,
  lapseExpired,
  settleBill: async ({ hold, counts }) => hold.bill?.settle(counts),
  costOf: ({ hold, counts }) => charge(hold.quoted.price, counts),
  settleJob: (line, _db, { id, actual, now, units }) => line.transaction((tx) => settle(tx, id, actual, now, units)),
};
