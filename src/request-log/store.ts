import { type Db, isUniqueViolation } from '../db/index.ts';
import { firstUuidAt } from '../ids.ts';
import type { RequestLine } from './line.ts';

/** A line, and how many requests its row stands for. */
export interface CountedLine {
  readonly line: RequestLine;
  readonly requests: number;
}

/** May be repeated: a row that is there is only counted up. */
export async function upsertLines(db: Db, lines: readonly CountedLine[]): Promise<void> {
  await db.run(UPSERT, columnsOf(lines));
}

/** The same for lines that are new, unless the answer to an earlier try was lost: looking for conflicts costs a fourth more. */
export async function insertLines(db: Db, lines: readonly CountedLine[]): Promise<void> {
  const columns = columnsOf(lines);
  try {
    await db.run(INSERT, columns);
  } catch (error) {
    if (!isUniqueViolation(error, 'request_log_pkey')) throw error;
    await db.run(UPSERT, columns);
  }
}

/** In the order of the statement: an array for each column, which the database reads faster than a list of objects. */
function columnsOf(counted: readonly CountedLine[]): readonly (readonly unknown[])[] {
  const lines = counted.map(({ line }) => line);
  return [
    lines.map(({ id }) => id),
    lines.map(({ createdAt }) => createdAt.toISOString()),
    lines.map(({ accountId }) => accountId),
    lines.map(({ keyId }) => keyId),
    lines.map(({ personId }) => personId),
    lines.map(({ requestId }) => requestId),
    lines.map(({ endpoint }) => endpoint),
    lines.map(({ model }) => model),
    lines.map(({ status }) => status),
    lines.map(({ errorCode }) => errorCode),
    lines.map(({ durationMs }) => durationMs),
    lines.map(({ isStreamed }) => isStreamed),
    lines.map(({ upstreamId }) => upstreamId),
    lines.map(({ reservationId }) => reservationId),
    lines.map(({ jobId }) => jobId),
    lines.map(({ cost }) => cost),
    counted.map(({ requests }) => requests),
  ];
}

const INSERT = `insert into request_log (id, created_at, account_id, key_id, person_id, request_id, endpoint, model, status,
    error_code, duration_ms, streamed, upstream_id, reservation_id, job_id, cost, requests)
  select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
    $9::smallint[], $10::text[], $11::integer[], $12::boolean[], $13::text[], $14::uuid[], $15::text[], $16::bigint[],
    $17::integer[])`;

const UPSERT = `${INSERT}
  on conflict (id) do update set requests = excluded.requests where request_log.requests < excluded.requests`;

const DAY_MS = 24 * 60 * 60 * 1000;
/** Rows that one statement deletes, so that none is long. */
const FORGOTTEN_PER_STATEMENT = 5_000;
/** In one call: what is left then is deleted by the next. */
const STATEMENTS_MAX = 200;

/**
 * Deletes the rows that are older than so many days. May run in several processes at once. Each statement deletes a range of
 * ids from the front: a list of ids would cost eight times as much.
 */
export async function forgetRequests(db: Db, now: Date, days: number): Promise<void> {
  const oldest = firstUuidAt(now.getTime() - days * DAY_MS);
  for (let statement = 0; statement < STATEMENTS_MAX; statement++) {
    const deleted = await db.run(
      `delete from request_log where id < coalesce(
         (select id from request_log where id < $1 order by id offset $2 limit 1), $1)`,
      [oldest, FORGOTTEN_PER_STATEMENT],
    );
    if (deleted < FORGOTTEN_PER_STATEMENT) return;
  }
}
