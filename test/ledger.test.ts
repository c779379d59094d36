import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../src/errors.ts';
import {
  balanceOf,
  books,
  endAbandoned,
  grant,
  lapseExpired,
  listEntries,
  listGrants,
  settle,
} from '../src/ledger/index.ts';
import { reserve } from '../src/ledger/ledger.ts';
import {
  availableOf,
  give,
  lockAccount,
  newReservation,
  openAccount,
  openApp,
  openLedger,
  remainders,
  SPENDERS,
} from './support/ledger.ts';

const ledger = await openLedger();
const { db, clock } = ledger;
const ways = [ledger.plain, ledger.grouped];
const DAY_SECONDS = 86_400;
const LIST_ALL = { limit: 100, after: undefined };

function inSeconds(seconds: number): Date {
  return new Date(clock.nowMs() + seconds * 1000);
}

async function shownBalance(accountId: string) {
  const { updatedAt: _, ...figures } = (await balanceOf(db, accountId, clock.now())) ?? assert.fail();
  return figures;
}

for (const way of ways) {
  test(`R-267: credits granted, reserved and charged add up to one balance (${way.name})`, async () => {
    const account = await openAccount(ledger, 100n);
    const call = newReservation(account, 30n);
    await way.reserve(call);
    assert.deepEqual(await shownBalance(account), {
      granted: 100n,
      available: 70n,
      reserved: 30n,
      charged: 0n,
      lapsed: 0n,
    });
    assert.deepEqual(await way.settle(call, 12n), { state: 'settled', charged: 12n });
    assert.deepEqual(await shownBalance(account), {
      granted: 100n,
      available: 88n,
      reserved: 0n,
      charged: 12n,
      lapsed: 0n,
    });
  });

  test(`R-270: a refund returns credits to the same grants, amount by amount (${way.name})`, async () => {
    const account = await openAccount(ledger, 40n, 5n, 60n);
    const call = newReservation(account, 50n);
    const admission = await way.reserve(call);
    assert.ok(admission.state === 'admitted');
    assert.deepEqual(
      admission.split?.map((part) => part.amount),
      [40n, 5n, 5n],
    );
    assert.deepEqual(await remainders(ledger, account), [0n, 0n, 55n]);
    assert.deepEqual(await way.refund(call), { state: 'refunded', charged: 0n });
    assert.deepEqual(await remainders(ledger, account), [40n, 5n, 60n]);
  });

  test(`R-270: a settlement returns the rest from the end of the split (${way.name})`, async () => {
    const account = await openAccount(ledger, 40n, 5n, 60n);
    const call = newReservation(account, 50n);
    await way.reserve(call);
    await way.settle(call, 42n);
    assert.deepEqual(await remainders(ledger, account), [0n, 3n, 60n]);
  });

  test(`R-272: a reservation ends exactly once under parallel settlements and refunds (${way.name})`, async () => {
    const account = await openAccount(ledger, 100n);
    const call = newReservation(account, 10n);
    await way.reserve(call);
    const attempts = Array.from({ length: 20 }, (_, n) =>
      n % 2 === 0 ? way.settle(call, BigInt(n)) : way.refund(call),
    );
    const endings = await Promise.all(attempts);
    for (const ending of endings) assert.deepEqual(ending, endings[0]);
    assert.equal((await shownBalance(account)).reserved, 0n);
    const entries = await listEntries(db, account, LIST_ALL);
    assert.equal(entries.filter((entry) => entry.type === 'settle' || entry.type === 'refund').length, 1);
  });

  test(`R-272: every verb repeated gives its first answer again and changes nothing (${way.name})`, async () => {
    const account = await openAccount(ledger, 100n);
    const [settled, refunded] = [newReservation(account, 10n), newReservation(account, 20n)];
    const admission = await way.reserve(settled);
    await way.reserve(refunded);
    assert.deepEqual(await way.reserve(settled), admission);
    await way.settle(settled, 4n);
    await way.refund(refunded);
    assert.deepEqual(await way.settle(settled, 9n), { state: 'settled', charged: 4n });
    assert.deepEqual(await way.refund(settled), { state: 'settled', charged: 4n });
    assert.deepEqual(await way.settle(refunded, 9n), { state: 'refunded', charged: 0n });
    assert.deepEqual(await way.reserve(settled), admission);
    assert.equal(await availableOf(ledger, account), 96n);
  });

  test(`R-272: an ending repeated after a grant's expiry lapses nothing (${way.name})`, async () => {
    const account = await openAccount(ledger);
    const call = newReservation(account, 4n);
    await give(ledger, account, 10n, inSeconds(60));
    await way.reserve(call);
    await way.settle(call, 4n);
    clock.advance(60);
    assert.deepEqual(await way.settle(call, 4n), { state: 'settled', charged: 4n });
    assert.deepEqual(await remainders(ledger, account), [6n]);
    assert.equal((await listEntries(db, account, LIST_ALL)).filter(({ type }) => type === 'lapse').length, 0);
    assert.equal(await availableOf(ledger, account), 0n);
  });

  test(`R-274: 200 parallel admissions on credits for exactly 10 give exactly 10 (${way.name})`, async () => {
    for (let round = 0; round < 3; round++) {
      const account = await openAccount(ledger, 60n, 40n);
      const admissions = await Promise.all(
        Array.from({ length: 200 }, () => way.reserve(newReservation(account, 10n))),
      );
      assert.equal(admissions.filter((admission) => admission.state === 'admitted').length, 10);
      assert.equal(await availableOf(ledger, account), 0n);
    }
  });

  test(`R-275: grants are spent by expiry, then age, never-expiring ones last (${way.name})`, async () => {
    const account = await openAccount(ledger, 10n);
    await give(ledger, account, 10n, inSeconds(200));
    await give(ledger, account, 10n, inSeconds(100));
    await give(ledger, account, 10n, inSeconds(200));
    await way.reserve(newReservation(account, 25n));
    assert.deepEqual(await remainders(ledger, account), [10n, 0n, 0n, 5n]);
  });

  test(`R-275: a grant is spendable until the very moment of its expiry (${way.name})`, async () => {
    const account = await openAccount(ledger);
    await give(ledger, account, 10n, inSeconds(60));
    clock.advance(59.999);
    assert.equal((await way.reserve(newReservation(account, 4n))).state, 'admitted');
    clock.advance(0.001);
    assert.equal(await availableOf(ledger, account), 0n);
    assert.equal((await listGrants(db, account, LIST_ALL, clock.now()))[0]?.remaining, 0n);
    assert.deepEqual(await way.reserve(newReservation(account, 1n)), { state: 'refused', reason: 'balance', left: 0n });
    assert.deepEqual(await shownBalance(account), {
      granted: 10n,
      available: 0n,
      reserved: 4n,
      charged: 0n,
      lapsed: 6n,
    });
  });

  test(`R-275: a refund into an expired grant is kept and marked lapsed (${way.name})`, async () => {
    const account = await openAccount(ledger);
    await give(ledger, account, 10n, inSeconds(60));
    const [refunded, settled] = [newReservation(account, 4n), newReservation(account, 6n)];
    await way.reserve(refunded);
    await way.reserve(settled);
    clock.advance(60);
    await way.refund(refunded);
    await way.settle(settled, 1n);
    assert.deepEqual(await shownBalance(account), {
      granted: 10n,
      available: 0n,
      reserved: 0n,
      charged: 1n,
      lapsed: 9n,
    });
  });

  test(`R-276: cost above the reservation is a second charge and may take the balance below zero (${way.name})`, async () => {
    const account = await openAccount(ledger, 10n, 5n);
    const call = newReservation(account, 8n);
    await way.reserve(call);
    assert.deepEqual(await way.settle(call, 20n), { state: 'settled', charged: 20n });
    assert.equal(await availableOf(ledger, account), -5n);
    assert.deepEqual(await remainders(ledger, account), [0n, 0n]);
    assert.deepEqual(await way.reserve(newReservation(account, 0n)), {
      state: 'refused',
      reason: 'balance',
      left: -5n,
    });
    await give(ledger, account, 5n);
    assert.deepEqual(await way.reserve(newReservation(account, 1n)), { state: 'refused', reason: 'balance', left: 0n });
    await give(ledger, account, 7n);
    assert.equal((await way.reserve(newReservation(account, 7n))).state, 'admitted');
    const types = (await listEntries(db, account, LIST_ALL)).map((entry) => entry.type).reverse();
    assert.deepEqual(types, [
      'grant',
      'grant',
      'reserve',
      'settle',
      'charge',
      'cover',
      'grant',
      'cover',
      'grant',
      'reserve',
    ]);
  });

  test(`R-276: what comes back while there is debt pays the debt first (${way.name})`, async () => {
    const account = await openAccount(ledger, 20n);
    const [dear, refunded] = [newReservation(account, 10n), newReservation(account, 10n)];
    await way.reserve(dear);
    await way.reserve(refunded);
    await way.settle(dear, 14n);
    assert.equal(await availableOf(ledger, account), -4n);
    await way.refund(refunded);
    assert.equal(await availableOf(ledger, account), 6n);
    assert.deepEqual(await remainders(ledger, account), [6n]);
  });

  for (const [what, open] of SPENDERS) {
    test(`${what}'s credit limit is exact, counts what is held, and starts again at midnight UTC (${way.name})`, async () => {
      clock.advance(DAY_SECONDS - ((clock.nowMs() / 1000) % DAY_SECONDS));
      const account = await openAccount(ledger, 1000n);
      const key = await open(ledger, account, 100n, 'day');
      const [first, second] = [newReservation(account, 60n, key), newReservation(account, 40n, key)];
      await way.reserve(first);
      assert.deepEqual(await way.reserve(newReservation(account, 41n, key)), {
        state: 'refused',
        reason: 'key_limit',
        left: 40n,
      });
      assert.equal((await way.reserve(second)).state, 'admitted');
      await way.settle(first, 50n);
      assert.equal((await way.reserve(newReservation(account, 11n, key))).state, 'refused');
      assert.equal((await way.reserve(newReservation(account, 11n))).state, 'admitted');
      clock.advance(DAY_SECONDS - 1);
      assert.equal((await way.reserve(newReservation(account, 11n, key))).state, 'refused');
      clock.advance(1);
      assert.equal((await way.reserve(newReservation(account, 61n, key))).state, 'refused');
      assert.equal((await way.reserve(newReservation(account, 60n, key))).state, 'admitted');
    });
  }

  for (const [what, open] of SPENDERS) {
    test(`${what}'s limit without a reset counts for ever; parallel calls never pass it (${way.name})`, async () => {
      const account = await openAccount(ledger, 1000n);
      const key = await open(ledger, account, 100n);
      const admissions = await Promise.all(
        Array.from({ length: 50 }, () => way.reserve(newReservation(account, 10n, key))),
      );
      assert.equal(admissions.filter((admission) => admission.state === 'admitted').length, 10);
      clock.advance(400 * DAY_SECONDS);
      assert.deepEqual(await way.reserve(newReservation(account, 1n, key)), {
        state: 'refused',
        reason: 'key_limit',
        left: 0n,
      });
    });
  }

  test(`an unknown account, key or reservation, or an id used twice, is refused as misuse (${way.name})`, async () => {
    const account = await openAccount(ledger, 100n);
    const call = newReservation(account, 10n);
    await way.reserve(call);
    await assert.rejects(way.reserve({ ...call, amount: 11n }), /conflict/);
    await assert.rejects(way.reserve(newReservation('acct_nobody', 1n)), /unknown/);
    await assert.rejects(way.reserve(newReservation(account, 1n, 'key_nobody')), /unknown/);
    const foreign = await openApp(ledger, await openAccount(ledger), 100n);
    await assert.rejects(way.reserve(newReservation(account, 1n, foreign)), /unknown/);
    await assert.rejects(way.settle(newReservation(account, 1n), 1n), /unknown/);
    await assert.rejects(way.reserve(newReservation(account, -1n)), RangeError);
    await assert.rejects(way.settle(call, -1n), RangeError);
  });
}

