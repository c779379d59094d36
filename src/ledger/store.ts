import type { MicroCredits } from '../credits.ts';
import type { Queries } from '../db/index.ts';

/** `price` and `units` are JSON texts: they are written as they are and the same one serves many calls. */
export interface NewReservation {
  /** A version 7 UUID made by the caller; a repeat under the same id gets the same answer. */
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string | undefined;
  readonly amount: MicroCredits;
  readonly requestId: string;
  readonly jobId: string | undefined;
  readonly model: string;
  readonly endpoint: string;
  readonly price: string;
}

/** `actual` undefined refunds. */
export interface NewEnding {
  readonly id: string;
  /** For a reservation that only the journal may know of yet. */
  readonly accountId?: string;
  readonly actual: MicroCredits | undefined;
  readonly units: string | undefined;
}

/** Which process answers for a reservation, and until when it need not prove that it lives. */
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

/** Entries with smaller numbers than `before`, newest first. */
export function selectEntries(
  queries: Queries,
  accountId: string,
  before: bigint | undefined,
  limit: number,
): Promise<readonly EntryRow[]> {
  return queries.rows<EntryRow>(
    `select number, type, available, e.charged, balance, e.created_at, e.grant_ids,
       key_id, request_id, job_id, model, endpoint
     from ledger_entries e left join reservations r on r.id = e.reservation_id
     where e.account_id = $1 and number < $2
     order by number desc limit $3`,
    [accountId, before ?? BIGINT_MAX, limit],
  );
}

/** What has expired by now counts as lapsed, whether or not its entry has been written. */
export async function selectBalance(queries: Queries, accountId: string, now: Date): Promise<Balance | undefined> {
  const [row] = await queries.rows<Balance>(
    `select granted, available - expired as available, reserved, charged, lapsed + expired as lapsed,
       updated_at as "updatedAt"
     from balances cross join lateral (
       select coalesce(sum(remaining), 0)::bigint as expired from grants
       where account_id = $1 and spendable and expires_at <= greatest($2, updated_at)
     ) as waiting
     where account_id = $1`,
    [accountId, now],
  );
  return row;
}

/** Late is what a purse has admitted that is gone: never refused, what is left is held. */
export type AskedReservation = NewReservation & { readonly isLate?: boolean };

/** 'skip' leaves members of locked accounts undone, 'brief' fails soon when an account is locked, 'wait' waits. */
export type Patience = 'skip' | 'brief' | 'wait';

export interface LedgerRun {
  readonly now: Date;
  readonly patience: Patience;
  readonly endings: readonly NewEnding[];
  /** In the order of their accounts; within one account first come, first served. */
  readonly reservations: readonly AskedReservation[];
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

export interface LedgerAnswers {
  readonly ended: readonly EndAnswer[];
  readonly reserved: readonly ReserveAnswer[];
}

/**
 * Ends and reserves in one round trip; one transaction of its own when `queries` is a Db. Answers stand in the order of
 * the members. Columns go as arrays, which the server reads faster than anything row by row.
 */
export async function runLedger(queries: Queries, run: LedgerRun): Promise<LedgerAnswers> {
  const { endings, reservations } = run;
  const [row] = await queries.rows<{ answers: [EndAnswer[] | null, ReserveAnswer[] | null] }>(RUN, [
    run.now,
    run.patience,
    arrayText(endings, (ending) => ending.id),
    arrayText(endings, (ending) => ending.accountId),
    arrayText(endings, (ending) => ending.actual),
    arrayText(endings, (ending) => ending.units),
    arrayText(reservations, (reservation) => reservation.id),
    arrayText(reservations, (reservation) => reservation.accountId),
    arrayText(reservations, (reservation) => reservation.keyId),
    arrayText(reservations, (reservation) => reservation.amount),
    arrayText(reservations, (reservation) => reservation.requestId),
    arrayText(reservations, (reservation) => reservation.jobId),
    arrayText(reservations, (reservation) => reservation.model),
    arrayText(reservations, (reservation) => reservation.endpoint),
    arrayText(reservations, (reservation) => reservation.price),
    arrayText(reservations, (reservation) => String(reservation.isLate === true)),
    run.lease?.owner,
    run.lease?.until,
  ]);
  return { ended: row?.answers[0] ?? [], reserved: row?.answers[1] ?? [] };
}

const RUN = `select ledger_run($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) as answers`;

/**
 * A column of all members as PostgreSQL writes an array. The driver would do it too, but this is on every call's path:
 * neighbours often have the same model and price, and then nothing is escaped twice.
 */
function arrayText<Member>(
  members: readonly Member[],
  column: (member: Member) => string | bigint | undefined,
): string {
  let text = '{';
  let previous: string | bigint | undefined;
  let quoted = 'NULL';
  for (const member of members) {
    const value = column(member);
    if (value !== previous) {
      previous = value;
      quoted = value === undefined ? 'NULL' : quote(value);
    }
    text += text === '{' ? quoted : `,${quoted}`;
  }
  return `${text}}`;
}

function quote(value: string | bigint): string {
  if (typeof value === 'bigint') return String(value);
  return `"${/["\\]/.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`;
}

/** In the order of their ids, so that no two can wait for each other. */
export async function lockBalances(queries: Queries, accountIds: readonly string[]): Promise<void> {
  await queries.rows(`select ledger_lock($1, 'wait')`, [accountIds]);
}

/** What is owed even if the caller's process dies now; it only grows, and only while the reservation is open. */
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
     from open_reservations held left join reservation_owners owner on process_id = held.owner
     where held.lease_until <= $1 and coalesce(owner.lease_until <= $1, true)
     order by held.lease_until limit $2`,
    [now, limit],
  );
}

/** Processes that are long gone and answer for nothing. */
export function deleteOwners(queries: Queries, before: Date): Promise<number> {
  return queries.run('delete from reservation_owners where lease_until < $1', [before]);
}

/** Moves what expired grants of up to `accountsMax` accounts still hold; tells how many accounts it did. */
export async function lapseSome(queries: Queries, now: Date, accountsMax: number): Promise<number> {
  const [row] = await queries.rows<{ accounts: number }>('select ledger_lapse_some($1, $2) as accounts', [
    now,
    accountsMax,
  ]);
  return row?.accounts ?? 0;
}
