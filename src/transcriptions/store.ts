import type { MicroCredits } from '../credits.ts';
import { announce, type Db, type Queries, type Tx } from '../db/index.ts';
import type { ErrorCode } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { Fenced } from '../leased/index.ts';
import type { Transcript } from '../vendors/index.ts';
import {
  type LeasedRecord,
  type ListedTranscription,
  settlementsBefore,
  statusesBefore,
  type TranscriptionRecord,
  type Wanted,
} from './record.ts';

/** A record as it is admitted. */
export interface NewRecord
  extends Pick<LeasedRecord, 'id' | 'wanted' | 'objectKey' | 'seconds' | 'reservationId' | 'createdAt'> {
  readonly accountId: string;
  /** An API key or a grant to an app; undefined is the console. */
  readonly keyId: string | undefined;
  readonly model: string;
  readonly expiresAt: Date | null;
}

export interface Lease {
  readonly owner: string;
  readonly until: Date;
}

export async function insertRecords(tx: Tx, records: readonly NewRecord[], lease: Lease): Promise<void> {
  await tx.run(
    `insert into transcriptions (id, account_id, key_id, model, request, object_key, seconds, reservation_id, created_at,
       expires_at, status, settlement_state, owner, lease_until)
     select record.*, 'pending', 'pending', $11, $12
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::json[], $6::text[], $7::float8[], $8::uuid[],
       $9::timestamptz[], $10::timestamptz[]) as record`,
    [
      records.map((record) => record.id),
      records.map((record) => record.accountId),
      records.map((record) => record.keyId ?? null),
      records.map((record) => record.model),
      records.map((record) => JSON.stringify(record.wanted)),
      records.map((record) => record.objectKey),
      records.map((record) => record.seconds),
      records.map((record) => record.reservationId),
      records.map((record) => record.createdAt),
      records.map((record) => record.expiresAt),
      lease.owner,
      lease.until,
    ],
  );
}

/** Writes down who is about to be asked. Tells whether the record is still the writer's. */
export async function saveCall(
  db: Db,
  { id, fence }: Fenced,
  upstreamId: string,
  upstreamModel: string,
): Promise<boolean> {
  const touched = await db.run(
    `update transcriptions set status = 'processing', upstream_id = $3, upstream_model = $4
     where id = $1 and fence = $2 and status = any ($5) and task is null`,
    [id, fence, upstreamId, upstreamModel, [...statusesBefore('processing'), 'processing']],
  );
  return touched === 1;
}

/** Tells whether the record is still the writer's. */
export async function saveTask(db: Db, { id, fence }: Fenced, task: JsonObject): Promise<boolean> {
  const touched = await db.run(
    `update transcriptions set task = $3 where id = $1 and fence = $2 and status = 'processing'`,
    [id, fence, JSON.stringify(task)],
  );
  return touched === 1;
}

export interface RecordEnd extends Fenced {
  readonly status: 'completed' | 'failed' | 'unavailable';
  /** As JSON. */
  readonly result: string | null;
  readonly errorCode: ErrorCode | null;
  readonly charged: MicroCredits;
  readonly cost: MicroCredits | null;
}

/** Which model it is for, and who was asked last; null before the first. */
interface RouteTaken {
  readonly model: string;
  readonly upstreamId: string | null;
  readonly upstreamModel: string | null;
}

export async function selectRoute(tx: Tx, { id }: Fenced): Promise<RouteTaken | undefined> {
  const [taken] = await tx.rows<RouteTaken>(
    `select model, upstream_id as "upstreamId", upstream_model as "upstreamModel" from transcriptions where id = $1`,
    [id],
  );
  return taken;
}

/** Tells whether the record is still the writer's, or has been ended by the very same write before. */
export async function saveEnd(tx: Tx, end: RecordEnd, now: Date): Promise<boolean> {
  const settlement = end.status === 'completed' ? 'settled' : 'released';
  const touched = await tx.run(
    `update transcriptions set status = $3, settlement_state = $4, result = $5, error_code = $6, charged = $7,
       completed_at = $8, owner = null, cost = $11
     where id = $1 and fence = $2 and status = any ($9) and settlement_state = any ($10)`,
    [
      end.id,
      end.fence,
      end.status,
      settlement,
      end.result,
      end.errorCode,
      end.charged,
      now,
      statusesBefore(end.status),
      settlementsBefore(settlement),
      end.cost,
    ],
  );
  if (touched === 1) return true;
  // The answer to the first try may have been lost together with the connection.
  const same = await tx.rows('select from transcriptions where id = $1 and fence = $2 and status = $3', [
    end.id,
    end.fence,
    end.status,
  ]);
  return same.length === 1;
}

