import type { BillingDeps } from '../../src/billing/index.ts';
import type { Clock } from '../../src/clock.ts';
import type { Db } from '../../src/db/index.ts';
import { newId } from '../../src/ids.ts';
import { CallLedger } from '../../src/ledger/index.ts';
import { Evidence } from './evidence.ts';
import { Line } from './line.ts';
import { type Account, newAccount } from './model.ts';
import { PROCESSES, type Scenario } from './scenario.ts';
import { type Sold, type Tariff, tariffOf } from './tariff.ts';
import type { Hold, Verbs } from './verbs.ts';

/** One simulated gateway process: its own clock, its own group commit, its own line to the shared database. */
export interface Process {
  readonly id: string;
  readonly line: Line;
  readonly deps: BillingDeps;
  skewMs: number;
  dead: boolean;
}

/** One seed's accounts and keys in the database, the processes that use them, and the model beside them. */
export interface World {
  readonly db: Db;
  readonly verbs: Verbs;
  readonly scenario: Scenario;
  /** Keeps ids apart from those of other worlds in the same database. */
  readonly tag: string;
  readonly evidence: Evidence;
  readonly processes: Process[];
  readonly time: { nowMs: number };
  readonly tariffs: Record<Sold, Tariff>;
  readonly holds: Map<string, Hold>;
  readonly known: Map<string, bigint>;
  /** Holds that a move of the running step is about. */
  readonly pending: Set<string>;
  readonly references: Set<string>;
  /** The model, by account id, and until when each process has said that it lives. */
  readonly accounts: Map<string, Account>;
  readonly owners: Map<string, number>;
}

const RATES: Record<Sold, readonly [number, number]> = { image: [1_000_000, 0], chat: [1_234_567, 4_567_891] };

export async function openWorld(db: Db, verbs: Verbs, scenario: Scenario): Promise<World> {
  const tag = newId('acct').slice(5, 15);
  const accountIds = Array.from({ length: scenario.accounts }, (_, account) => accountId(tag, account));
  const time = { nowMs: scenario.startMs };
  const world: World = {
    ...{
      db,
      verbs,
      scenario,
      tag,
      time,
      processes: [],
      holds: new Map(),
      known: new Map(),
      pending: new Set(),
      references: new Set(),
    },
    evidence: new Evidence(accountIds),
    tariffs: { image: tariffOf('image', RATES.image), chat: tariffOf('chat', RATES.chat) },
    accounts: new Map(accountIds.map((id) => [id, newAccount(time.nowMs)])),
    owners: new Map(),
  };
  for (let place = 0; place < PROCESSES; place++) startProcess(world, place);
  await insertRows(world);
  for (const [place, { account, limit, reset }] of scenario.keys.entries()) {
    const key = { limit: limit === undefined ? undefined : BigInt(limit), reset, charges: [] };
    world.accounts.get(accountId(tag, account))?.keys.set(`k${place}`, key);
  }
  return world;
}

/** Replaces the process that was there. */
export function startProcess(world: World, place: number): void {
  const id = newId('proc');
  const line = new Line(world.db);
  const nowMs = () => world.time.nowMs + process.skewMs;
  const clock: Clock = { nowMs, now: () => new Date(nowMs()) };
  const callLedger = new CallLedger({ db: line, clock, processId: id });
  const process: Process = { id, line, deps: { db: line, clock, callLedger }, skewMs: 0, dead: false };
  world.processes[place] = process;
}

export function accountId(tag: string, account: number): string {
  return `acct_${tag}_a${account}`;
}

/** Every second one is no key but an app's grant, which is to be counted and limited in the same way. */
export function keyId(tag: string, key: number): string {
  return `${key % 2 === 0 ? 'key' : 'oag'}_${tag}_k${key}`;
}

async function insertRows({ db, tag, scenario, evidence, time }: World): Promise<void> {
  const now = new Date(time.nowMs);
  await db.run(
    `insert into accounts (id, name, groups, created_at, updated_at)
     select id, 'simulated', '{default}', $2, $2 from unnest($1::text[]) as id`,
    [evidence.accountIds, now],
  );
  const keys = scenario.keys;
  await db.run(
    `with asked as (
       select *, id like 'oag%' as is_app
       from unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) as k (id, account_id, credit_limit, reset)
     ), apps as (
       insert into oauth_clients (id, name, redirect_uris, scopes, created_at)
       select id, 'simulated', '{simulated}', '{simulated}', $5 from asked where is_app
     ), persons as (
       insert into people (id, email, name, created_at)
       select id, id || '@example.com', 'simulated', $5 from asked where is_app
     ), app_grants as (
       insert into oauth_grants (id, client_id, account_id, person_id, scopes, credit_limit, credit_limit_reset, created_at,
         updated_at)
       select id, id, account_id, id, '{simulated}', credit_limit, reset, $5, $5 from asked where is_app
     )
     insert into api_keys (id, account_id, name, digest, prefix, credit_limit, credit_limit_reset, created_at)
     select id, account_id, 'simulated', sha256(convert_to(id, 'UTF8')), 'simu', credit_limit, reset, $5
     from asked where not is_app`,
    [
      keys.map((_, place) => keyId(tag, place)),
      keys.map((key) => accountId(tag, key.account)),
      keys.map((key) => key.limit ?? null),
      keys.map((key) => key.reset ?? null),
      now,
    ],
  );
}
