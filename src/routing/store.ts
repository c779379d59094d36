import type { Db, Tx } from '../db/index.ts';

export interface HealthRow {
  readonly strikes: number;
  readonly coolingUntil: Date | null;
  readonly lastFault: string | null;
  readonly lastDetail: string | null;
  readonly lastFaultAt: Date | null;
}

export async function readHealth(db: Db): Promise<(HealthRow & { readonly id: string })[]> {
  return db.rows(
    `select upstream_id as id, strikes, cooling_until as "coolingUntil", last_fault as "lastFault",
       last_detail as "lastDetail", last_fault_at as "lastFaultAt"
     from upstream_health`,
  );
}

export async function saveHealth(tx: Tx, upstreamId: string, row: HealthRow): Promise<void> {
  await tx.run(
    `insert into upstream_health (upstream_id, strikes, cooling_until, last_fault, last_detail, last_fault_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (upstream_id) do update set strikes = excluded.strikes, cooling_until = excluded.cooling_until,
       last_fault = excluded.last_fault, last_detail = excluded.last_detail, last_fault_at = excluded.last_fault_at`,
    [upstreamId, row.strikes, row.coolingUntil, row.lastFault, row.lastDetail, row.lastFaultAt],
  );
}
