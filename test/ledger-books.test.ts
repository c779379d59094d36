import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../src/errors.ts';
import { books, listEntries, listGrants } from '../src/ledger/index.ts';
import { asked, openAccount, openKey, openLedger } from './support/ledger.ts';

const ledger = await openLedger();
const { db, clock } = ledger;
const account = await openAccount(ledger, 100n, 50n);
const key = await openKey(ledger, account, 1000n, 'month');
const [open, settled, exceeded] = [asked(account, 20n, key), asked(account, 90n, key), asked(account, 5n)];
for (const call of [open, settled, exceeded]) await ledger.plain.reserve(call);
await ledger.plain.settle(settled, 85n);
await ledger.plain.settle(exceeded, 9n);
const [grant] = await db.rows<{ id: string }>('select id from grants where account_id = $1 order by number desc', [
  account,
]);
const grantId = grant?.id ?? '';
const stray = asked(account, 1n).id;

/** What is altered by hand, how it is put right again, and what the books say in between. */
const corruptions: readonly (readonly [statement: string, undo: string, figure: string, id: string])[] = [
  [
    `update balances set available = available + 1, granted = granted + 1`,
    `update balances set available = available - 1, granted = granted - 1`,
    'balances.granted',
    account,
  ],
  [
    `update balances set available = available + 1, reserved = reserved - 1`,
    `update balances set available = available - 1, reserved = reserved + 1`,
    'balances.available',
    account,
  ],
  [
    `update balances set charged = charged - 1, lapsed = lapsed + 1`,
    `update balances set charged = charged + 1, lapsed = lapsed - 1`,
    'balances.charged',
    account,
  ],
  [`update balances set debt = debt + 1`, `update balances set debt = debt - 1`, 'balances.debt', account],
  [
    `update balances set entries = entries + 1`,
    `update balances set entries = entries - 1`,
    'balances.entries',
    account,
  ],
  [
    `update grants set remaining = remaining - 1 where id = '${grantId}'`,
    `update grants set remaining = remaining + 1 where id = '${grantId}'`,
    'grants.remaining',
    grantId,
  ],
  [
    `update grants set amount = amount + 1 where id = '${grantId}'`,
    `update grants set amount = amount - 1 where id = '${grantId}'`,
    'grants.amount',
    grantId,
  ],
  [`update key_spending set held = held + 1`, `update key_spending set held = held - 1`, 'key_spending.held', key],
  [
    `update key_spending set month_spent = 0`,
    `update key_spending set month_spent = spent`,
    'key_spending.month_spent',
    key,
  ],
  [
    `update reservations set amount = 21 where id = '${open.id}'`,
    `update reservations set amount = 20 where id = '${open.id}'`,
    'reservations.amount',
    open.id,
  ],
  [
    `update reservations set parts = '{89,1}' where id = '${settled.id}'`,
    `update reservations set parts = '{80,10}' where id = '${settled.id}'`,
    'reservations.amount',
    settled.id,
  ],
  [
    `delete from open_reservations where reservation_id = '${open.id}'`,
    `insert into open_reservations (reservation_id) values ('${open.id}')`,
    'open_reservations',
    open.id,
  ],
  [
    `insert into open_reservations (reservation_id) values ('${settled.id}')`,
    `delete from open_reservations where reservation_id = '${settled.id}'`,
    'open_reservations',
    settled.id,
  ],
  [
    `insert into open_reservations (reservation_id) values ('${stray}')`,
    `delete from open_reservations where reservation_id = '${stray}'`,
    'open_reservations',
    stray,
  ],
];

for (const [statement, undo, figure, id] of corruptions) {
  test(`R-273: the books name the figure after "${statement.replace(/ where.*/, '')}"`, async () => {
    await db.run(statement);
    const { balanced, difference } = await books(db);
    await db.run(undo);
    assert.equal(balanced, false);
    assert.deepEqual({ figure: difference?.figure, id: difference?.id }, { figure, id });
    assert.notEqual(difference?.recorded, difference?.computed);
  });
}

test('R-273: an entry that somebody has removed, altered or added past the trigger is named', async () => {
  const unguarded = async (statement: string, values: unknown[]) =>
    db.transaction(async (tx) => {
      await tx.script('alter table ledger_entries disable trigger user');
      await tx.run(statement, values);
      await tx.script('alter table ledger_entries enable trigger user');
    });
  const named = async () => (await books(db)).difference;

  await unguarded('update ledger_entries set available = 60, granted = 60 where account_id = $1 and number = 2', [
    account,
  ]);
  assert.equal((await named())?.figure, 'ledger_entries.balance');
  await unguarded('update ledger_entries set available = 50, granted = 50 where account_id = $1 and number = 2', [
    account,
  ]);

  await unguarded('update ledger_entries set number = 100 where account_id = $1 and number = 3', [account]);
  assert.deepEqual(await named(), {
    figure: 'ledger_entries.number',
    id: `${account} number 4`,
    recorded: '4',
    computed: '3',
  });
  await unguarded('update ledger_entries set number = 3 where account_id = $1 and number = 100', [account]);

  await unguarded(`update ledger_entries set parts = '{-19}' where account_id = $1 and number = 3`, [account]);
  assert.equal((await named())?.figure, 'ledger_entries.parts');
  await unguarded(`update ledger_entries set parts = '{-20}' where account_id = $1 and number = 3`, [account]);
});

test('R-279: entries and grants are listed newest first, in pages, with the balance that results', async () => {
  const reader = await openAccount(ledger, 10n, 20n);
  const call = asked(reader, 15n);
  await ledger.plain.reserve(call);
  const first = await listEntries(db, reader, { limit: 2, after: undefined });
  assert.deepEqual(
    first.map((entry) => [entry.type, entry.amount, entry.balanceAfter]),
    [
      ['reserve', -15n, 15n],
      ['grant', 20n, 30n],
    ],
  );
  assert.equal(first[0]?.requestId, call.requestId);
  const rest = await listEntries(db, reader, { limit: 2, after: first[1]?.id });
  assert.deepEqual(
    rest.map((entry) => entry.balanceAfter),
    [10n],
  );
  await assert.rejects(listEntries(db, reader, { limit: 2, after: 'txn_other_1' }), ApiError);
  const grants = await listGrants(db, reader, { limit: 1, after: undefined }, clock.now());
  assert.deepEqual(
    grants.map((each) => each.remaining),
    [15n],
  );
  const older = await listGrants(db, reader, { limit: 9, after: grants[0]?.id }, clock.now());
  assert.deepEqual(
    older.map((each) => each.remaining),
    [0n],
  );
  assert.deepEqual(await listGrants(db, reader, { limit: 9, after: 'grant_other' }, clock.now()), []);
});
