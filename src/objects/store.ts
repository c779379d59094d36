import type { Db, Queries, Tx } from '../db/index.ts';

/** What is in the object store and when it must go. */
export interface StoredObject {
  readonly key: string;
  readonly accountId: string;
  readonly mimeType: string;
  readonly bytes: number;
  readonly deleteAt: Date;
}

/** Also for what is there already: the later day counts, and what was learnt of it since. */
export async function recordObjects(queries: Queries, objects: readonly StoredObject[]): Promise<void> {
  await queries.run(
    `insert into stored_objects as known (key, account_id, mime_type, bytes, delete_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[])
     on conflict (key) do update set mime_type = excluded.mime_type, bytes = excluded.bytes,
       delete_at = greatest(known.delete_at, excluded.delete_at)`,
    [
      objects.map((object) => object.key),
      objects.map((object) => object.accountId),
      objects.map((object) => object.mimeType),
      objects.map((object) => object.bytes),
      objects.map((object) => object.deleteAt),
    ],
  );
}

/** Lets objects go at another time. */
export async function deleteObjectsAt(queries: Queries, keys: readonly string[], at: Date): Promise<void> {
  if (keys.length > 0) await queries.run('update stored_objects set delete_at = $2 where key = any ($1)', [keys, at]);
}

/** Lets an object go, unless something was promised to keep it for longer than `keptUntil`. */
export async function releaseObject(tx: Tx, key: string, keptUntil: Date, at: Date): Promise<void> {
  await tx.run('update stored_objects set delete_at = $3 where key = $1 and delete_at <= $2', [key, keptUntil, at]);
}

/** Keeps objects at least until then. Tells which of them there are. */
export async function keepObjectsUntil(tx: Tx, keys: readonly string[], at: Date): Promise<ReadonlySet<string>> {
  const rows = await tx.rows<{ key: string }>(
    'update stored_objects set delete_at = greatest(delete_at, $2) where key = any ($1) returning key',
    [keys, at],
  );
  return new Set(rows.map(({ key }) => key));
}

export interface FoundObject {
  readonly mimeType: string;
  /** 0 for what was stored for one request, or is being stored. */
  readonly bytes: number;
  readonly deleteAt: Date;
}

/** By key. Left out alike: what is not there, what is another account's, and what must have gone. */
export async function findObjects(
  db: Db,
  accountId: string,
  keys: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, FoundObject>> {
  const rows = await db.rows<{ key: string; mimeType: string; bytes: bigint; deleteAt: Date }>(
    `select key, mime_type as "mimeType", bytes, delete_at as "deleteAt" from stored_objects
     where key = any ($2) and account_id = $1 and delete_at > $3`,
    [accountId, keys, now],
  );
  return new Map(rows.map(({ key, bytes, ...row }) => [key, { ...row, bytes: Number(bytes) }]));
}

export async function selectDueObjects(db: Db, now: Date, limit: number, except: readonly string[]): Promise<string[]> {
  const rows = await db.rows<{ key: string }>(
    'select key from stored_objects where delete_at <= $1 and key <> all ($3) order by delete_at limit $2',
    [now, limit, except],
  );
  return rows.map(({ key }) => key);
}

/** Only those that are still due: another transaction may have given one an owner meanwhile. */
export async function forgetObjects(db: Db, keys: readonly string[], now: Date): Promise<void> {
  await db.run('delete from stored_objects where key = any ($1) and delete_at <= $2', [keys, now]);
}

export async function countDueObjects(
  db: Db,
  now: Date,
): Promise<{ readonly due: number; readonly oldestAt: Date | null }> {
  const [row] = await db.rows<{ due: number; oldestAt: Date | null }>(
    `select count(*)::int as due, min(delete_at) as "oldestAt" from stored_objects where delete_at <= $1`,
    [now],
  );
  return row ?? { due: 0, oldestAt: null };
}
