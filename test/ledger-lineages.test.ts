import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reserveAll } from '../src/ledger/index.ts';
import { newReservation, openAccount, openKey, openLedger } from './support/ledger.ts';

const DAY_SECONDS = 86_400;

const ledger = await openLedger();
const { db, clock } = ledger;

/** Keys of one lineage, one for each limit; null is none. */
async function openLineage(account: string, limits: readonly (bigint | null)[], reset?: string): Promise<string[]> {
  const keys = await Promise.all(limits.map((limit) => openKey(ledger, account, limit ?? 0n, reset)));
  await db.run('update api_keys set lineage = $2 where id = any ($1)', [keys, keys[0]]);
  const unlimited = keys.filter((_, place) => limits[place] === null);
  await db.run('update api_keys set credit_limit = null where id = any ($1)', [unlimited]);
  return keys;
}

for (const way of [ledger.plain, ledger.grouped]) {
  test(`R-097: keys of a lineage count what each other spent and holds, in the period of the limit (${way.name})`, async () => {
    clock.advance(DAY_SECONDS - ((clock.nowMs() / 1000) % DAY_SECONDS));
    const account = await openAccount(ledger, 1000n);
    const [one, other] = await openLineage(account, [100n, 100n], 'day');
    const first = newReservation(account, 60n, one);
    assert.equal((await way.reserve(first)).state, 'admitted');
    assert.deepEqual(await way.reserve(newReservation(account, 41n, other)), {
      state: 'refused',
      reason: 'key_limit',
      left: 40n,
    });
    await way.settle(first, 50n);
    assert.equal((await way.reserve(newReservation(account, 51n, other))).state, 'refused');
    assert.equal((await way.reserve(newReservation(account, 50n, other))).state, 'admitted');
    clock.advance(DAY_SECONDS);
    assert.equal((await way.reserve(newReservation(account, 51n, one))).state, 'refused');
    assert.equal((await way.reserve(newReservation(account, 50n, one))).state, 'admitted');
  });

  test(`R-097: parallel calls with both keys of a lineage never pass its limit (${way.name})`, async () => {
    const account = await openAccount(ledger, 1000n);
    const keys = await openLineage(account, [100n, 100n]);
    const admissions = await Promise.all(
      Array.from({ length: 50 }, (_, place) => way.reserve(newReservation(account, 10n, keys[place % 2]))),
    );
    assert.equal(admissions.filter(({ state }) => state === 'admitted').length, 10);
  });
}

test('R-097: within one list of changes each key of a lineage counts those before it, by its own limit', async () => {
  const account = await openAccount(ledger, 1000n);
  const [low, high, free] = await openLineage(account, [50n, 100n, null]);
  const stranger = await openKey(ledger, account, 30n);
  const list = [
    newReservation(account, 40n, high),
    newReservation(account, 20n, low),
    newReservation(account, 30n, free),
    newReservation(account, 31n, high),
    newReservation(account, 30n, stranger),
    newReservation(account, 30n, high),
    newReservation(account, 1n, high),
  ];
  const refusals = await db.transaction((tx) => reserveAll(tx, list, clock.now()));
  assert.deepEqual(
    list.map(({ id }) => refusals.get(id)?.left),
    [undefined, 10n, undefined, 30n, undefined, undefined, 0n],
  );
});

test('keys of other lineages, and of none, count nothing of each other', async () => {
  const account = await openAccount(ledger, 1000n);
  const [one] = await openLineage(account, [10n, 10n]);
  const [foreign] = await openLineage(account, [10n, 10n]);
  const alone = await openKey(ledger, account, 10n);
  for (const key of [one, foreign, alone]) {
    const refusals = await db.transaction((tx) => reserveAll(tx, [newReservation(account, 10n, key)], clock.now()));
    assert.equal(refusals.size, 0);
  }
});
