import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { creditsToText, type MicroCredits } from '../credits.ts';
import { type CsvColumns, csvHead, csvRows } from '../csv.ts';
import type { Db } from '../db/index.ts';
import { DB_LONG_STATEMENT_MS, EXPORT_ENTRIES_PER_READ, EXPORT_ROWS_PER_READ } from '../limits.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface EntriesOfDay {
  /** Called with the number of entries of each piece, before it is handed on. */
  readonly onPiece?: (entries: number) => void | Promise<void>;
}

/**
 * A day's entries as pieces of a CSV file, in the order of time, then account and number. Each hour is cut into equal times
 * with about a thousand entries each, and where more have the same time they are read in pages by their keys: a statement
 * reads a little, whatever the day had, and no transaction is held open.
 */
export async function* entriesOfDay(db: Db, day: string, { onPiece }: EntriesOfDay = {}): AsyncGenerator<string> {
  yield csvHead(COLUMNS);
  for (const [from, upto, entries] of await hoursOf(db, day)) {
    const cuts = Math.ceil(entries / EXPORT_ROWS_PER_READ);
    for (let cut = 0; cut < cuts; cut++) {
      const at = (place: number) => new Date(Math.round(from + ((upto - from) * place) / cuts));
      for await (const rows of pagesBetween(db, at(cut), at(cut + 1))) {
        await onPiece?.(rows.length);
        yield csvRows(COLUMNS, rows);
      }
    }
  }
}

async function* pagesBetween(db: Db, from: Date, upto: Date): AsyncGenerator<readonly Row[]> {
  for (let last: Row | undefined, isMore = true; isMore; ) {
    const rows: readonly Row[] = await readLong<Row>(db, ENTRIES, [from, upto, last?.accountId, last?.number]);
    yield rows;
    last = rows.at(-1);
    isMore = rows.length === EXPORT_ENTRIES_PER_READ;
  }
}

/** An hour of a large deployment, from a cold disk, takes longer than a statement of a call may. */
function readLong<Found>(db: Db, statement: string, values: readonly unknown[]): Promise<readonly Found[]> {
  return db.transaction(async (tx) => {
    await tx.limitStatements(DB_LONG_STATEMENT_MS);
    return tx.rows<Found>(statement, values);
  });
}

/** How many entries a day has now. */
export async function countEntries(db: Db, day: string): Promise<number> {
  return (await hoursOf(db, day)).reduce((sum, [, , entries]) => sum + entries, 0);
}

type Hour = readonly [fromMs: number, uptoMs: number, entries: number];

async function hoursOf(db: Db, day: string): Promise<readonly Hour[]> {
  const dayMs = Date.parse(`${day}T00:00:00Z`);
  const hours: Hour[] = [];
  for (let from = dayMs; from < dayMs + DAY_MS; from += HOUR_MS) {
    const upto = from + HOUR_MS;
    const [row] = await readLong<{ entries: number }>(db, COUNT, [new Date(from), new Date(upto)]);
    hours.push([from, upto, row?.entries ?? 0]);
  }
  return hours;
}

/** Compressed. What the text or its reader throws ends both. */
export async function* gzipped(text: AsyncIterable<string>): AsyncGenerator<Buffer> {
  const gzip = createGzip();
  const feeding = pipeline(text, gzip);
  // The loop below throws the same.
  feeding.catch(() => undefined);
  for await (const piece of gzip) yield piece as Buffer;
  await feeding;
}

interface Row {
  readonly createdAt: Date;
  readonly accountId: string;
  readonly number: bigint;
  readonly type: string;
  readonly granted: MicroCredits;
  readonly available: MicroCredits;
  readonly reserved: MicroCredits;
  readonly charged: MicroCredits;
  readonly lapsed: MicroCredits;
  readonly balance: MicroCredits;
  readonly reservationId: string | null;
  readonly keyId: string | null;
  readonly requestId: string | null;
  readonly jobId: string | null;
  readonly model: string | null;
  readonly endpoint: string | null;
  readonly units: object | null;
  readonly grantIds: readonly string[];
  /** Micro-credits; the driver reads numbers in a list as texts. */
  readonly parts: readonly string[];
}

/** Only added to: files of different days are read together. */
const COLUMNS: CsvColumns<Row> = [
  ['created_at', ({ createdAt }) => createdAt.toISOString()],
  ['account_id', ({ accountId }) => accountId],
  ['number', ({ number }) => String(number)],
  ['type', ({ type }) => type],
  ['granted', ({ granted }) => granted],
  ['available', ({ available }) => available],
  ['reserved', ({ reserved }) => reserved],
  ['charged', ({ charged }) => charged],
  ['lapsed', ({ lapsed }) => lapsed],
  ['balance', ({ balance }) => balance],
  ['reservation_id', ({ reservationId }) => reservationId],
  ['key_id', ({ keyId }) => keyId],
  ['request_id', ({ requestId }) => requestId],
  ['job_id', ({ jobId }) => jobId],
  ['model', ({ model }) => model],
  ['endpoint', ({ endpoint }) => endpoint],
  ['units', ({ units }) => (units === null ? null : JSON.stringify(units))],
  // Each with what it was given or, below zero, what was taken from it: `grant_…:-0.0125`.
  ['grants', ({ grantIds, parts }) => grantIds.map((id, place) => `${id}:${partText(parts[place])}`).join(' ')],
];

function partText(part: string | undefined): string {
  return creditsToText(BigInt(part ?? 0));
}

const COUNT = 'select count(*)::float8 as entries from ledger_entries where created_at >= $1 and created_at < $2';

/**
 * Between the times `$1` and `$2`, behind the entry of the account `$3` with the number `$4`. With `offset 0` each reservation is
 * looked up: joined plainly, all of a small table would be read for every statement.
 */
const ENTRIES = `
  select e.created_at as "createdAt", e.account_id as "accountId", e.number, e.type, e.granted, e.available, e.reserved,
    e.charged, e.lapsed, e.balance, e.reservation_id as "reservationId", r.key_id as "keyId", r.request_id as "requestId",
    r.job_id as "jobId", r.model, r.endpoint, e.units, e.grant_ids as "grantIds", e.parts
  from (
    select * from ledger_entries
    where created_at >= $1 and created_at < $2 and ($3::text is null or (created_at, account_id, number) > (
      select created_at, account_id, number from ledger_entries where account_id = $3 and number = $4::bigint))
    order by created_at, account_id, number limit ${EXPORT_ENTRIES_PER_READ}
  ) as e
  left join lateral (select * from reservations where id = e.reservation_id offset 0) as r on true
  order by e.created_at, e.account_id, e.number`;