/** The records that have not ended and bear this process's name. */
export async function selectOpenIds(db: Db, owner: string): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(
    "select id from transcriptions where status in ('pending', 'processing') and owner = $1",
    [owner],
  );
  return rows.map(({ id }) => id);
}

export interface TakeOver {
  readonly now: Date;
  readonly lease: Lease;
  /** The taker's own that it works on no more. */
  readonly dropped: readonly string[];
  readonly limit: number;
}

/**
 * Leases records that no process works on: those of dead processes, and those that the taker dropped. From then on their
 * money is unknown until the upstream has been asked.
 */
export async function takeOver(db: Db, { now, lease, dropped, limit }: TakeOver): Promise<LeasedRecord[]> {
  return db.rows<LeasedRecord>(
    `with due as (
       select id, reservation_id from transcriptions record left join reservation_owners owner on process_id = record.owner
       where status in ('pending', 'processing') and (id = any ($4)
         or (record.owner is distinct from $2 and record.lease_until <= $1 and coalesce(owner.lease_until <= $1, true)))
       order by record.lease_until limit $5 for update of record skip locked
     )
     update transcriptions set owner = $2, lease_until = $3, fence = fence + 1, status = 'processing',
       settlement_state = 'unknown'
     from due join reservations on reservations.id = due.reservation_id join prices on prices.id = price_id
     where due.id = transcriptions.id
     returning transcriptions.id, fence, request as wanted, object_key as "objectKey", seconds,
       due.reservation_id as "reservationId", price, transcriptions.created_at as "createdAt",
       upstream_id as "upstreamId", upstream_model as "upstreamModel", task`,
    [now, lease.owner, lease.until, dropped, limit],
  );
}

/** Releases the lease and announces it, so that another process takes the record at once. */
export function letGo(db: Db, { id, fence }: Fenced, now: Date): Promise<void> {
  return db.transaction(async (tx) => {
    const touched = await tx.run(
      `update transcriptions set owner = null, lease_until = least(lease_until, $3)
       where id = $1 and fence = $2 and status in ('pending', 'processing')`,
      [id, fence, now],
    );
    if (touched > 0) await announce(tx, 'transcription', id);
  });
}

/** The same for records that this owner works on no more. */
export function letGoOf(db: Db, owner: string, ids: readonly string[], now: Date): Promise<void> {
  return db.transaction(async (tx) => {
    const touched = await tx.run(
      `update transcriptions set owner = null, lease_until = least(lease_until, $3)
       where id = any ($2) and owner = $1 and status in ('pending', 'processing')`,
      [owner, ids, now],
    );
    if (touched > 0) await announce(tx, 'transcription', '');
  });
}

interface RecordRow extends Omit<TranscriptionRecord, 'result'> {
  readonly transcript: Transcript | null;
  readonly wanted: Wanted;
  readonly seconds: number;
  readonly charged: MicroCredits | null;
}

const RECORD_COLUMNS = `id, model, status, settlement_state as "settlementState", created_at as "createdAt",
  completed_at as "completedAt", expires_at as "expiresAt", error_code as "errorCode", seconds, charged`;

export async function selectRecord(
  queries: Queries,
  accountId: string,
  id: string,
  now: Date,
): Promise<TranscriptionRecord | undefined> {
  const [row] = await queries.rows<RecordRow>(
    `select ${RECORD_COLUMNS}, request as wanted, case when expires_at <= $3 then null else result end as transcript
     from transcriptions where id = $2 and account_id = $1`,
    [accountId, id, now],
  );
  if (row === undefined) return undefined;
  const { transcript, wanted, seconds, charged, ...record } = row;
  return { ...record, result: transcript && { transcript, wanted, seconds, charged: charged ?? 0n } };
}

export interface RecordPage {
  readonly limit: number;
  readonly after: string | undefined;
}

/** Newest first, without what was heard. An `after` that is no record of this account gives nothing. */
export function selectRecords(db: Db, accountId: string, { limit, after }: RecordPage): Promise<ListedTranscription[]> {
  return db.rows<ListedTranscription>(
    `select ${RECORD_COLUMNS} from transcriptions
     where account_id = $1 and ($2::text is null or (created_at, id) < (
       select created_at, id from transcriptions where id = $2 and account_id = $1))
     order by created_at desc, id desc limit $3`,
    [accountId, after ?? null, limit],
  );
}

/** Clears what has expired, some at a time; tells how many. Their money and their dates stay. */
export function expireSome(db: Db, now: Date, limit: number): Promise<number> {
  return db.run(
    `update transcriptions set status = 'expired', result = null
     where id in (select id from transcriptions where status = any ($3) and expires_at <= $1 limit $2
       for update skip locked)`,
    [now, limit, statusesBefore('expired')],
  );
}
