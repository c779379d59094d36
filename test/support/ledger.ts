import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, afterEach } from 'node:test';
import { type Db, openDb } from '../../src/db/index.ts';
import { newId } from '../../src/ids.ts';
import {
  type Admission,
  balanceOf,
  books,
  CallLedger,
  type Ending,
  type Grant,
  grant,
  type NewReservation,
  refund,
  settle,
} from '../../src/ledger/index.ts';
import { reserve } from '../../src/ledger/ledger.ts';
import { DB_FIRST_CONNECT_TIMEOUT_MS } from '../../src/limits.ts';
import { ManualClock } from './clock.ts';
import { createDatabase, silentLog, type TestDatabase } from './database.ts';

/** The two ways to the same ledger: one transaction per call, and the group commit of calls. */
export interface Way {
  readonly name: string;
  reserve(reservation: NewReservation): Promise<Admission>;
  settle(reservation: NewReservation, actual: bigint): Promise<Ending>;
  refund(reservation: NewReservation): Promise<Ending>;
}

export interface TestLedger {
  readonly database: TestDatabase;
  readonly db: Db;
  readonly clock: ManualClock;
  readonly callLedger: CallLedger;
  readonly plain: Way;
  readonly grouped: Way;
}

/** A ledger for one test file. After each of its tests the books must balance. */
export async function openLedger(): Promise<TestLedger> {
  const database = await createDatabase();
  // 200 transactions at once wait for 16 connections, on a busy machine longer than a gateway would.
  const db = openDb(database.address, silentLog, { connectMs: DB_FIRST_CONNECT_TIMEOUT_MS });
  const clock = new ManualClock();
  afterEach(() => assertBalanced(db));
  after(async () => {
    await db.close();
    await database.drop();
  });
  const callLedger = new CallLedger({ db, clock, processId: 'proc_test' });
  return { database, db, clock, callLedger, plain: plainWay(db, clock), grouped: groupedWay(callLedger) };
}

async function assertBalanced(db: Db): Promise<void> {
  for (const isFull of [false, true]) {
    const { balanced, difference } = await books(db, isFull);
    assert.ok(balanced, JSON.stringify(difference));
  }
}

function plainWay(db: Db, clock: ManualClock): Way {
  return {
    name: 'one transaction per call',
    reserve: (reservation) => db.transaction((tx) => reserve(tx, reservation, clock.now())),
    settle: (reservation, actual) => db.transaction((tx) => settle(tx, reservation.id, actual, clock.now())),
    refund: (reservation) => db.transaction((tx) => refund(tx, reservation.id, clock.now())),
  };
}

function groupedWay(callLedger: CallLedger): Way {
  return {
    name: 'group commit',
    reserve: (reservation) => callLedger.reserve(reservation),
    settle: (reservation, actual) => callLedger.settle(reservation, actual),
    refund: (reservation) => callLedger.refund(reservation),
  };
}

export async function openAccount({ db, clock }: TestLedger, ...amounts: bigint[]): Promise<string> {
  const id = newId('acct');
  await db.run(`insert into accounts (id, name, groups, created_at, updated_at) values ($1, $1, '{default}', $2, $2)`, [
    id,
    clock.now(),
  ]);
  for (const amount of amounts) await give({ db, clock }, id, amount);
  return id;
}

type Giver = Pick<TestLedger, 'db' | 'clock'>;

export function give(giver: Giver, accountId: string, amount: bigint, expiresAt?: Date): Promise<Grant> {
  const { db, clock } = giver;
  const rest = { source: 'test', reference: undefined, now: clock.now() };
  return db.transaction((tx) => grant(tx, { accountId, amount, expiresAt, ...rest }));
}

export async function openKey(ledger: TestLedger, accountId: string, limit: bigint, reset?: string): Promise<string> {
  const id = newId('key');
  await ledger.db.run(
    `insert into api_keys (id, account_id, name, digest, prefix, credit_limit, credit_limit_reset, created_at)
     values ($1::text, $2, 'test', sha256(convert_to($1, 'UTF8')), 'test', $3, $4, $5)`,
    [id, accountId, limit, reset, ledger.clock.now()],
  );
  return id;
}

/** The same for an app: a grant is counted and limited where a key is. */
export async function openApp(ledger: TestLedger, accountId: string, limit: bigint, reset?: string): Promise<string> {
  const id = newId('oag');
  const now = ledger.clock.now();
  await ledger.db.run(
    `with person as (insert into people (id, email, name, created_at) values ($1, $1 || '@example.com', 'test', $5)),
     client as (
       insert into oauth_clients (id, name, redirect_uris, scopes, created_at) values ($1, 'test', '{test}', '{test}', $5)
     )
     insert into oauth_grants (id, client_id, account_id, person_id, scopes, credit_limit, credit_limit_reset, created_at,
       updated_at)
     values ($1, $1, $2, $1, '{test}', $3, $4, $5, $5)`,
    [id, accountId, limit, reset, now],
  );
  return id;
}

/** What spending is counted and limited by. */
export const SPENDERS = [
  ['a key', openKey],
  ['an app', openApp],
] as const;

export function newReservation(accountId: string, amount: bigint, keyId?: string): NewReservation {
  const id = randomUUIDv7();
  const rest = { jobId: undefined, model: 'test/chat', endpoint: 'chat', price: '{"mode":"per_request"}' };
  return { id, accountId, keyId, amount, requestId: `req_${id}`, ...rest };
}

export async function availableOf({ db, clock }: TestLedger, accountId: string): Promise<bigint | undefined> {
  return (await balanceOf(db, accountId, clock.now()))?.available;
}

/** What each grant of the account still holds, oldest first. */
export async function remainders({ db }: TestLedger, accountId: string): Promise<readonly bigint[]> {
  const rows = await db.rows<{ remaining: bigint }>(
    'select remaining from grants where account_id = $1 order by number',
    [accountId],
  );
  return rows.map((row) => row.remaining);
}

/** Locks an account, as another transaction would, until `release` is called. */
export async function lockAccount(db: Db, accountId: string): Promise<{ release(): Promise<void> }> {
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const transaction = db.transaction(async (tx) => {
    await tx.rows('select from balances where account_id = $1 for update', [accountId]);
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  return {
    release: () => {
      released.resolve();
      return transaction;
    },
  };
}
