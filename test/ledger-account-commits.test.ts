import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../packages/verify/src/random.ts';
import { openDb } from '../src/db/index.ts';
import { CallLedger, endAbandoned, type NewReservation } from '../src/ledger/index.ts';
import { silentLog } from './support/database.ts';
import {
  availableOf,
  give,
  lockAccount,
  newReservation,
  openAccount,
  openKey,
  openLedger,
  remainders,
  type Way,
} from './support/ledger.ts';

const ledger = await openLedger();
const { db, clock, callLedger } = ledger;
const LEASE_SECONDS = 30;

test('R-277: a locked account does not hold up the others, and is served when it is free', async () => {
  const slow = await Promise.all(Array.from({ length: 6 }, () => openAccount(ledger, 100n)));
  const quick = await Promise.all(Array.from({ length: 10 }, () => openAccount(ledger, 100n)));
  const locks = await Promise.all(slow.map((account) => lockAccount(db, account)));
  let served = 0;
  const waiting = [...slow, ...slow].map(async (account) => {
    const admission = await callLedger.reserve(newReservation(account, 10n));
    served += 1;
    return admission;
  });
  for (let round = 0; round < 5; round++) {
    const calls = quick.map((account) => newReservation(account, 10n));
    for (const { state } of await Promise.all(calls.map((call) => callLedger.reserve(call))))
      assert.equal(state, 'admitted');
    await Promise.all(calls.map((call) => callLedger.settle(call, 5n)));
  }
  assert.equal(served, 0);
  await Promise.all(locks.map((lock) => lock.release()));
  for (const { state } of await Promise.all(waiting)) assert.equal(state, 'admitted');
});

test('R-277: a member that fails does not fail its neighbours', async () => {
  const account = await openAccount(ledger, 100n);
  const good = Array.from({ length: 9 }, () => newReservation(account, 10n));
  const repeated = newReservation(account, 10n);
  const broken = { ...newReservation(account, 10n), price: '{not json' };
  const garbled = { ...newReservation(account, 10n), requestId: 'req_\u0000' };
  const lost = newReservation('acct_nobody', 10n);
  const [brokenOne, garbledOne, lostOne, first, second, ...others] = await Promise.allSettled(
    [broken, garbled, lost, repeated, repeated, ...good].map((call) => callLedger.reserve(call)),
  );
  assert.deepEqual([brokenOne?.status, garbledOne?.status, lostOne?.status], ['rejected', 'rejected', 'rejected']);
  assert.ok(lostOne?.status === 'rejected' && /unknown/.test(String(lostOne.reason)));
  assert.deepEqual(first, second);
  for (const other of others) assert.equal(other.status === 'fulfilled' && other.value.state, 'admitted');
  assert.equal(await availableOf(ledger, account), 0n);
});

test('R-274: two processes on the same accounts admit together what one would', async () => {
  const other = openDb(await addressOf(), silentLog);
  const callLedgers = [callLedger, new CallLedger({ db: other, clock, processId: 'proc_other' })];
  const accounts = await Promise.all(Array.from({ length: 5 }, () => openAccount(ledger, 100n)));
  const calls = Array.from({ length: 400 }, (_, n) => newReservation(accounts[n % 5] ?? '', 10n));
  const admissions = await Promise.all(
    calls.map(async (call, n) => {
      const mine = callLedgers[n % 2] ?? callLedger;
      const admission = await mine.reserve(call);
      if (admission.state === 'admitted' && n % 3 === 0) await mine.settle(call, 10n);
      return admission;
    }),
  );
  assert.equal(admissions.filter((admission) => admission.state === 'admitted').length, 50);
  for (const account of accounts) assert.equal(await availableOf(ledger, account), 0n);
  await other.close();
});

async function addressOf() {
  const [row] = await db.rows<{ host: string; database: string; user: string }>(
    `select split_part(current_setting('unix_socket_directories'), ',', 1) as host, current_database() as database,
       current_user as user`,
  );
  return { ...(row ?? assert.fail()), port: 5432 };
}

