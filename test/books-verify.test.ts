import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { Commands } from './support/commands.ts';
import { createDatabase, type TestDatabase } from './support/database.ts';
import { newReservation, openAccount, openKey, openLedger } from './support/ledger.ts';
import { workFolder } from './support/postgres.ts';
import type { Ended } from './support/program.ts';

// What `tollgate books verify` says of sound books, and of copies of them that were altered by hand.

const ledger = await openLedger();
const { plain, grouped } = ledger;
const account = await openAccount(ledger, 100n, 50n);
const key = await openKey(ledger, account, 1000n, 'month');
const [open, settled, refunded] = [
  newReservation(account, 20n, key),
  newReservation(account, 90n, key),
  newReservation(account, 7n),
];
for (const call of [open, settled, refunded]) await plain.reserve(call);
await plain.settle(settled, 85n);
await plain.refund(refunded);

const commands = new Commands();
after(() => commands.stop());

let server: Client;
before(async () => {
  server = new Client({ ...ledger.database.address, database: 'postgres' });
  await server.connect();
});
after(() => server.end());

function verify(t: { name: string }, database: TestDatabase, ...args: string[]): Promise<Ended> {
  const settings = {
    DATABASE_URL: database.url,
    TOLLGATE_ADMIN_TOKEN: 'a-token-of-the-tests',
    TOLLGATE_SECRET: 's'.repeat(40),
  };
  return commands.run(['books', 'verify', ...args], workFolder(t as never), settings);
}

test('R-273: sound books are told with their figures, beside traffic and without a write', async (t) => {
  // Stands in the journal, and is posted by no read.
  const purse = newReservation(account, 1n);
  await grouped.reserve(purse);
  const { code, out, err } = await verify(t, ledger.database);
  assert.deepEqual([code, err], [0, ''], out);
  assert.match(out, /^accounts +1$/m);
  assert.match(out, /^entries +\d+$/m);
  assert.match(out, /^granted +0\.00015 credits$/m);
  assert.match(out, /\nEverything balances\.\n$/);
  await grouped.refund(purse);
  const { counts, credits, balanced, imbalances } = await json(verify(t, ledger.database, '--json'));
  assert.deepEqual([balanced, imbalances, credits.granted, counts], [true, [], '0.00015', undefined]);
});

async function json(ended: Promise<Ended>) {
  return JSON.parse((await ended).out);
}

/** What was done to the copy, and which figures of which entries must be named. */
const corruptions: readonly (readonly [name: string, statements: string, named: RegExp])[] = [
  [
    'a changed balance',
    'update balances set available = available + 5, charged = charged - 5',
    /^IMBALANCE balances\.available of acct_\w+: recorded 50, entries say 45$/m,
  ],
  [
    'a removed entry',
    `delete from ledger_entries where number = 5`,
    /^IMBALANCE ledger_entries\.number of (acct_\w+) number 6 \(account \1, entries 6\): recorded 6, entries say 5$/m,
  ],
  [
    'a removed last entry',
    `delete from ledger_entries where number = (select max(number) from ledger_entries)`,
    /^IMBALANCE open_reservations of [\w-]+ \(account acct_\w+, entries \d\): recorded ended, entries say open$/m,
  ],
  [
    'a doubled entry',
    `alter table ledger_entries drop constraint ledger_entries_pkey;
     insert into ledger_entries select * from ledger_entries where number = 1`,
    /^IMBALANCE ledger_entries\.number of (acct_\w+) number 1 \(account \1, entries 1\): recorded 1, entries say 2$/m,
  ],
  [
    'a reservation that ended twice',
    `drop index ledger_entries_once;
     insert into ledger_entries (account_id, number, type, granted, available, reserved, charged, lapsed, balance,
       created_at, reservation_id, grant_ids, parts)
     select account_id, last.number + 1, type, granted, available, reserved, charged, lapsed, last.balance + available,
       last.created_at, reservation_id, grant_ids, parts
     from ledger_entries cross join (
       select number, balance, created_at from ledger_entries order by number desc limit 1) as last
     where type = 'refund' order by ledger_entries.number limit 1`,
    /^IMBALANCE reservations\.amount of [\w-]+ \(account acct_\w+, entries \d+, \d+, \d+\): recorded 0, entries say -7$/m,
  ],
  [
    'a job that is told at another charge',
    `insert into jobs (id, account_id, groups, kind, endpoint, model, status, wanted, request, request_id, reservation_id,
       created_at, accepted_at, finished_at, dispatch_deadline_at, charged)
     select 'job_1', account_id, '{}', 'image', 'images', model, 'succeeded', 1, '{}', request_id, id, now(), now(), now(),
       now(), 5 from reservations where amount = 90`,
    /^IMBALANCE jobs\.charged of job_1 \(account acct_\w+, entries \d+, \d+\): recorded 5, entries say 85$/m,
  ],
];

for (const [name, statements, named] of corruptions) {
  test(`R-273: ${name} in a copy is named with its account and entries`, async (t) => {
    const copy = await altered(statements);
    try {
      const { code, out } = await verify(t, copy);
      assert.equal(code, 1, out);
      assert.match(out, named);
      assert.match(out, /\n\d+ imbalances were found\.\n$/);
      const { balanced, imbalances } = await json(verify(t, copy, '--json'));
      assert.equal(balanced, false);
      assert.equal(imbalances.length, out.match(/^IMBALANCE /gm)?.length);
    } finally {
      await copy.drop();
    }
  });
}

test('books that cannot be read are no verdict: it ends with 2', async (t) => {
  const empty = await createDatabase();
  try {
    await run(empty, 'drop schema public cascade; create schema public');
    const { code, err } = await verify(t, empty);
    assert.equal(code, 2);
    assert.match(err, /^The books are not of this release: \d+ of \d+ migrations are not applied\./);
  } finally {
    await empty.drop();
  }
  const gone = await verify(t, empty);
  assert.equal(gone.code, 2, gone.err);
});

/** A copy of the ledger's database, changed as no program would. */
async function altered(statements: string): Promise<TestDatabase> {
  const copy = await createDatabase();
  const { database } = copy.address;
  await server.query(`drop database ${database}`);
  await server.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${ledger.database.address.database}'`,
  );
  await server.query(`create database ${database} template ${ledger.database.address.database} strategy file_copy`);
  try {
    await run(copy, `set session_replication_role = replica; ${statements}`);
    return copy;
  } catch (error) {
    await copy.drop();
    throw error;
  }
}

async function run({ address }: TestDatabase, statements: string): Promise<void> {
  const client = new Client(address);
  await client.connect();
  try {
    await client.query(statements);
  } finally {
    await client.end();
  }
}
