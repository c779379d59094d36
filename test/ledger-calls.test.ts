import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Random } from '../packages/verify/src/random.ts';
import { DatabaseUnavailable, openDb } from '../src/db/index.ts';
import { balanceOf, books, CallLedger, endAbandoned, type NewReservation, postJournal } from '../src/ledger/index.ts';
import { silentLog } from './support/database.ts';
import { DatabaseLink } from './support/database-link.ts';
import {
  availableOf,
  give,
  newReservation,
  openAccount,
  openApp,
  openLedger,
  remainders,
  SPENDERS,
} from './support/ledger.ts';
import { atEnd, until } from './support/postgres.ts';

const ledger = await openLedger();
const { db, clock } = ledger;
const LEASE_SECONDS = 30;
let processes = 0;

/** A process of its own. */
type Process = CallLedger & { readonly id: string };

async function openCallLedger(t: TestContext): Promise<Process> {
  const id = `proc_till_${processes++}`;
  const callLedger = new CallLedger({ db, clock, processId: id });
  await callLedger.extendLease();
  atEnd(t, () => callLedger.close());
  return Object.assign(callLedger, { id });
}

/** Calls until the process has a purse for the account and has written from it. Tells how many calls it made. */
async function makeBusy(callLedger: Process, account: string, amount = 10n): Promise<number> {
  let calls = 0;
  await until(async () => {
    await callOnce(callLedger, account, amount);
    calls += 1;
    return (
      (await db.rows('select from purses where account_id = $1 and process_id = $2', [account, callLedger.id])).length >
      0
    );
  });
  for (let more = 0; more < 2; more++) await callOnce(callLedger, account, amount);
  return calls + 2;
}

async function callOnce(callLedger: CallLedger, account: string, amount: bigint): Promise<void> {
  const call = newReservation(account, amount);
  await callLedger.reserve(call, false);
  await callLedger.settle(call, amount);
}

async function pursesOf(account: string): Promise<readonly bigint[]> {
  const rows = await db.rows<{ amount: bigint }>('select amount from purses where account_id = $1 order by id', [
    account,
  ]);
  return rows.map(({ amount }) => amount);
}

async function journalled(account: string): Promise<number> {
  return (await db.rows('select from ledger_journal where account_id = $1', [account])).length;
}

/** Whether or not there are entries of it yet. */
function untilWritten({ id }: NewReservation): Promise<void> {
  const statement = `select from ledger_journal, json_array_elements(changes) as change where change ->> 'id' = $1
    union all select from reservations where id = $1::uuid`;
  return until(async () => (await db.rows(statement, [id])).length > 0);
}

/** Lines of the journal, ever. */
async function linesWritten(): Promise<bigint> {
  const [row] = await db.rows<{ last: bigint }>('select last_value as last from ledger_journal_number_seq');
  return row?.last ?? 0n;
}

async function entriesOf(account: string): Promise<readonly string[]> {
  await postJournal(db, account);
  const rows = await db.rows<{ type: string; available: bigint }>(
    'select type, available from ledger_entries where account_id = $1 order by number',
    [account],
  );
  return rows.map(({ type, available }) => `${type} ${available}`);
}

/** Holds without waiting for the journal: it has been heard of a moment ago. */
async function hold(callLedger: CallLedger, account: string, amount: bigint): Promise<NewReservation> {
  const call = newReservation(account, amount);
  assert.equal((await callLedger.reserve(call, false)).state, 'admitted');
  return call;
}

