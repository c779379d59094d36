import type { Db, Queries } from '../db/index.ts';

/** A day, as `2026-11-17`, whose entries lie in the object store. */
export interface ExportedDay {
  readonly day: string;
  readonly objectKey: string;
  readonly entries: bigint;
  readonly bytes: bigint;
  readonly sha256: string;
  readonly exportedAt: Date;
}

const COLUMNS = `day::text, object_key as "objectKey", entries, bytes, sha256, exported_at as "exportedAt"`;

/** Newest first. */
export function listExports(db: Db, limit: number, before: string | undefined): Promise<readonly ExportedDay[]> {
  return db.rows<ExportedDay>(
    `select ${COLUMNS} from ledger_exports
     where exported_at is not null and ($2::date is null or day < $2) order by ledger_exports.day desc limit $1`,
    [limit, before],
  );
}

export async function findExport(db: Db, day: string): Promise<ExportedDay | undefined> {
  const [row] = await db.rows<ExportedDay>(
    `select ${COLUMNS} from ledger_exports where day = $1 and exported_at is not null`,
    [day],
  );
  return row;
}

/** The day after the last that was written or, before the first, the day of the oldest account. */
export async function nextDay(queries: Queries): Promise<string | undefined> {
  const [row] = await queries.rows<{ day: string | null }>(
    `select coalesce(
       (select max(day) + 1 from ledger_exports where exported_at is not null),
       (select min(created_at at time zone 'UTC')::date from accounts))::text as day`,
  );
  return row?.day ?? undefined;
}

export interface ExportLease {
  readonly owner: string;
  readonly now: Date;
  readonly until: Date;
}

/** Takes the lease of a day, or extends it; false while another process has it. */
export async function leaseDay(queries: Queries, day: string, { owner, now, until }: ExportLease): Promise<boolean> {
  const leased = await queries.run(
    `insert into ledger_exports as known (day, owner, lease_until) values ($1, $2, $4)
     on conflict (day) do update set owner = $2, lease_until = $4
     where known.owner is null or known.owner = $2 or known.lease_until <= $3`,
    [day, owner, now, until],
  );
  return leased === 1;
}

/** Only while the lease is this process's; false when it was lost. */
export async function saveExport(queries: Queries, owner: string, exported: ExportedDay): Promise<boolean> {
  const { day, objectKey, entries, bytes, sha256, exportedAt } = exported;
  const saved = await queries.run(
    `update ledger_exports set owner = null, lease_until = null, object_key = $3, entries = $4, bytes = $5, sha256 = $6,
       exported_at = $7
     where day = $1 and owner = $2`,
    [day, owner, objectKey, entries, bytes, sha256, exportedAt],
  );
  return saved === 1;
}

export async function releaseDay(queries: Queries, day: string, owner: string): Promise<void> {
  await queries.run('update ledger_exports set owner = null, lease_until = null where day = $1 and owner = $2', [
    day,
    owner,
  ]);
}
