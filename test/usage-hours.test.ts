// Reports of usage say the same however far it is rolled up, compared with calls that the test has counted itself.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { openDb } from '../src/db/index.ts';
import { books } from '../src/ledger/index.ts';
import { USAGE_ROUNDS } from '../src/limits.ts';
import { readOverview, type UsageDivision, usageOf, usageReport } from '../src/reports/index.ts';
import { rollUpUsage } from '../src/usage/index.ts';
import { silentLog } from './support/database.ts';
import { Gateway } from './support/gateway.ts';
import { newReservation, openAccount, openKey, openLedger } from './support/ledger.ts';
import { atEnd, until } from './support/postgres.ts';
import { Spender } from './support/spend.ts';

/** Requests of the console have no key. */
const CONSOLE = 'console';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

type UsageGrouping = UsageDivision['grouping'];

interface Charged {
  readonly at: number;
  readonly account: string;
  readonly key: string;
  readonly model: string;
  readonly endpoint: string;
  readonly credits: bigint;
}

const ledger = await openLedger();
const { db, clock } = ledger;
const begin = Math.ceil(clock.nowMs() / DAY_MS) * DAY_MS;
const spenders: { readonly account: string; readonly key: string | undefined }[] = [];
const charged: Charged[] = [];
let calls = 0;

before(async () => {
  for (let count = 0; count < 3; count++) {
    const account = await openAccount(ledger, 1_000_000n);
    spenders.push({ account, key: undefined }, { account, key: await openKey(ledger, account, 1_000_000n) });
  }
});

function pick<Item>(from: readonly Item[], turn: number): Item {
  return from[turn % from.length] as Item;
}

/** What is held and what it costs: less, as much, more, all of it more, nothing. */
const COSTS: readonly (readonly [held: bigint, cost: bigint])[] = [
  [10n, 7n],
  [10n, 10n],
  [10n, 25n],
  [0n, 4n],
  [10n, 0n],
];

/** Each kind of cost meets each spender, model and endpoint in time. */
async function call(): Promise<void> {
  const turn = calls++;
  const { account, key } = pick(spenders, turn);
  const [held, credits] = pick(COSTS, turn);
  const [model, endpoint] = [pick(['test/one', 'test/two'], turn), pick(['chat', 'images', 'videos'], turn >> 2)];
  const reservation = { ...newReservation(account, held, key), model, endpoint };
  const at = clock.nowMs();
  await ledger.plain.reserve(reservation);
  if (credits === 0n) await ledger.plain.refund(reservation);
  else await ledger.plain.settle(reservation, credits);
  if (credits > 0n) charged.push({ at, account, key: key ?? CONSOLE, model, endpoint, credits });
}

/** Calls on both sides of the ends of hours, and at them. */
async function callIn(hours: readonly number[]): Promise<void> {
  for (const hour of hours) {
    for (const fromHourMs of [0, 1, 30 * MINUTE_MS, HOUR_MS - 1]) {
      clock.advance((begin + hour * HOUR_MS + fromHourMs - clock.nowMs()) / 1000);
      for (let count = 0; count < 7; count++) await call();
    }
  }
}

const RANGES: readonly (readonly [fromMs: number, toMs: number])[] = [
  [0, 2 * DAY_MS],
  [HOUR_MS, 2 * HOUR_MS],
  [HOUR_MS - 1, 2 * HOUR_MS + 1],
  [HOUR_MS + 1, 3 * HOUR_MS - 1],
  [30 * MINUTE_MS, 31 * MINUTE_MS],
  [30 * MINUTE_MS, 90 * MINUTE_MS],
  [HOUR_MS, HOUR_MS + 1],
  [2.5 * HOUR_MS, 25.5 * HOUR_MS],
  [47 * HOUR_MS, 48 * HOUR_MS],
];
const GROUPS: Readonly<Record<UsageGrouping, (call: Charged) => string>> = {
  day: ({ at }) => new Date(at).toISOString().slice(0, 10),
  account: ({ account }) => account,
  key: ({ key }) => key,
  model: ({ model }) => model,
  endpoint: ({ endpoint }) => endpoint,
  modality: ({ endpoint }) => ({ images: 'image', videos: 'video' })[endpoint] ?? 'chat',
};
const GROUPINGS = Object.keys(GROUPS) as UsageGrouping[];

type Sums = Record<string, readonly [requests: number, credits: bigint]>;

function counted(calls: readonly Charged[], groupOf: (call: Charged) => string): Sums {
  const sums: Record<string, [number, bigint]> = {};
  for (const call of calls) {
    const [requests, credits] = sums[groupOf(call)] ?? [0, 0n];
    sums[groupOf(call)] = [requests + 1, credits + call.credits];
  }
  return sums;
}

type Row = { readonly group: string; readonly part?: string; readonly requests: number; readonly credits: bigint };

function told(rows: readonly Row[]): Sums {
  return Object.fromEntries(
    rows.map(({ group, part = '', requests, credits }) => [`${group} ${part}`.trim(), [requests, credits]]),
  );
}