test('R-277: a busy account’s calls are held from a purse, and its books are those of any other', async (t) => {
  const callLedger = await openCallLedger(t);
  const [busy, plain] = [await openAccount(ledger, 60_000n, 100_000n), await openAccount(ledger, 60_000n, 100_000n)];
  const settled = await makeBusy(callLedger, busy);
  const before = await linesWritten();
  for (let n = 0; n < settled; n++) {
    const call = newReservation(plain, 10n);
    await ledger.plain.reserve(call);
    await ledger.plain.settle(call, 10n);
  }
  for (const [amount, actual] of [
    [10n, 4n],
    [10n, 10n],
    [10n, undefined],
    [0n, 0n],
    [70n, 69n],
  ] as const) {
    const call = await hold(callLedger, busy, amount);
    const like = newReservation(plain, amount);
    await ledger.plain.reserve(like);
    if (actual === undefined) {
      assert.deepEqual(await callLedger.refund(call), { state: 'refunded', charged: 0n });
      await ledger.plain.refund(like);
    } else {
      assert.deepEqual(await callLedger.settle(call, actual, '{"requests":1}'), { state: 'settled', charged: actual });
      await ledger.plain.settle(like, actual);
    }
  }
  assert.ok((await linesWritten()) >= before + 5n);
  assert.deepEqual(await entriesOf(busy), await entriesOf(plain));
  assert.equal(await journalled(busy), 0);
  assert.deepEqual(await remainders(ledger, busy), await remainders(ledger, plain));
  const [one, other] = [await balanceOf(db, busy, clock.now()), await balanceOf(db, plain, clock.now())];
  assert.deepEqual(one, other);
});

test('R-277: a call of some length is written when it begins and when it ends', async (t) => {
  const callLedger = await openCallLedger(t);
  const account = await openAccount(ledger, 100_000n);
  await makeBusy(callLedger, account);
  await postJournal(db, account);
  const before = (await balanceOf(db, account, clock.now()))?.available ?? 0n;
  const call = await hold(callLedger, account, 30n);
  await untilWritten(call);
  assert.equal((await balanceOf(db, account, clock.now()))?.reserved, 30n);
  await callLedger.recordKnown(call, 11n);
  const [open] = await db.rows<{ known: bigint }>('select known from open_reservations where reservation_id = $1', [
    call.id,
  ]);
  assert.equal(open?.known, 11n);
  await callLedger.settle(call, 12n);
  assert.deepEqual(await callLedger.settle(call, 30n), { state: 'settled', charged: 12n });
  assert.equal(await availableOf(ledger, account), before - 12n);
});

test('R-274: nobody is refused because of a purse, and together they admit what one could', async (t) => {
  const [callLedger, other] = [await openCallLedger(t), await openCallLedger(t)];
  const account = await openAccount(ledger, 10_000n);
  await makeBusy(callLedger, account);
  await makeBusy(other, account);
  await until(async () => (await pursesOf(account)).length === 2);
  const left = (await availableOf(ledger, account)) ?? 0n;
  const all = newReservation(account, left);
  assert.equal((await ledger.plain.reserve(all)).state, 'admitted');
  assert.deepEqual(await pursesOf(account), []);
  // What they had is gone, and they notice before anybody is admitted.
  for (const each of [callLedger, other]) {
    await new Promise((resolve) => setTimeout(resolve, 120));
    assert.deepEqual(await each.reserve(newReservation(account, 10n), false), {
      state: 'refused',
      reason: 'balance',
      left: 0n,
    });
  }
  await ledger.plain.refund(all);
  assert.equal((await callLedger.reserve(newReservation(account, 10n), false)).state, 'admitted');
});

test('R-276, R-277: a call that had begun when its purse was taken away is charged all the same', async (t) => {
  const callLedger = await openCallLedger(t);
  const [account, other] = [await openAccount(ledger, 10_000n), await openAccount(ledger, 10_000n)];
  await makeBusy(callLedger, account);
  const available = (await availableOf(ledger, account)) ?? 0n;
  assert.equal((await ledger.plain.reserve(newReservation(account, available - 25n))).state, 'admitted');
  // The process has heard of the database, but not of its purse.
  await makeBusy(callLedger, other);
  const calls = [
    await hold(callLedger, account, 10n),
    await hold(callLedger, account, 20n),
    await hold(callLedger, account, 30n),
  ];
  const [first, second, third] = calls as [NewReservation, NewReservation, NewReservation];
  assert.deepEqual(await callLedger.settle(first, 10n), { state: 'settled', charged: 10n });
  assert.deepEqual(await callLedger.settle(second, 20n), { state: 'settled', charged: 20n });
  assert.deepEqual(await callLedger.refund(third), { state: 'refunded', charged: 0n });
  assert.equal(await availableOf(ledger, account), -5n);
});

