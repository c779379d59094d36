import type { Db } from '../db/index.ts';
import { firstUuidAt } from '../ids.ts';
import type { RequestLine } from './line.ts';

/** A line, and how many requests its row stands for. */
export interface CountedLine {
  readonly line: RequestLine;
  readonly requests: number;
}

/** May be repeated: a row that is there is only counted up. */
export async function insertLines(db: Db, lines: readonly CountedLine[]): Promise<void> {
  const rows = lines.map(({ line, requests }) => ({ ...line, cost: line.cost?.toString(), requests }));
  await db.run(INSERT, [JSON.stringify(rows)]);
}

const INSERT = `insert into request_log (id, created_at, account_id, key_id, person_id, request_id, endpoint, model, status,
    error_code, duration_ms, streamed, upstream_id, reservation_id, job_id, cost, requests)
  select id, "createdAt", "accountId", "keyId", "personId", "requestId", endpoint, model, status, "errorCode", "durationMs",
    "isStreamed", "upstreamId", "reservationId", "jobId", cost, requests
  from json_to_recordset($1) as line (id uuid, "createdAt" timestamptz, "accountId" text, "keyId" text, "personId" text,
    "requestId" text, endpoint text, model text, status smallint, "errorCode" text, "durationMs" integer,
    "isStreamed" boolean, "upstreamId" text, "reservationId" uuid, "jobId" text, cost bigint, requests integer)
  on conflict (id) do update set requests = excluded.requests where request_log.requests < excluded.requests`;

const DAY_MS = 24 * 60 * 60 * 1000;
/** Rows that one statement deletes, so that none is long. */
const FORGOTTEN_PER_STATEMENT = 5_000;
/** In one call: what is left then is deleted by the next. */
const STATEMENTS_MAX = 200;

/** Deletes the rows that are older than so many days. May run in several processes at once. */
export async function forgetRequests(db: Db, now: Date, days: number): Promise<void> {
  const oldest = firstUuidAt(now.getTime() - days * DAY_MS);
  for (let statement = 0; statement < STATEMENTS_MAX; statement++) {
    const deleted = await db.run(
      'delete from request_log where id in (select id from request_log where id < $1 order by id limit $2)',
      [oldest, FORGOTTEN_PER_STATEMENT],
    );
    if (deleted < FORGOTTEN_PER_STATEMENT) return;
  }
}