test('R-274: admissions by both ways at once never overdraw', async () => {
  for (let round = 0; round < 3; round++) {
    const account = await openAccount(ledger, 100n);
    const calls = Array.from({ length: 200 }, (_, n) =>
      (ways[n % 2] ?? ledger.plain).reserve(newReservation(account, 10n)),
    );
    const admissions = await Promise.all(calls);
    assert.equal(admissions.filter((admission) => admission.state === 'admitted').length, 10);
  }
});

test('R-274: one hundred times over, 200 admissions admit exactly 10 and the books balance', async () => {
  for (let round = 0; round < 100; round++) {
    const account = await openAccount(ledger, 100n);
    const calls = Array.from({ length: 200 }, () => ledger.grouped.reserve(newReservation(account, 10n)));
    const admissions = await Promise.all(calls);
    assert.equal(admissions.filter((admission) => admission.state === 'admitted').length, 10);
    assert.equal((await books(db)).balanced, true);
  }
});

test('R-268: a job holds its estimate from its submission to its end, and names itself in every entry', async () => {
  const account = await openAccount(ledger, 100n);
  const job = { ...newReservation(account, 40n), jobId: 'job_test' };
  await db.transaction((tx) => reserve(tx, job, clock.now()));
  clock.advance(DAY_SECONDS);
  // No lease: it outlives every process.
  await endAbandoned(db, clock.now());
  assert.equal((await shownBalance(account)).reserved, 40n);
  await db.transaction((tx) => settle(tx, job.id, 25n, clock.now()));
  assert.equal((await shownBalance(account)).charged, 25n);
  const entries = await listEntries(db, account, LIST_ALL);
  assert.deepEqual(
    entries.map(({ type, jobId }) => [type, jobId]),
    [
      ['settle', 'job_test'],
      ['reserve', 'job_test'],
      ['grant', undefined],
    ],
  );
});