test('R-276: what exceeds its hold is charged, and purses give way to it', async (t) => {
  const callLedger = await openCallLedger(t);
  const account = await openAccount(ledger, 1_000n);
  await makeBusy(callLedger, account, 1n);
  const before = (await availableOf(ledger, account)) ?? 0n;
  const written = await hold(callLedger, account, 1n);
  await untilWritten(written);
  assert.deepEqual(await callLedger.settle(written, 11n), { state: 'settled', charged: 11n });
  await makeBusy(callLedger, account, 0n);
  const waiting = await hold(callLedger, account, 1n);
  assert.deepEqual(await callLedger.settle(waiting, before + 100n), { state: 'settled', charged: before + 100n });
  assert.equal(await availableOf(ledger, account), -11n - 100n);
  assert.deepEqual(await pursesOf(account), []);
});

test('R-275: no purse is made of credits that may expire meanwhile, and a new grant that expires ends one', async (t) => {
  const callLedger = await openCallLedger(t);
  const account = await openAccount(ledger);
  await give(ledger, account, 10_000n, new Date(clock.nowMs() + 60_000));
  for (let call = 0; call < 10; call++) await callOnce(callLedger, account, 10n);
  assert.deepEqual(await pursesOf(account), []);
  const lasting = await openAccount(ledger, 10_000n);
  await makeBusy(callLedger, lasting);
  assert.equal((await pursesOf(lasting)).length, 1);
  await give(ledger, lasting, 500n, new Date(clock.nowMs() + 1_000));
  assert.deepEqual(await pursesOf(lasting), []);
  const call = await hold(callLedger, lasting, 10n);
  await callLedger.settle(call, 10n);
  clock.advance(2);
  const [, soon] = await remainders(ledger, lasting);
  assert.equal(soon, 490n);
  await ledger.plain.reserve(newReservation(lasting, 1n));
  assert.deepEqual((await remainders(ledger, lasting))[1], 0n);
});

for (const [what, open] of SPENDERS) {
  test(`${what} with a limit is never served from a purse`, async (t) => {
    const callLedger = await openCallLedger(t);
    const account = await openAccount(ledger, 100_000n);
    const key = await open(ledger, account, 25n);
    await makeBusy(callLedger, account);
    const admitted = await callLedger.reserve(newReservation(account, 20n, key), true);
    assert.equal(admitted.state, 'admitted');
    assert.deepEqual(await callLedger.reserve(newReservation(account, 10n, key), true), {
      state: 'refused',
      reason: 'key_limit',
      left: 5n,
    });
  });
}

test('what an app without a limit spends out of a purse is counted to its grant', async (t) => {
  const callLedger = await openCallLedger(t);
  const account = await openAccount(ledger, 100_000n);
  const app = await openApp(ledger, account, 1_000n);
  await makeBusy(callLedger, account);
  const [settled, refunded, dear] = [
    newReservation(account, 20n, app),
    newReservation(account, 30n, app),
    newReservation(account, 40n, app),
  ];
  for (const call of [settled, refunded, dear]) await callLedger.reserve(call, false);
  await callLedger.settle(settled, 15n);
  await callLedger.refund(refunded);
  await callLedger.settle(dear, 50n);
  await postJournal(db, account);
  assert.deepEqual(await db.rows('select held, spent from key_spending where key_id = $1', [app]), [
    { held: 0n, spent: 65n },
  ]);
  assert.equal((await books(db, true)).balanced, true);
});

test('R-277: what a dead process has written is done, what it held goes back, and its purse too', async (t) => {
  const callLedger = await openCallLedger(t);
  const account = await openAccount(ledger, 100_000n);
  const begun = await makeBusy(callLedger, account);
  await (async () => {
    const settled = await hold(callLedger, account, 10n);
    await callLedger.settle(settled, 7n);
    await hold(callLedger, account, 50n);
    const metered = await hold(callLedger, account, 60n);
    await callLedger.recordKnown(metered, 9n);
  })();
  clock.advance(LEASE_SECONDS + 1);
  await endAbandoned(db, clock.now());
  assert.deepEqual(await pursesOf(account), []);
  assert.equal(await journalled(account), 0);
  assert.equal(await availableOf(ledger, account), 100_000n - BigInt(begun) * 10n - 7n - 9n);
});

