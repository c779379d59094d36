import type { Db, Tx } from '../db/index.ts';
import type { BreakerRow } from './breaker.ts';

/** Which breaker; `upstreamModel` is empty for the upstream as a whole. */
export interface BreakerId {
  readonly upstreamId: string;
  readonly upstreamModel: string;
}

export async function readBreakers(db: Db): Promise<(BreakerRow & BreakerId)[]> {
  return db.rows(
    `select upstream_id as "upstreamId", upstream_model as "upstreamModel", strikes, trips, opened_at as "openedAt",
       open_until as "openUntil", has_retry_after as "hasRetryAfter", last_fault as "lastFault", last_detail as "lastDetail",
       last_fault_at as "lastFaultAt"
     from upstream_breakers`,
  );
}

export async function saveBreaker(tx: Tx, { upstreamId, upstreamModel }: BreakerId, row: BreakerRow): Promise<void> {
  await tx.run(
    `insert into upstream_breakers (upstream_id, upstream_model, strikes, trips, opened_at, open_until, has_retry_after,
       last_fault, last_detail, last_fault_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (upstream_id, upstream_model) do update set strikes = excluded.strikes, trips = excluded.trips,
       opened_at = excluded.opened_at, open_until = excluded.open_until, has_retry_after = excluded.has_retry_after,
       last_fault = excluded.last_fault, last_detail = excluded.last_detail, last_fault_at = excluded.last_fault_at`,
    [
      upstreamId,
      upstreamModel,
      row.strikes,
      row.trips,
      row.openedAt,
      row.openUntil,
      row.hasRetryAfter,
      row.lastFault,
      row.lastDetail,
      row.lastFaultAt,
    ],
  );
}

export async function deleteBreakers(tx: Tx, upstreamId: string): Promise<void> {
  await tx.run('delete from upstream_breakers where upstream_id = $1', [upstreamId]);
}
