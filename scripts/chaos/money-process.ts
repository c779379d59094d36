// A gateway that also makes bills as fast as it can, until somebody kills it.
import { randomUUIDv7 } from 'node:crypto';
import { startApp } from '../../src/app.ts';
import { type Bill, openBill, quote } from '../../src/billing/index.ts';
import { loadConfig } from '../../src/config.ts';
import { Bus, openDb, TestClock } from '../../src/db/index.ts';
import { newId } from '../../src/ids.ts';
import { extendLeases, Till } from '../../src/ledger/index.ts';
import { createLog } from '../../src/log.ts';
import type { Pricing } from '../../src/pricing/index.ts';

const CALLERS = 32;
const PRICE: Pricing = { mode: 'per_request', currency: 'usd', credits: { base: 0.5 } };

const config = loadConfig(process.env);
const { log } = createLog('error');
const app = await startApp({ config, environment: {}, log, progress: () => undefined });
const address = { url: config.databaseUrl?.reveal() ?? '' };
const db = openDb(address, log);
const bus = new Bus(db, address, newId('proc'), log);
const clock = new TestClock(db, bus);
await clock.load();
await bus.start();
setInterval(() => void extendLeases(db, bus.processId, clock.now()), 5_000);
const parts = { db, clock, till: new Till({ db, clock, processId: bus.processId }) };
const accounts: readonly string[] = JSON.parse(process.argv[2] ?? '[]');
process.send?.({ url: app.url });
if (accounts.length > 0) for (let caller = 0; caller < CALLERS; caller++) void callForEver(caller);

async function callForEver(caller: number): Promise<never> {
  for (let call = caller; ; call++) {
    const accountId = accounts[call % accounts.length] ?? '';
    const booked = { keyId: undefined, hasKeyLimit: false, model: 'chaos', endpoint: 'chat' };
    const order = { ...booked, accountId, requestId: `req_${randomUUIDv7()}` };
    const bill = await openBill(parts, order, quote(PRICE, {}, { requests: 1 + (call % 4) }));
    await end(bill, call);
  }
}

/** Under, at and over what was held, given back, and met half-way. */
async function end(bill: Bill, call: number): Promise<void> {
  if (call % 7 === 0) {
    await bill.refund();
    return;
  }
  if (call % 5 === 0) await bill.meter({ requests: 1 });
  await bill.settle({ requests: 1 + (call % 3) });
}