test('R-272: a process that was thought dead learns what became of its calls', async (t) => {
  const callLedger = await openCallLedger(t);
  const account = await openAccount(ledger, 100_000n);
  await makeBusy(callLedger, account);
  const [returned, charged] = [await hold(callLedger, account, 10n), await hold(callLedger, account, 20n)];
  await callLedger.recordKnown(charged, 3n);
  await until(
    async () => (await db.rows('select from open_reservations where reservation_id = $1', [returned.id])).length === 1,
  );
  clock.advance(LEASE_SECONDS + 1);
  await endAbandoned(db, clock.now());
  assert.deepEqual(await callLedger.settle(returned, 10n), { state: 'refunded', charged: 0n });
  assert.deepEqual(await callLedger.settle(charged, 20n), { state: 'settled', charged: 3n });
});

test('R-061, R-277: with the database away nobody begins, and what had begun ends once, when it is back', async (t) => {
  const link = await DatabaseLink.open(ledger.database);
  const far = openDb({ url: link.database.url }, silentLog);
  atEnd(t, async () => {
    await far.close();
    await link.cut();
  });
  const id = 'proc_far_till';
  const callLedger = Object.assign(new CallLedger({ db: far, clock, processId: id }), { id });
  await callLedger.extendLease();
  const account = await openAccount(ledger, 100_000n);
  const begun = await makeBusy(callLedger, account);
  const [waiting, written] = [await hold(callLedger, account, 10n), await hold(callLedger, account, 20n)];
  await callLedger.recordKnown(written, 1n);
  const [late, returned] = [await hold(callLedger, account, 40n), await hold(callLedger, account, 50n)];
  await link.cut();
  await assert.rejects(callLedger.settle(waiting, 6n), DatabaseUnavailable);
  await assert.rejects(callLedger.settle(written, 16n), DatabaseUnavailable);
  await assert.rejects(callLedger.settle(late, 26n), DatabaseUnavailable);
  // Its caller was told of a failure, so nothing is taken after all.
  await assert.rejects(callLedger.settle(returned, 36n), DatabaseUnavailable);
  await assert.rejects(callLedger.refund(returned), DatabaseUnavailable);
  await new Promise((resolve) => setTimeout(resolve, 120));
  await assert.rejects(callLedger.reserve(newReservation(account, 10n), false), DatabaseUnavailable);
  await assert.rejects(callLedger.maintain(), DatabaseUnavailable);
  await link.restore();
  await callLedger.maintain();
  await callLedger.maintain();
  assert.equal(await availableOf(ledger, account), 100_000n - BigInt(begun) * 10n - 6n - 16n - 26n);
  assert.equal((await balanceOf(db, account, clock.now()))?.reserved, 0n);
  await callLedger.close();
});

test('what cannot be written into the journal takes the other way, and keeps nobody else out', async (t) => {
  const callLedger = await openCallLedger(t);
  const account = await openAccount(ledger, 100_000n);
  const begun = await makeBusy(callLedger, account);
  const broken = { ...newReservation(account, 10n), price: '{not json' };
  const garbled = { ...newReservation(account, 10n), requestId: 'req_\u0000' };
  const halved = { ...newReservation(account, 10n), requestId: 'req_\ud800' };
  const good = newReservation(account, 10n);
  const [failed, fine] = await Promise.allSettled([broken, good].map((call) => callLedger.reserve(call, false)));
  assert.equal(fine?.status, 'fulfilled');
  if (failed?.status === 'fulfilled') await assert.rejects(callLedger.settle(broken, 5n));
  assert.deepEqual(await callLedger.settle(good, 5n), { state: 'settled', charged: 5n });
  await assert.rejects(callLedger.reserve(garbled, false));
  await callLedger.reserve(halved, false).then(
    () => callLedger.settle(halved, 0n),
    () => undefined,
  );
  assert.equal(await availableOf(ledger, account), 100_000n - BigInt(begun) * 10n - 5n);
});