async function assertReportsAreRight(): Promise<void> {
  for (const [fromMs, toMs] of RANGES) {
    const range = { from: new Date(begin + fromMs), to: new Date(begin + toMs) };
    const inside = charged.filter(({ at }) => at >= begin + fromMs && at < begin + toMs);
    const report = async (grouping: UsageGrouping, rest: object = {}) =>
      told(await usageReport(db, { grouping, ...rest }, { ...range, limit: 1_000, ...rest }, undefined));
    const where = `from ${fromMs} to ${toMs}`;
    for (const grouping of GROUPINGS) {
      assert.deepEqual(await report(grouping), counted(inside, GROUPS[grouping]), `${grouping} ${where}`);
    }
    const byDayAndKey = counted(inside, (one) => `${GROUPS.day(one)} ${one.key}`);
    assert.deepEqual(await report('day', { split: 'key' }), byDayAndKey, where);
    for (const { account, key = CONSOLE } of spenders) {
      const own = inside.filter((one) => one.account === account);
      for (const grouping of ['day', 'key', 'model'] as const) {
        assert.deepEqual(told(await usageOf(db, account, grouping, range)), counted(own, GROUPS[grouping]), where);
      }
      const narrowed = own.filter((one) => one.key === key && one.model === 'test/one' && one.endpoint === 'chat');
      const filter = { account, key, model: 'test/one', endpoint: 'chat' };
      assert.deepEqual(await report('day', filter), counted(narrowed, GROUPS.day), where);
    }
    const since = charged.filter(({ at }) => at >= begin + fromMs).reduce((sum, { credits }) => sum + credits, 0n);
    assert.equal((await readOverview(db, range.from)).charged, since, where);
  }
}

interface Progress {
  readonly behind: number;
  readonly rolledUp: number;
}

async function progress(): Promise<Progress> {
  const [row] = await db.rows<Progress>(
    `select sum(b.entries - coalesce(p.entries, 0))::int as behind, coalesce(sum(p.entries), 0)::int as "rolledUp"
     from balances b left join usage_progress p using (account_id)`,
  );
  return row as Progress;
}

test('reports are right before anything is rolled up, and at every cut between two entries while it is', async () => {
  await callIn([0, 1, 2]);
  assert.equal((await progress()).rolledUp, 0);
  await assertReportsAreRight();
  // An odd number, so that some round ends between the two entries of one request.
  const rounds = { entries: 37, accounts: 2, most: 1 };
  let checks = 0;
  for (let { behind } = await progress(); behind > 0; checks++) {
    await rollUpUsage(db, rounds);
    const next = await progress();
    assert.ok(next.behind < behind && next.behind >= behind - rounds.entries);
    behind = next.behind;
    await assertReportsAreRight();
  }
  assert.ok(checks > 5);
});

test('what comes after is added, into hours that are there as well, and nothing twice', async () => {
  await call();
  await callIn([3, 25]);
  await assertReportsAreRight();
  await rollUpUsage(db);
  assert.equal((await progress()).behind, 0);
  await rollUpUsage(db);
  await assertReportsAreRight();
});

test('several processes roll up at once while calls go on', async () => {
  clock.advance(HOUR_MS / 1000);
  const rolling = Array.from({ length: 6 }, async () => {
    for (let count = 0; count < 20; count++) await rollUpUsage(db, { entries: 5, accounts: 2, most: 3 });
  });
  await Promise.all([...rolling, ...Array.from({ length: 60 }, () => call())]);
  await assertReportsAreRight();
  for (let rounds = 0; rounds < 3; rounds++) await rollUpUsage(db);
  assert.equal((await progress()).behind, 0);
  await assertReportsAreRight();
});

test('hours that were taken away are made again', async () => {
  await db.run('truncate usage_hours, usage_progress');
  await assertReportsAreRight();
  await rollUpUsage(db);
  assert.equal((await progress()).behind, 0);
  await assertReportsAreRight();
});

test('a full check of the books names the account whose hours were altered', async () => {
  const [account] = spenders.map((spender) => spender.account);
  const alter = (by: number) =>
    db.run(
      `update usage_hours set credits = credits + $2
       where (account_id, hour) = (select account_id, hour from usage_hours where account_id = $1 order by hour limit 1)`,
      [account, by],
    );
  await alter(1);
  const { balanced, difference } = await books(db, true);
  await alter(-1);
  assert.deepEqual([balanced, difference?.figure, difference?.id], [false, 'usage_hours.credits', account]);
});

test('one call rolls up as many entries as its rounds allow', async () => {
  await db.run('truncate usage_hours, usage_progress');
  const all = (await progress()).behind;
  await rollUpUsage(db, { ...USAGE_ROUNDS, entries: 10, most: 4 });
  assert.deepEqual(await progress(), { behind: all - 40, rolledUp: 40 });
  await rollUpUsage(db);
});

test('a gateway rolls up by the clock, and answers the same', async (t) => {
  const gateway = await Gateway.start();
  atEnd(t, () => gateway.stop());
  const { accountId, keyId, key } = await gateway.newCaller();
  const granted = await gateway.admin('POST', `/accounts/${accountId}/grants`, { credits: 100 });
  assert.equal(granted.status, 200, granted.text);
  const spender = new Spender(gateway.database, gateway.clock);
  atEnd(t, () => spender.close());
  for (const settle of [3, 4, 15]) await spender.spend({ accountId, keyId, reserve: 10, settle });
  gateway.clock.advance(2 * 3_600);
  const used = async () => (await gateway.call('GET', '/v1/usage?group_by=model', { key })).json.data;
  const expected = [{ group: 'sandbox/chat', requests: 3, credits: 22 }];
  assert.deepEqual(await used(), expected);
  // What is due is begun at a start.
  const { database, clock } = gateway;
  const second = await Gateway.start({ database, clock });
  atEnd(t, () => second.stop());
  const own = openDb(database.address, silentLog);
  atEnd(t, () => own.close());
  await until(async () => (await own.rows('select from usage_hours')).length > 0);
  assert.deepEqual(await used(), expected);
  await gateway.assertBooksBalance();
});
