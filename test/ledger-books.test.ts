import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../src/errors.ts';
import { books, listEntries, listGrants } from '../src/ledger/index.ts';
import { newReservation, openAccount, openKey, openLedger, SPENDERS } from './support/ledger.ts';

const ledger = await openLedger();
const { db, clock } = ledger;
const account = await openAccount(ledger, 100n, 50n);
const key = await openKey(ledger, account, 1000n, 'month');
const [open, settled, exceeded] = [
  newReservation(account, 20n, key),
  newReservation(account, 90n, key),
  newReservation(account, 5n),
];
for (const call of [open, settled, exceeded]) await ledger.plain.reserve(call);
await ledger.plain.settle(settled, 85n);
await ledger.plain.settle(exceeded, 9n);
const [grant] = await db.rows<{ id: string }>('select id from grants where account_id = $1 order by number desc', [
  account,
]);
const grantId = grant?.id ?? '';
const stray = newReservation(account, 1n).id;
const [price] = await db.rows<{ id: string }>('select price_id as id from reservations where id = $1', [settled.id]);

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
    `update reservations set price_id = '${stray}' where id = '${open.id}'`,
    `update reservations set price_id = '${price?.id}' where id = '${open.id}'`,
    'reservations.price_id',
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
  test(`R-273: a full check names the figure after "${statement.replace(/ where.*/, '')}"`, async () => {
    await db.run(statement);
    const { balanced, difference } = await books(db, true);
    await db.run(undo);
    assert.equal(balanced, false);
    assert.deepEqual({ figure: difference?.figure, id: difference?.id }, { figure, id });
    assert.notEqual(difference?.recorded, difference?.computed);
  });
}

// Of what ended before the last check only its entries count: reservations that are over are derived from nothing and
// nothing is derived from them.
const ENDED = corruptions.filter(([statement]) => statement.includes('{89,1}'));

for (const [statement, undo, figure, id] of corruptions.filter((one) => !ENDED.includes(one))) {
  test(`R-273: a check of what came after names the figure after "${statement.replace(/ where.*/, '')}"`, async () => {
    assert.equal((await books(db)).balanced, true);
    await db.run(statement);
    const { balanced, checked, difference } = await books(db);
    await db.run(undo);
    assert.deepEqual([balanced, checked], [false, 0]);
    // What is missing among the open ones is told by their number.
    const named = statement.startsWith('delete') ? account : id;
    assert.deepEqual({ figure: difference?.figure, id: difference?.id }, { figure, id: named });
    assert.notEqual(difference?.recorded, difference?.computed);
  });
}

async function unguarded(statement: string, values: unknown[]): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.script('alter table ledger_entries disable trigger user');
    await tx.run(statement, values);
    await tx.script('alter table ledger_entries enable trigger user');
  });
}

/** Alters one entry and puts it right again: what is set, to what, and what it was. */
const alterations: readonly (readonly [column: string, wrong: string, right: string, figure: string])[] = [
  ['granted = 60, available', '60', '50', 'ledger_entries.balance'],
  ['balance', '149', '150', 'ledger_entries.balance'],
  ['number', '200', '2', 'ledger_entries.number'],
  ['parts', `'{49}'`, `'{50}'`, 'ledger_entries.parts'],
  ['grant_ids', `'{grant_none}'`, '', 'grants.account_id'],
];

for (const [column, wrong, right, figure] of alterations) {
  test(`R-273: an entry whose ${column} was altered is named, before and after the last check`, async () => {
    const own = await openAccount(ledger, 100n, 50n);
    const [made] = await db.rows<{ grant: string }>(
      'select grant_ids[1] as grant from ledger_entries where account_id = $1 and number = 2',
      [own],
    );
    const alter = (value: string, number: string) =>
      unguarded(
        `update ledger_entries set ${column.replace('granted = 60', `granted = ${value}`)} = ${value}
        where account_id = $1 and number = ${number}`,
        [own],
      );
    const original = right === '' ? `'{${made?.grant}}'` : right;
    await alter(wrong, '2');
    assert.equal((await books(db)).difference?.figure, figure, 'of what came after the last check');
    assert.equal((await books(db, true)).difference?.figure, figure, 'of all');
    await alter(original, column === 'number' ? wrong : '2');
    assert.equal((await books(db)).balanced, true);

    await alter(wrong, '2');
    assert.equal((await books(db, true)).difference?.figure, figure, 'of all, after a checkpoint');
    // A difference that was found once is found again, by any check.
    assert.equal((await books(db)).difference?.figure, figure);
    await alter(original, column === 'number' ? wrong : '2');
  });
}

test('R-273: an entry of two grants of which one is another account’s is named', async () => {
  const [own, other] = [await openAccount(ledger, 100n, 50n), await openAccount(ledger, 7n)];
  await ledger.plain.reserve(newReservation(own, 120n));
  assert.equal((await books(db)).balanced, true);
  const grantsOf = '(select array_agg(id order by number) from grants where account_id = $1)';
  const put = (grants: string, values: unknown[]) =>
    unguarded(`update ledger_entries set grant_ids = ${grants} where account_id = $1 and number = 3`, values);
  await put(`${grantsOf}[1:1] || (select id from grants where account_id = $2)`, [own, other]);
  const { difference } = await books(db, true);
  assert.deepEqual([difference?.figure, difference?.account], ['grants.account_id', own]);
  await put(grantsOf, [own]);
  assert.equal((await books(db, true)).balanced, true);
});