test('R-277: a dead process’s reservations are ended by any other, at what is known to be owed', async () => {
  clock.advance(LEASE_SECONDS);
  await endAbandoned(db, clock.now());
  const account = await openAccount(ledger, 100n);
  const mortal = new CallLedger({ db, clock, processId: 'proc_mortal' });
  const [unknown, known, job] = [
    newReservation(account, 10n),
    newReservation(account, 20n),
    newReservation(account, 30n),
  ];
  await mortal.extendLease();
  await mortal.reserve(unknown);
  await mortal.reserve(known);
  await ledger.plain.reserve(job);
  await mortal.recordKnown(known, 7n);
  await mortal.recordKnown(known, 3n);
  clock.advance(LEASE_SECONDS / 2);
  await mortal.extendLease();
  clock.advance(LEASE_SECONDS - 0.001);
  assert.equal(await endAbandoned(db, clock.now()), 0);
  clock.advance(0.001);
  assert.equal((await Promise.all([endAbandoned(db, clock.now()), endAbandoned(db, clock.now())])).includes(2), true);
  assert.equal(await availableOf(ledger, account), 63n);

  assert.deepEqual(await mortal.settle(unknown, 9n), { state: 'refunded', charged: 0n });
  assert.deepEqual(await mortal.settle(known, 19n), { state: 'settled', charged: 7n });
  await mortal.recordKnown(known, 19n);
  assert.equal(await availableOf(ledger, account), 63n);
  await ledger.plain.refund(job);
});

test('the same operations by both ways give the same books', async () => {
  for (const seed of [1, 2]) {
    const [plain, grouped] = [await play(seed, ledger.plain, 1), await play(seed, ledger.grouped, 64)];
    assert.deepEqual(grouped, plain);
  }
});

interface Player {
  readonly account: string;
  readonly key: string;
  readonly open: NewReservation[];
}

/** Plays a random game and tells how every account stands at its end. */
async function play(seed: number, way: Way, together: number) {
  const random = new Random(seed);
  const pick = (below: number) => random.whole(0, below - 1);
  const players: Player[] = [];
  for (let n = 0; n < 8; n++) {
    const account = await openAccount(ledger, 300n, 200n);
    players.push({ account, key: await openKey(ledger, account, 900n, 'week'), open: [] });
  }
  const verdicts: string[] = [];
  for (let wave = 0; wave < 8; wave++) {
    for (const player of players) {
      if (pick(3) === 0)
        await give(ledger, player.account, BigInt(1 + pick(200)), new Date(clock.nowMs() + pick(90_000)));
    }
    // Charges above the reservation come last, as within a commit: they take what the others have brought back.
    const endings = players.flatMap((player) =>
      player.open.splice(0, pick(4)).map((call) => ({ call, dice: pick(9) })),
    );
    endings.sort((one, other) => Number(one.dice === 8) - Number(other.dice === 8));
    await inGroups(together, endings, ({ call, dice }) =>
      dice === 0
        ? way.refund(call)
        : way.settle(call, dice === 8 ? call.amount + 25n : (call.amount * BigInt(dice)) / 8n),
    );
    const wanted = Array.from({ length: 30 }, () => {
      const player = players[pick(players.length)] ?? assert.fail();
      return {
        player,
        call: newReservation(player.account, BigInt(pick(120)), pick(2) === 0 ? player.key : undefined),
      };
    });
    const admissions = await inGroups(together, wanted, ({ call }) => way.reserve(call));
    for (const [n, { player, call }] of wanted.entries()) {
      const admission = admissions[n] ?? assert.fail();
      if (admission.state === 'admitted') player.open.push(call);
      verdicts.push(
        admission.state === 'refused' ? admission.reason : String(admission.split?.map((part) => part.amount)),
      );
    }
    clock.advance(10);
  }
  // Both games are played in the same minute and a half.
  clock.advance(-80);
  return { verdicts, accounts: await Promise.all(players.map(standing)) };
}

async function inGroups<Item, Answer>(size: number, items: Item[], act: (item: Item) => Promise<Answer>) {
  const answers: Answer[] = [];
  for (let n = 0; n < items.length; n += size) answers.push(...(await Promise.all(items.slice(n, n + size).map(act))));
  return answers;
}

/** Without the entries that a commit writes once and single calls several times. */
async function standing({ account, key }: Player) {
  const [balance] = await db.rows(
    'select granted, available, reserved, charged, lapsed, debt from balances where account_id = $1',
    [account],
  );
  const [spending] = await db.rows('select held, spent, week_spent from key_spending where key_id = $1', [key]);
  const entries = await db.rows(
    `select type, available, reserved, charged, lapsed, parts from ledger_entries
     where account_id = $1 and type not in ('cover', 'lapse') order by number`,
    [account],
  );
  return { balance, spending, grants: await remainders(ledger, account), entries };
}
