import { randomUUIDv7 } from 'node:crypto';
import { openBill, quote } from '../../src/billing/index.ts';
import type { Clock } from '../../src/clock.ts';
import { openDb } from '../../src/db/index.ts';
import { timedUuid } from '../../src/ids.ts';
import { CallLedger } from '../../src/ledger/index.ts';
import type { Pricing } from '../../src/pricing/index.ts';
import { RequestLog } from '../../src/request-log/index.ts';
import { silentLog, type TestDatabase } from './database.ts';

/** One credit per request: what a test reserves and settles is a number of requests. */
const ONE_EACH: Pricing = { mode: 'per_request', currency: 'usd', credits: { base: 1 } };

export interface Spending {
  readonly accountId: string;
  readonly keyId?: string;
  readonly model?: string;
  readonly reserve: number;
  /** Left open when undefined. */
  readonly settle?: number;
}

/** Makes bills and rows of the request log as a call would, in a process of its own on the gateway's database. */
export class Spender {
  readonly #db;
  readonly #clock: Clock;
  readonly #callLedger;
  readonly #requestLog;

  constructor(database: TestDatabase, clock: Clock) {
    this.#db = openDb(database.address, silentLog);
    this.#clock = clock;
    this.#requestLog = new RequestLog({ db: this.#db, clock, log: silentLog, days: 30 });
    this.#callLedger = new CallLedger({ db: this.#db, clock, processId: `proc_${randomUUIDv7()}` });
  }

  async spend({ accountId, keyId, model = 'sandbox/chat', reserve, settle }: Spending): Promise<void> {
    const deps = { db: this.#db, clock: this.#clock, callLedger: this.#callLedger };
    const order = { accountId, keyId, hasKeyLimit: true, requestId: `req_${randomUUIDv7()}`, model, endpoint: 'chat' };
    const bill = await openBill(deps, order, quote(ONE_EACH, {}, { requests: reserve }));
    if (settle === 0) await bill.refund();
    else if (settle !== undefined) await bill.settle({ requests: settle });
    const isRefunded = settle === 0;
    this.#requestLog.add({
      id: timedUuid(this.#clock.nowMs()),
      createdAt: this.#clock.now(),
      accountId,
      keyId,
      personId: undefined,
      requestId: order.requestId,
      endpoint: 'chat',
      model,
      status: isRefunded ? 502 : 200,
      errorCode: isRefunded ? 'upstream_failed' : undefined,
      durationMs: 5,
      isStreamed: false,
      upstreamId: 'elsewhere',
      reservationId: bill.reservationId,
      jobId: undefined,
      cost: undefined,
      isRepeatable: false,
    });
    await this.#requestLog.flush();
  }

  async close(): Promise<void> {
    await this.#db.close();
  }
}