test('R-273: an entry that is missing, added or taken for another’s is named in both kinds of check', async () => {
  const [own, other] = [await openAccount(ledger, 100n, 50n), await openAccount(ledger, 7n)];
  assert.equal((await books(db)).balanced, true);
  const call = newReservation(own, 20n);
  await ledger.plain.reserve(call);
  const copy = `select account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at,
    reservation_id, grant_ids, parts from ledger_entries`;
  await db.run(`create table kept as ${copy} where account_id = $1 and number = 3`.replace('$1', `'${own}'`));
  const restore = `insert into ledger_entries (account_id, number, type, granted, available, reserved, charged, lapsed,
    balance, created_at, reservation_id, grant_ids, parts) select * from kept`;
  const found = async () => [(await books(db)).difference?.figure, (await books(db, true)).difference?.figure];

  await unguarded('delete from ledger_entries where account_id = $1 and number = 3', [own]);
  assert.deepEqual(await found(), ['reservations.amount', 'reservations.amount']);
  await unguarded(restore, []);

  await unguarded(`update ledger_entries set account_id = $2, number = 2 where account_id = $1 and number = 3`, [
    own,
    other,
  ]);
  assert.deepEqual(await found(), ['ledger_entries.balance', 'ledger_entries.balance']);
  await unguarded('delete from ledger_entries where account_id = $1 and number = 2', [other]);
  await unguarded(restore, []);
  await db.run('drop table kept');
  await ledger.plain.refund(call);
});

test('a check reads only what came after the last one; a full one reads all', async () => {
  const { entries } = await books(db, true);
  assert.deepEqual(await books(db), { ...(await books(db)), balanced: true, entries, checked: 0 });
  const fresh = await openAccount(ledger, 10n);
  const call = newReservation(fresh, 4n);
  await ledger.plain.reserve(call);
  assert.equal((await books(db)).checked, 2);
  await ledger.plain.settle(call, 3n);
  assert.equal((await books(db)).checked, 1);
  assert.deepEqual([(await books(db)).checked, (await books(db, true)).checked], [0, entries + 3]);
});

for (const [what, open] of SPENDERS) {
  test(`${what}’s periods are right across a checkpoint and a new day, week and month`, async () => {
    const own = await openAccount(ledger, 1000n);
    const limited = await open(ledger, own, 900n, 'day');
    for (const days of [0, 0, 1, 1, 7, 31, 31]) {
      clock.advance(days * 86_400);
      const call = newReservation(own, 10n, limited);
      await ledger.plain.reserve(call);
      assert.equal((await books(db)).balanced, true);
      await ledger.plain.settle(call, 7n);
      assert.equal((await books(db)).balanced, true);
    }
    assert.equal((await books(db, true)).balanced, true);
  });
}

test('checks at the same time agree, while calls go on', async () => {
  const own = await openAccount(ledger, 10_000n);
  for (let round = 0; round < 5; round++) {
    const calls = Array.from({ length: 10 }, () => newReservation(own, 10n));
    const work = calls.map(async (call) => {
      await ledger.grouped.reserve(call);
      await ledger.grouped.settle(call, 6n);
    });
    const checks = Array.from({ length: 6 }, (_, place) => books(db, place % 3 === 0));
    const [found] = await Promise.all([Promise.all(checks), ...work]);
    assert.deepEqual(
      found.map(({ difference }) => difference),
      checks.map(() => undefined),
    );
  }
});

test('a grant or a key that has vanished is named', async () => {
  const own = await openAccount(ledger, 5n);
  const unused = await openKey(ledger, own, 5n);
  const call = newReservation(own, 2n, unused);
  await ledger.plain.reserve(call);
  assert.equal((await books(db)).balanced, true);
  for (const [table, column] of [
    ['grants', 'account_id'],
    ['key_spending', 'key_id'],
  ] as const) {
    await db.run(
      `create table kept as select * from ${table} where ${column} = '${column === 'key_id' ? unused : own}'`,
    );
    await db.run(`delete from ${table} where ${column} = $1`, [column === 'key_id' ? unused : own]);
    assert.equal((await books(db)).difference?.figure, table);
    if (table === 'grants') {
      await db.run(`insert into grants (id, number, account_id, amount, remaining, source, reference, expires_at, created_at)
        overriding system value select id, number, account_id, amount, remaining, source, reference, expires_at, created_at
        from kept`);
    } else await db.run(`insert into ${table} select * from kept`);
    await db.run('drop table kept');
    assert.equal((await books(db)).balanced, true);
  }
  await ledger.plain.refund(call);
});

test('R-279: entries and grants are listed newest first, in pages, with the balance that results', async () => {
  const reader = await openAccount(ledger, 10n, 20n);
  const call = newReservation(reader, 15n);
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