test('R-269: a reservation commits with the work around it or not at all', async () => {
  const account = await openAccount(ledger, 100n);
  const before = await shownBalance(account);
  const failed = db.transaction(async (tx) => {
    await reserve(tx, { ...newReservation(account, 40n), jobId: 'job_test' }, clock.now());
    throw new Error('the job row could not be written');
  });
  await assert.rejects(failed, /could not be written/);
  assert.deepEqual(await shownBalance(account), before);
  assert.equal((await listEntries(db, account, LIST_ALL)).length, 1);
});

test('R-272: an ending repeated while its account is locked elsewhere is answered at once', async () => {
  const account = await openAccount(ledger, 10n);
  const call = newReservation(account, 4n);
  await ledger.grouped.reserve(call);
  await ledger.grouped.settle(call, 3n);
  const lock = await lockAccount(db, account);
  assert.deepEqual(await ledger.grouped.settle(call, 4n), { state: 'settled', charged: 3n });
  await lock.release();
});

test('R-273: the database refuses to change, remove or empty ledger entries', async () => {
  const account = await openAccount(ledger, 1n);
  const refusal = /never changed or removed/;
  await assert.rejects(db.run('update ledger_entries set charged = 0 where account_id = $1', [account]), refusal);
  await assert.rejects(db.run('delete from ledger_entries where account_id = $1', [account]), refusal);
  await assert.rejects(db.run('truncate ledger_entries'), refusal);
});

