import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { addAccounts, addCalls, type Past } from '../scripts/bench/rows-fill.ts';
import { openDb } from '../src/db/index.ts';
import { books, verdicts } from '../src/ledger/index.ts';
import { BOOK_ACCOUNTS_PER_READ, BOOK_ENTRIES_PER_READ } from '../src/limits.ts';
import { createDatabase, silentLog } from './support/database.ts';

// More accounts, grants and entries than one statement reads, and sessions whose statements may take next to no time.

const CALLS = Number(BOOK_ENTRIES_PER_READ) / 2 + 1_000;
const ACCOUNTS = BOOK_ACCOUNTS_PER_READ + 500;
/** Accounts with a grant and without calls, which come behind the others in the order of ids. */
const MORE = [
  `insert into accounts (id, name, groups, created_at, updated_at)
   select 'acct_z' || lpad(n::text, 23, '0'), 'many', '{default}', $2, $2 from generate_series(1, $1::int) as n`,
  `insert into grants (id, account_id, amount, source, created_at)
   select replace(id, 'acct_', 'grant_'), id, 7, 'many', $2 from accounts where name = 'many' limit $1`,
  `insert into ledger_entries (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at,
     grant_ids, parts)
   select account_id, 1, 'grant', 7, 7, 0, 0, 0, 7, $2, array[id], '{7}' from grants where source = 'many' limit $1`,
];
const LAST = `acct_z${String(ACCOUNTS).padStart(23, '0')}`;

const database = await createDatabase();
const client = new Client(database.address);
const hasty = openDb(database.address, silentLog, { statementMs: 20 });
let entries: number;
before(async () => {
  await client.connect();
  const past: Past = { client, calls: CALLS, beginMs: Date.now() - 365 * 24 * 3_600_000, endMs: Date.now() };
  await addAccounts(past);
  await addCalls(past, 0, CALLS);
  for (const statement of MORE) await client.query(statement, [ACCOUNTS, new Date()]);
  const { rows } = await client.query<{ count: string }>('select count(*) from ledger_entries');
  entries = Number(rows[0]?.count);
  await client.query('analyze');
});
after(async () => {
  await Promise.all([client.end(), hasty.close()]);
  await database.drop();
});

test('R-273: a large ledger is read in full, whatever the limit of a session’s statements, and then from the checkpoint', async () => {
  const balanced = { balanced: true, accounts: ACCOUNTS + 1_000, entries };
  assert.ok(entries > Number(BOOK_ENTRIES_PER_READ) + ACCOUNTS);
  assert.deepEqual(await books(hasty, true), { ...balanced, checked: entries });
  assert.deepEqual(await books(hasty), { ...balanced, checked: 0 });
  const { counts, differences } = await verdicts.reportBooks(hasty);
  assert.deepEqual([counts.entries, counts.grants, differences], [entries, ACCOUNTS + 1_000, []]);
});

test('R-273: what is wrong with the last account and its grant is found behind all others', async () => {
  await client.query(`update grants set remaining = 6 where account_id = '${LAST}'`);
  for (const isFull of [false, true]) assert.equal((await books(hasty, isFull)).difference?.figure, 'grants.remaining');
  await client.query(`update grants set remaining = 7 where account_id = '${LAST}'`);
  await client.query('alter table ledger_entries disable trigger user');
  await client.query(`update ledger_entries set balance = 8 where account_id = '${LAST}'`);
  // The checkpoints went with the difference that the full check found.
  for (const isFull of [true, false]) {
    const { checked, difference } = await books(hasty, isFull);
    assert.deepEqual([checked, difference?.figure], [entries, 'ledger_entries.balance']);
  }
  await client.query(`update ledger_entries set balance = 7 where account_id = '${LAST}'`);
  await client.query('alter table ledger_entries enable trigger user');
});

test('a check that may read only so many entries refuses more, and one that is told to stop does', async () => {
  for (const isFull of [true, false]) {
    await assert.rejects(books(hasty, isFull, { entriesMax: entries - 1 }), new verdicts.BooksTooLong(entries));
  }
  const reason = new Error('the process stops');
  await assert.rejects(books(hasty, true, { signal: AbortSignal.abort(reason) }), reason);
  assert.equal((await books(hasty, false, { entriesMax: entries })).checked, entries);
  await client.query(`select ledger_grant($1, 'grant_late', '${LAST}', 1, 'late', null, null)`, [new Date()]);
  await assert.rejects(books(hasty, true, { entriesMax: entries }), new verdicts.BooksTooLong(entries + 1));
  assert.equal((await books(hasty, false, { entriesMax: 1 })).checked, 1);
});
