import type { MicroCredits } from '../credits.ts';
import type { Queries } from '../db/index.ts';
import type { JsonObject } from '../json.ts';
import { type Change, changeJson, pricesJson } from './change.ts';

/** Which process owns a reservation, and until when without extending its lease. */
export interface Lease {
  readonly owner: string;
  readonly until: Date;
}

export interface EntryRow {
  readonly number: bigint;
  readonly type: EntryType;
  readonly available: MicroCredits;
  readonly charged: MicroCredits;
  readonly balance: MicroCredits;
  readonly created_at: Date;
  readonly grant_ids: readonly string[];
  readonly key_id: string | null;
  readonly request_id: string | null;
  readonly job_id: string | null;
  readonly model: string | null;
  readonly endpoint: string | null;
  readonly units: JsonObject | null;
}

export type EntryType = 'grant' | 'revoke' | 'reserve' | 'settle' | 'refund' | 'charge' | 'cover' | 'lapse';

export interface Balance {
  readonly granted: MicroCredits;
  /** Below zero by the debt that charges above their reservation have left. */
  readonly available: MicroCredits;
  readonly reserved: MicroCredits;
  readonly charged: MicroCredits;
  readonly lapsed: MicroCredits;
  readonly updatedAt: Date;
}

export interface Page {
  readonly limit: number;
  /** The id of the last row of the page before. */
  readonly after: string | undefined;
}

const BIGINT_MAX = 9_223_372_036_854_775_807n;

/** Which entries of an account are meant. */
export interface EntryRange {
  readonly since?: Date | undefined;
  /** Not included. */
  readonly until?: Date | undefined;
}

/** Entries with smaller numbers than `before`, newest first. */
export function selectEntries(
  queries: Queries,
  accountId: string,
  { before, since, until, limit }: EntryRange & { readonly before: bigint | undefined; readonly limit: number },
): Promise<readonly EntryRow[]> {
  return queries.rows<EntryRow>(
    `${SELECT_ENTRIES} where e.account_id = $1 and number < $2 and ($3::timestamptz is null or e.created_at >= $3)
       and ($4::timestamptz is null or e.created_at < $4)
     order by number desc limit $5`,
    [accountId, before ?? BIGINT_MAX, since, until, limit],
  );
}

/** All entries of one reservation, newest first. */
export function selectEntriesOf(
  queries: Queries,
  accountId: string,
  reservationId: string,
): Promise<readonly EntryRow[]> {
  return queries.rows<EntryRow>(
    `${SELECT_ENTRIES} where e.account_id = $1 and e.reservation_id = $2 order by number desc`,
    [accountId, reservationId],
  );
}

const SELECT_ENTRIES = `select number, type, available, e.charged, balance, e.created_at, e.grant_ids, e.units,
    key_id, request_id, job_id, model, endpoint
  from ledger_entries e left join reservations r on r.id = e.reservation_id`;

/** What has expired by now counts as lapsed, whether or not its entry has been written. */
export async function selectBalance(queries: Queries, accountId: string, now: Date): Promise<Balance | undefined> {
  const [row] = await queries.rows<Balance>(
    `select granted, available - expired as available, reserved, charged, lapsed + expired as lapsed,
       updated_at as "updatedAt"
     from balances cross join lateral (
       select coalesce(sum(remaining), 0)::bigint as expired from grants
       where account_id = $1 and spendable and expires_at <= greatest($2, updated_at)
     ) as unlapsed
     where account_id = $1`,
    [accountId, now],
  );
  return row;
}

/** Whether a locked account's changes are left out, as 'busy', or wait for the lock. */
export type LockMode = 'skip' | 'wait';

export interface LedgerCommit {
  readonly now: Date;
  readonly lockMode: LockMode;
  /** Within one account first come, first served. */
  readonly changes: readonly Change[];
  readonly lease: Lease | undefined;
}

/** The split as grant ids and amounts, or why there is none. */
export type ReserveAnswer =
  | [string[], number[]]
  | { readonly reason: 'balance' | 'key_limit'; readonly left: number }
  | 'busy'
  | 'unknown'
  | 'conflict';
/** How the reservation has ended and what was charged, or why it has not. */
export type EndAnswer = ['settled' | 'refunded', number] | 'busy' | 'unknown';
export type Answer = ReserveAnswer | EndAnswer;

/** Makes all changes in one round trip, and one transaction when `queries` is a Db. Answers each at its index. */
export async function commitChanges(queries: Queries, commit: LedgerCommit): Promise<readonly Answer[]> {
  const { now, lockMode, changes, lease } = commit;
  if (changes.length === 0) return [];
  const prices = changes.flatMap((change) => (change.kind === 'reserve' ? [change.price] : []));
  const list = `[${changes.map((change) => changeJson(change)).join(',')}]`;
  const [row] = await queries.rows<{ answers: readonly Answer[] }>(
    'select ledger_commit($1, $2, $3, $4, $5, $6) as answers',
    [now, lockMode, list, pricesJson(prices), lease?.owner, lease?.until],
  );
  return row?.answers ?? [];
}

/** In the order of their ids, which excludes deadlocks. */
export async function lockBalances(queries: Queries, accountIds: readonly string[]): Promise<void> {
  await queries.rows(`select ledger_lock($1, 'wait')`, [accountIds]);
}

/** What is owed even if the owning process dies now; it only grows, and only while the reservation is open. */
export function updateKnown(queries: Queries, reservationId: string, known: MicroCredits): Promise<number> {
  return queries.run('update open_reservations set known = $2 where reservation_id = $1 and known < $2', [
    reservationId,
    known,
  ]);
}

export function upsertOwner(queries: Queries, lease: Lease): Promise<number> {
  return queries.run(
    `insert into reservation_owners as owner (process_id, lease_until) values ($1, $2)
     on conflict (process_id) do update set lease_until = greatest(owner.lease_until, excluded.lease_until)`,
    [lease.owner, lease.until],
  );
}

export interface Abandoned {
  readonly id: string;
  readonly known: MicroCredits;
}

export function selectAbandoned(queries: Queries, now: Date, limit: number): Promise<readonly Abandoned[]> {
  return queries.rows<Abandoned>(
    `select reservation_id as id, known
     from open_reservations open left join reservation_owners owner on process_id = open.owner
     where open.lease_until <= $1 and coalesce(owner.lease_until <= $1, true)
     order by open.lease_until limit $2`,
    [now, limit],
  );
}

/** Processes that are long gone and own nothing. */
export function deleteOwners(queries: Queries, before: Date): Promise<number> {
  return queries.run('delete from reservation_owners where lease_until < $1', [before]);
}

/** Moves what expired grants of up to `accountsMax` accounts still hold; returns how many accounts it did. */
export async function lapseSome(queries: Queries, now: Date, accountsMax: number): Promise<number> {
  const [row] = await queries.rows<{ accounts: number }>('select ledger_lapse_some($1, $2) as accounts', [
    now,
    accountsMax,
  ]);
  return row?.accounts ?? 0;
}