test('R-275: the duty moves expired remainders to lapsed', async () => {
  const accounts = await Promise.all(Array.from({ length: 3 }, () => openAccount(ledger, 5n)));
  await lapseExpired(db, clock.now());
  for (const account of accounts) await give(ledger, account, 10n, inSeconds(60));
  clock.advance(60);
  assert.equal(await lapseExpired(db, clock.now()), 3);
  assert.equal(await lapseExpired(db, clock.now()), 0);
  for (const account of accounts) assert.deepEqual(await remainders(ledger, account), [5n, 0n]);
});

test('R-282: a reference is granted once, and the transaction goes on', async () => {
  const account = await openAccount(ledger);
  const given = { accountId: account, amount: 5n, source: 'card', expiresAt: undefined, now: clock.now() };
  const reference = `payment ${account}`;
  const made = await db.transaction((tx) => grant(tx, { ...given, reference }));
  assert.equal(made.remaining, 5n);
  await db.transaction(async (tx) => {
    const duplicate = (error: unknown) => error instanceof ApiError && error.code === 'duplicate_reference';
    await assert.rejects(grant(tx, { ...given, reference }), duplicate);
    await grant(tx, { ...given, reference: undefined });
  });
  assert.equal(await availableOf(ledger, account), 10n);
  const nobody = { ...given, accountId: 'acct_nobody', reference: undefined };
  const unknown = (error: unknown) => error instanceof ApiError && error.code === 'account_not_found';
  await assert.rejects(
    db.transaction((tx) => grant(tx, nobody)),
    unknown,
  );
});

test('R-283: an account or key with entries cannot be deleted', async () => {
  const account = await openAccount(ledger, 10n);
  await assert.rejects(db.run('delete from accounts where id = $1', [account]), /foreign key/);
});
