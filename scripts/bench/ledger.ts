import { randomUUIDv7 } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { Client, type ClientConfig } from 'pg';
import { pino } from 'pino';
import { systemClock } from '../../src/clock.ts';
import { type Db, migrate, openDb } from '../../src/db/index.ts';
import { books, CallLedger, grant, type NewReservation, settle } from '../../src/ledger/index.ts';
import { reserve } from '../../src/ledger/ledger.ts';
import { type Row, ratioRow } from './table.ts';

const CALLERS = 64;
const ACCOUNTS = 50;
const OLD_ENTRIES = 1_000_000;
const WARM_UP_MS = 3_000;
const MEASURE_MS = 2_500;
const ROUNDS = 5;
const SETTLED = 700n;
const RESERVED = 1_000n;
const PRICE = JSON.stringify({
  mode: 'per_token',
  credits: { input: 2, output: 8, cache_read: 0.5, cache_write: 2.5 },
  token_tiers: [{ above: 200_000, input: 4, output: 12 }],
});
const UNITS = JSON.stringify({ input_tokens: 1200, output_tokens: 340 });

/** Holds and settles one call; what is measured. */
type Pair = (reservation: NewReservation) => Promise<unknown>;

interface Measured {
  readonly pairsPerSecond: number;
  readonly nodeMicrosPerPair: number;
}

/** Reserve and settle, one transaction per call against group commit, on an embedded server of its own with fsync on. */
export async function benchLedger(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  const log = pino({ level: 'warn' });
  const server = await startEmbeddedPostgres({ folder, log, progress: () => undefined });
  const young = openDb(server.connection, log);
  await young.run('create database old_ledger');
  const old = openDb({ ...server.connection, database: 'old_ledger' }, log);
  try {
    const accounts = await openAccounts(young);
    await openAccounts(old);
    await addHistory(old);
    await vacuum({ ...server.connection, database: 'old_ledger' });
    const rows = await compareAll(young, old, accounts);
    for (const db of [young, old]) await refuseUnbalanced(db);
    return rows;
  } finally {
    await Promise.all([young.close(), old.close()]);
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function compareAll(young: Db, old: Db, accounts: readonly string[]): Promise<Row[]> {
  const [plain = [], batch = [], aged = []] = await measureInTurn(
    [plainPair(young), batchPair(young), batchPair(old)],
    accounts,
  );
  const [hotPlain = [], hotBatch = []] = await measureInTurn(
    [plainPair(young), batchPair(young)],
    accounts.slice(0, 1),
  );
  const what = `reserve + settle at ${CALLERS} callers`;
  const rate = ({ pairsPerSecond }: Measured) => pairsPerSecond;
  const cost = ({ nodeMicrosPerPair }: Measured) => nodeMicrosPerPair;
  const interval = ({ pairsPerSecond }: Measured) => 1e6 / pairsPerSecond;
  const label = (measure: string, goal: string) => ({ measure: `${what}, ${measure}`, goal });
  return [
    ratioRow(label(`${ACCOUNTS} accounts, pairs/s`, '≥ 5'), pairUp(plain, batch, rate)),
    ratioRow(label('1 account, pairs/s', '≥ 15'), pairUp(hotPlain, hotBatch, rate)),
    ratioRow(label('Node µs per pair', '≤ 25 µs'), pairUp(plain, batch, cost)),
    ratioRow(
      label(`none against ${OLD_ENTRIES.toLocaleString('en')} old entries, µs per pair`, '≤ 1.3'),
      pairUp(batch, aged, interval),
    ),
  ];
}

function pairUp(
  bare: readonly Measured[],
  tollgate: readonly Measured[],
  figure: (measured: Measured) => number,
): [number, number][] {
  return bare.flatMap((one, round) => {
    const other = tollgate[round];
    return other === undefined ? [] : [[figure(one), figure(other)]];
  });
}

/** A figure made with books that do not balance is none. */
async function refuseUnbalanced(db: Db): Promise<void> {
  const { balanced, difference } = await books(db);
  if (!balanced) throw new Error(`the books do not balance after the measurement: ${JSON.stringify(difference)}`);
}

function plainPair(db: Db): Pair {
  return async (reservation) => {
    await db.transaction((tx) => reserve(tx, reservation, systemClock.now()));
    await db.transaction((tx) => settle(tx, reservation.id, SETTLED, systemClock.now(), UNITS));
  };
}

function batchPair(db: Db): Pair {
  const batch = new CallLedger({ db, clock: systemClock, processId: 'proc_bench' });
  return async (reservation) => {
    await batch.reserve(reservation);
    await batch.settle(reservation, SETTLED, UNITS);
  };
}

/** Rounds of one after the other, so that what else the machine does falls on all alike; of each, its figures by round. */
async function measureInTurn(pairs: readonly Pair[], accounts: readonly string[]): Promise<Measured[][]> {
  for (const pair of pairs) await runFor(WARM_UP_MS, pair, accounts);
  const measured: Measured[][] = pairs.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [place, pair] of pairs.entries()) measured[place]?.push(await measureOnce(pair, accounts));
  }
  return measured;
}

