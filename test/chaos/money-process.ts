// A gateway that also makes bills as fast as it can, until it is killed.
import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApp } from '../../src/app.ts';
import { type Bill, openBill, quote } from '../../src/billing/index.ts';
import { loadConfig } from '../../src/config.ts';
import { Bus, openDb, TestClock } from '../../src/db/index.ts';
import { newId } from '../../src/ids.ts';
import { CallLedger } from '../../src/ledger/index.ts';
import { createLog } from '../../src/log.ts';
import type { Pricing } from '../../src/pricing/index.ts';

/** What a caller has been told of a call, which is true from then on. */
export interface Told {
  readonly requestId: string;
  readonly charged: string;
}

const CALLERS = 32;
const PRICE: Pricing = { mode: 'per_request', currency: 'usd', credits: { base: 0.5 } };

const config = loadConfig(process.env);
const { log } = createLog('error');
const app = await startApp({ config, environment: {}, log, progress: () => undefined });
const address = { url: config.databaseUrl?.reveal() ?? '' };
const db = openDb(address, log);
const bus = new Bus(db, newId('proc'), log);
const clock = new TestClock(db, bus);
await clock.load();
await bus.start();
const callLedger = new CallLedger({ db, clock, processId: bus.processId });
await callLedger.extendLease();
setInterval(() => void callLedger.extendLease(), 5_000);
const deps = { db, clock, callLedger };
const accounts: readonly string[] = JSON.parse(process.argv[2] ?? '[]');
process.send?.({ url: app.url });
if (accounts.length > 0) for (let caller = 0; caller < CALLERS; caller++) void callForEver(caller);

async function callForEver(caller: number): Promise<never> {
  for (let call = caller; ; call++) {
    const accountId = accounts[call % accounts.length] ?? '';
    const booked = { keyId: undefined, hasKeyLimit: false, model: 'chaos', endpoint: 'chat' };
    const order = { ...booked, accountId, requestId: `req_${randomUUIDv7()}` };
    const bill = await openBill(deps, order, quote(PRICE, {}, { requests: 1 + (call % 4) }));
    const charged = await end(bill, call);
    process.send?.({ requestId: order.requestId, charged: String(charged) } satisfies Told);
  }
}

/** Under, at and over what was held, given back, and met half-way. Tells what was charged. */
async function end(bill: Bill, call: number): Promise<bigint> {
  // Some calls take their time.
  if (call % 11 === 0) await sleep(20);
  if (call % 7 === 0) {
    await bill.refund();
    return 0n;
  }
  if (call % 5 === 0) await bill.meter({ requests: 1 });
  return bill.settle({ requests: 1 + (call % 3) });
}
