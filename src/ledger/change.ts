import { hash } from 'node:crypto';
import type { MicroCredits } from '../credits.ts';

/** `price` is a JSON text: it is stored as it is, and the same one serves many calls. */
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

/** `actual` undefined refunds; `units` is a JSON text. */
export interface NewEnding {
  readonly id: string;
  /** For a reservation that may stand in the journal only. */
  readonly accountId?: string;
  readonly actual: MicroCredits | undefined;
  readonly units: string | undefined;
}

/**
 * One change of a reservation. A late one was admitted from a purse that has been deleted since: it is never refused, and
 * what is left of the account is reserved.
 */
export type Change =
  | ({ readonly kind: 'reserve'; readonly isLate?: boolean } & NewReservation)
  | ({ readonly kind: 'end' } & NewEnding);

/** When a change that goes into the journal was made, and until when its lease lasts. */
export interface JournalTimes {
  readonly atMs: number;
  readonly leaseMs?: number;
}

/** Characters that JSON can escape and a text of PostgreSQL cannot hold: NUL and lone surrogates. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i;

/**
 * A change as the SQL type `ledger_change` reads it. `units` is a JSON text already, and is not parsed again on the path of
 * every call. Of the price it has the id: see pricesJson. Throws a RangeError for a text that PostgreSQL cannot store.
 */
export function changeJson(change: Change, times?: JournalTimes): string {
  const fields = change.kind === 'reserve' ? reserveFields(change, times) : endFields(change, times);
  const json = JSON.stringify(fields);
  if (UNSTORABLE.test(json)) throw new RangeError(`Reservation ${change.id} has a text that cannot be stored.`);
  if (change.kind === 'reserve') return json;
  return change.units === undefined ? json : `${json.slice(0, -1)},"units":${change.units}}`;
}

function reserveFields(change: Change & { kind: 'reserve' }, times: JournalTimes | undefined): object {
  return {
    kind: 'reserve',
    id: change.id,
    account_id: change.accountId,
    amount: Number(change.amount),
    at_ms: times?.atMs,
    lease_ms: times?.leaseMs,
    key_id: change.keyId,
    request_id: change.requestId,
    job_id: change.jobId,
    model: change.model,
    endpoint: change.endpoint,
    price_id: priceIdOf(change.price),
    late: change.isLate,
  };
}

/** The frozen price of each reservation in a list of changes, as JSON: an object of each text by its id. */
export function pricesJson(prices: Iterable<string>): string {
  return `{${Array.from(new Set(prices), (price) => `"${priceIdOf(price)}":${price}`).join(',')}}`;
}

/** A configuration has a few prices, and each serves many calls. */
const PRICE_IDS_CACHED_MAX = 1_000;
const priceIds = new Map<string, string>();

/** Half of a SHA-256 digest of the text, written as a UUID, which the database stores in 16 bytes. */
function priceIdOf(price: string): string {
  let id = priceIds.get(price);
  if (id === undefined) {
    id = hash('sha256', price).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
    if (priceIds.size >= PRICE_IDS_CACHED_MAX) priceIds.clear();
    priceIds.set(price, id);
  }
  return id;
}

function endFields({ id, accountId, actual }: Change & { kind: 'end' }, times: JournalTimes | undefined): object {
  const kind = actual === undefined ? 'refund' : 'settle';
  return { kind, id, account_id: accountId, amount: Number(actual ?? 0n), at_ms: times?.atMs };
}