async function measureOnce(pair: Pair, accounts: readonly string[]): Promise<Measured> {
  const processor = process.cpuUsage();
  const begun = performance.now();
  const pairs = await runFor(MEASURE_MS, pair, accounts);
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(processor);
  return { pairsPerSecond: pairs / seconds, nodeMicrosPerPair: (user + system) / pairs };
}

async function runFor(durationMs: number, pair: Pair, accounts: readonly string[]): Promise<number> {
  const end = performance.now() + durationMs;
  let pairs = 0;
  const caller = async () => {
    while (performance.now() < end) {
      const accountId = accounts[pairs++ % accounts.length] ?? '';
      await pair(newReservation(accountId));
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return pairs;
}

function newReservation(accountId: string): NewReservation {
  const id = randomUUIDv7();
  return {
    id,
    accountId,
    keyId: keyOf(accountId),
    amount: RESERVED,
    requestId: `req_${id}`,
    jobId: undefined,
    model: 'studio/chat-large',
    endpoint: 'chat',
    price: PRICE,
  };
}

function keyOf(accountId: string): string {
  return accountId.replace('acct', 'key');
}

async function openAccounts(db: Db): Promise<readonly string[]> {
  await migrate(db, () => undefined);
  const accounts = Array.from({ length: ACCOUNTS }, (_, place) => `acct_${String(place).padStart(24, '0')}`);
  const now = systemClock.now();
  const rest = { amount: 10n ** 15n, source: 'bench', reference: undefined, expiresAt: undefined, now };
  for (const accountId of accounts) {
    await db.run(
      `insert into accounts (id, name, groups, created_at, updated_at) values ($1, $1, '{default}', $2, $2)`,
      [accountId, now],
    );
    await db.run(
      `insert into api_keys (id, account_id, name, digest, prefix, credit_limit, credit_limit_reset, created_at)
       values ($1, $2, $1, sha256(convert_to($1, 'UTF8')), 'bnch', 1000000000000000, 'month', $3)`,
      [keyOf(accountId), accountId, now],
    );
    await db.transaction((tx) => grant(tx, { accountId, ...rest }));
  }
  return accounts;
}

/** Half a million settled calls of the past, written as the ledger itself would have, but in bulk. */
async function addHistory(db: Db): Promise<void> {
  const pairsPerAccount = OLD_ENTRIES / 2 / ACCOUNTS;
  const accounts = await db.rows<{ account_id: string }>('select account_id from balances order by account_id');
  for (const { account_id } of accounts) {
    await db.transaction(async (tx) => {
      await tx.run(OLD_RESERVATIONS, [account_id, keyOf(account_id), pairsPerAccount, PRICE]);
      await tx.run(OLD_ENTRIES_OF_ACCOUNT, [account_id, UNITS]);
    });
  }
}

/** On a connection without a statement timeout: a busy disk takes longer than a request may. */
async function vacuum(address: ClientConfig): Promise<void> {
  const client = new Client(address);
  await client.connect();
  await client.query('vacuum analyze');
  await client.query('checkpoint');
  await client.end();
}

const OLD_RESERVATIONS = `
  with known as (
    insert into prices values (md5($4)::uuid, $4::json) on conflict do nothing
  )
  insert into reservations (id, amount, created_at, account_id, key_id, grant_ids, parts, request_id, model, endpoint,
    price_id)
  select uuidv7(interval '-1 day'), 1000, updated_at, account_id, $2, array(select id from grants where account_id = $1),
    '{1000}', 'req_old' || pair, 'studio/chat-large', 'chat', md5($4)::uuid
  from balances, generate_series(1, $3::int) as pair where account_id = $1`;

const OLD_ENTRIES_OF_ACCOUNT = `
  insert into ledger_entries (account_id, number, type, granted, available, reserved, charged, lapsed, balance,
    created_at, reservation_id, grant_ids, parts, units)
  select account_id, entries + 2 * pair - 1 + step,
    case step when 0 then 'reserve' else 'settle' end, 0,
    case step when 0 then -1000 else 300 end,
    case step when 0 then 1000 else -1000 end,
    case step when 0 then 0 else 700 end, 0,
    available - 700 * (pair - 1) - case step when 0 then 1000 else 700 end,
    updated_at, id, grant_ids, case step when 0 then '{-1000}'::bigint[] else '{300}' end,
    case step when 1 then $2::json end
  from (
    select r.account_id, entries, available, updated_at, id, grant_ids, row_number() over (order by id) as pair
    from reservations r join balances using (account_id)
    where r.account_id = $1 and request_id like 'req_old%'
  ) as old cross join (values (0), (1)) as steps (step)`;
