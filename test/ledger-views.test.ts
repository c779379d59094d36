import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, test } from 'node:test';
import { Random } from '../packages/verify/src/random.ts';
import { type Db, openDb } from '../src/db/index.ts';
import { CallLedger, postJournal } from '../src/ledger/index.ts';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import { silentLog } from './support/database.ts';
import { Gateway } from './support/gateway.ts';
import { lockAccount, newReservation, openAccount, openKey, openLedger } from './support/ledger.ts';
import { chatBody, delta, gated, moneyOf, OpenStream, paidCaller, tokenModel } from './support/paid-calls.ts';
import { atEnd, until } from './support/postgres.ts';

const ledger = await openLedger();
const upstream = new OpenAiEmulator();
let gateway: Gateway;
let db: Db;
before(async () => {
  await upstream.start();
  gateway = await Gateway.start();
  db = openDb(gateway.database.address, silentLog);
  await gateway.putConfig({
    upstreams: [{ id: 'upstream', vendor: 'openai', base_url: upstream.url }],
    models: [tokenModel('one', ['upstream']), tokenModel('other', ['upstream'])],
  });
});
after(async () => {
  await db.close();
  await gateway.stop();
  await upstream.stop();
});
afterEach(() => gateway.assertBooksBalance());

/** In the order in which the page has them: balances, charges by model, running requests. */
const REPORTS = [...readFileSync('docs/ledger.md', 'utf8').matchAll(/```sql\n([^`]+)```/g)].map(([, sql = '']) => sql);

interface ReportRow {
  readonly account_id: string;
  readonly request_id: string;
  readonly model: string;
  readonly requests: bigint;
  readonly credits: string;
  readonly available: string;
  readonly reserved: string;
  readonly charged: string;
}

async function reportOf(sql: string, accountId: string): Promise<readonly ReportRow[]> {
  return (await db.rows<ReportRow>(sql)).filter(({ account_id }) => account_id === accountId);
}

async function unposted(on: Db, type: string): Promise<number> {
  return (await on.rows('select from ledger_unposted_entries where type = $1', [type])).length;
}

test('the reports of docs/ledger.md agree with the API while the journal is not posted', async (t) => {
  const caller = await paidCaller(gateway);
  const { key, accountId } = caller;
  const chat = (model: string) => gateway.call('POST', '/v1/chat/completions', { key, body: chatBody(model) });
  await until(async () => {
    await chat('one');
    return (await db.rows('select from purses where account_id = $1', [accountId])).length > 0;
  });
  // Posting leaves a locked account out.
  const lock = await lockAccount(db, accountId);
  atEnd(t, () => lock.release());
  for (const model of ['one', 'other', 'other']) assert.equal((await chat(model)).status, 200);
  const gate = Promise.withResolvers<void>();
  upstream.script({ kind: 'frames', frames: gated(delta('Hello'), gate.promise, delta('', 'stop')) });
  const body = chatBody('one', { stream: true });
  await using open = await OpenStream.open(gateway, '/v1/chat/completions', { key, body });
  await open.until('Hello');
  await until(async () => (await unposted(db, 'reserve')) >= 4);

  const [balances, charges, running] = await Promise.all(REPORTS.map((sql) => reportOf(sql, accountId)));
  assert.ok((await unposted(db, 'settle')) >= 3);
  await lock.release();

  const money = await moneyOf(gateway, caller);
  assert.ok(money.reserved > 0);
  assert.deepEqual(
    balances?.map(({ available, reserved, charged }) => [available, reserved, charged].map(Number)),
    [[money.available, money.reserved, money.spent]],
  );
  const usage = await gateway.call('GET', '/v1/usage?group_by=model', { key });
  assert.deepEqual(
    charges
      ?.map(({ model, requests, credits }) => [model, Number(requests), Number(credits)])
      .sort(([one], [other]) => String(one).localeCompare(String(other))),
    usage.json.data.map((row: { group: string; requests: number; credits: number }) => [
      row.group,
      row.requests,
      row.credits,
    ]),
  );
  assert.equal(usage.json.data.length, 2);
  const requestId = String(open.headers['x-request-id']);
  assert.deepEqual(
    running?.map(({ request_id, model, reserved }) => [request_id, model, Number(reserved)]),
    [[requestId, 'one', money.reserved]],
  );
  assert.equal((await gateway.call('GET', `/v1/requests/${requestId}`, { key })).json.status, 'running');
  gate.resolve();
  await open.rest();
  await until(async () => (await moneyOf(gateway, caller)).reserved === 0);
});

const VIEWS = {
  ledger_entries: `select account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at,
    reservation_id, grant_ids, parts, units from ledger_entries_now where account_id = $1 order by number`,
  reservations: 'select * from reservations_now where account_id = $1 order by id',
  grants: 'select * from grants_now where account_id = $1 order by id',
  balances: 'select * from balances_now where account_id = $1',
};

function viewsOf(accountId: string): Promise<readonly (readonly object[])[]> {
  return Promise.all(Object.values(VIEWS).map((sql) => ledger.db.rows<object>(sql, [accountId])));
}

test('the views show before posting what the tables have after it', async (t) => {
  const random = new Random(7);
  const calls = new CallLedger({ db: ledger.db, clock: ledger.clock, processId: 'proc_views' });
  await calls.extendLease();
  atEnd(t, () => calls.close());
  const account = await openAccount(ledger, 600n, 11_400n);
  const key = await openKey(ledger, account, 1_000_000n);
  await until(async () => {
    const call = newReservation(account, 10n);
    await calls.reserve(call, false);
    await calls.refund(call);
    return (await ledger.db.rows('select from purses where account_id = $1', [account])).length > 0;
  });
  const begun = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const call = newReservation(account, 20n, key);
      await calls.reserve(call, false);
      return call;
    }),
  );
  await postJournal(ledger.db, account);
  const lock = await lockAccount(ledger.db, account);
  atEnd(t, () => lock.release());
  // Some end what has been posted, some begin and end in the journal, some stay open; one needs both grants.
  for (const call of begun.slice(0, 7)) {
    if (random.whole(0, 2) === 0) await calls.refund(call);
    else await calls.settle(call, BigInt(random.whole(0, 20)), '{"requests":1}');
  }
  for (let n = 0; n < 20; n++) {
    const price = `{"mode":"per_request","rung":${n % 3}}`;
    const call = { ...newReservation(account, BigInt(random.whole(0, 100)), n % 2 === 0 ? key : undefined), price };
    assert.equal((await calls.reserve(call, false)).state, 'admitted');
    if (n % 4 === 0) await until(async () => (await ledger.db.rows(HAS_RESERVATION, [call.id])).length === 1);
    else if (n % 4 === 1) await calls.refund(call);
    else await calls.settle(call, BigInt(random.whole(0, Number(call.amount))), '{"requests":2}');
    ledger.clock.advance(1);
  }
  const before = await viewsOf(account);
  assert.ok((await unposted(ledger.db, 'settle')) > 5);
  await lock.release();
  await postJournal(ledger.db, account);
  assert.equal(await unposted(ledger.db, 'settle'), 0);
  assert.deepEqual(await viewsOf(account), before);
  const [entries = [], reservations = []] = before;
  assert.equal(
    entries.length,
    (await ledger.db.rows('select from ledger_entries where account_id = $1', [account])).length,
  );
  const statuses = new Set(reservations.map((row) => ('status' in row ? row.status : undefined)));
  assert.deepEqual(statuses, new Set(['open', 'refunded', 'settled']));
  const prices = new Set(reservations.map((row) => ('price' in row ? JSON.stringify(row.price) : '')));
  assert.equal(prices.size, 4);
  assert.equal((await ledger.db.rows(RUNGS)).length, 3);
  assert.ok(entries.some((row) => 'parts' in row && Array.isArray(row.parts) && row.parts.length === 2));
});

const RUNGS = `select from prices where price ->> 'rung' is not null`;
const HAS_RESERVATION = `select from reservations_now where id = $1 and status = 'open'`;