test('the journal is swept while it is written', async (t) => {
  const callLedger = await openCallLedger(t);
  const account = await openAccount(ledger, 10_000_000n);
  await makeBusy(callLedger, account);
  const [before, lines] = [await sweeps(), await linesWritten()];
  for (let round = 0; round < 17; round++) {
    await Promise.all(Array.from({ length: 100 }, () => callOnce(callLedger, account, 10n)));
  }
  assert.ok((await linesWritten()) > lines);
  await until(async () => (await sweeps()) > before);
});

/** How often the database has been told to, which it says a moment later. */
async function sweeps(): Promise<bigint> {
  const statement = `select vacuum_count as times from pg_stat_user_tables where relname = 'ledger_journal'`;
  const [row] = await db.rows<{ times: bigint }>(statement);
  return row?.times ?? 0n;
}

test('R-271, R-272, R-274: processes, jobs, grants and deaths at once: the books balance, and say what everybody was told', async (t) => {
  for (const seed of [1, 2]) await game(t, seed);
});

/** What was told of an ended call must be what the entries say. */
async function game(t: TestContext, seed: number): Promise<void> {
  const random = new Random(seed);
  const pick = (below: number) => random.whole(0, below - 1);
  const callLedgers = [await openCallLedger(t), await openCallLedger(t), await openCallLedger(t)];
  const accounts = [
    await openAccount(ledger, 100_000n),
    await openAccount(ledger, 6_000n),
    await openAccount(ledger, 150n),
  ];
  const linesBefore = await linesWritten();
  const told = new Map<string, bigint>();
  let refused = 0;
  const call = async (): Promise<void> => {
    const callLedger = callLedgers[pick(3)] ?? assert.fail();
    const one = newReservation(accounts[pick(3)] ?? '', BigInt(pick(12)));
    if ((await callLedger.reserve(one, false)).state === 'refused') {
      refused += 1;
      return;
    }
    // Some calls end in the turn in which they began, some after their line has been written.
    for (let turns = pick(4) * pick(8); turns > 0; turns--) await nextTurn();
    const actual = pick(12) === 0 ? one.amount + BigInt(pick(9)) : (one.amount * BigInt(pick(5))) / 4n;
    const ending = pick(6) === 0 ? await callLedger.refund(one) : await callLedger.settle(one, actual);
    told.set(one.id, ending.charged);
  };
  const job = async (): Promise<void> => {
    const one = newReservation(accounts[pick(3)] ?? '', BigInt(100 + pick(4_000)));
    if ((await ledger.plain.reserve(one)).state === 'refused') return;
    const ending = await ledger.plain.settle(one, one.amount / 8n);
    told.set(one.id, ending.charged);
  };
  const caller = async (): Promise<void> => {
    for (let n = 0; n < 100; n++) await call();
  };
  const operator = async (): Promise<void> => {
    for (let n = 0; n < 15; n++) {
      await job();
      const expiresAt = pick(4) === 0 ? new Date(clock.nowMs() + 3_000) : undefined;
      if (pick(3) === 0) await give(ledger, accounts[pick(3)] ?? '', BigInt(1 + pick(60)), expiresAt);
      if (pick(2) === 0) clock.advance(2);
      assert.equal((await books(db)).balanced, true);
    }
  };
  await Promise.all([...Array.from({ length: 12 }, caller), operator(), operator()]);
  for (const account of accounts) await postJournal(db, account);
  const rows = await db.rows<{ id: string; charged: bigint }>(
    `select reservation_id as id, sum(charged)::bigint as charged from ledger_entries
     where account_id = any ($1) and reservation_id is not null group by 1`,
    [accounts],
  );
  assert.deepEqual(new Map(rows.map(({ id, charged }) => [id, charged])).size, told.size);
  for (const { id, charged } of rows) assert.equal(charged, told.get(id), id);
  assert.ok(refused > 0);
  assert.ok((await linesWritten()) > linesBefore + 100n);
  const open = await db.rows(
    'select from open_reservations o join reservations r on r.id = o.reservation_id where r.account_id = any ($1)',
    [accounts],
  );
  assert.equal(open.length, 0);
}
