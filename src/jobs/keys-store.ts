import type { Db, Queries, Tx } from '../db/index.ts';

/** The scope and value of an Idempotency-Key, and what was asked under it. */
export interface IdempotencyKey {
  readonly accountId: string;
  readonly credential: string;
  readonly key: string;
  readonly fingerprint: Buffer;
  /**
   * Of a key that is made from the request, for client libraries that send none and count their attempts: a first attempt
   * always makes a job, a retry joins the last one that was made from the same request a short while ago. The call of a
   * tool has no attempts to count: it joins while the job is open.
   */
  readonly derivedOf?: 'first attempt' | 'retry' | 'tool call' | undefined;
}

export interface KnownKey {
  readonly fingerprint: Buffer;
  /** Null while the first request under the key is being prepared. */
  readonly jobId: string | null;
  readonly claim: string | null;
  /** Whether the job has not ended. */
  readonly isOpen: boolean;
  /** When the claim runs out, or the fingerprint is forgotten. */
  readonly deleteAt: Date;
}

export function selectKeys(queries: Queries, keys: readonly IdempotencyKey[]): Promise<(KnownKey & Scope)[]> {
  return queries.rows<KnownKey & Scope>(
    `select account_id as "accountId", credential, key, fingerprint, job_id as "jobId", claim,
       exists (select from open_jobs where open_jobs.job_id = idempotency_keys.job_id) as "isOpen",
       delete_at as "deleteAt"
     from idempotency_keys
     where (account_id, credential, key) in (select * from unnest($1::text[], $2::text[], $3::text[]))`,
    columns(keys),
  );
}

type Scope = Pick<IdempotencyKey, 'accountId' | 'credential' | 'key'>;

function columns(keys: readonly Scope[]): [string[], string[], string[]] {
  return [keys.map((one) => one.accountId), keys.map((one) => one.credential), keys.map((one) => one.key)];
}

/** Claims a key that is not claimed; a claim that has run out counts as none. Tells whether it did. */
export async function claimKey(db: Db, key: IdempotencyKey, claim: string, now: Date, until: Date): Promise<boolean> {
  const claimed = await db.run(
    `insert into idempotency_keys as known (account_id, credential, key, fingerprint, claim, delete_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (account_id, credential, key) do update
       set fingerprint = excluded.fingerprint, claim = excluded.claim, delete_at = excluded.delete_at
       where known.job_id is null and known.delete_at <= $7`,
    [key.accountId, key.credential, key.key, key.fingerprint, claim, until, now],
  );
  return claimed === 1;
}

/** A later claim of the same key stays. */
export async function dropClaim(db: Db, { accountId, credential, key }: Scope, claim: string): Promise<void> {
  await db.run(
    `delete from idempotency_keys
     where account_id = $1 and credential = $2 and key = $3 and claim = $4 and job_id is null`,
    [accountId, credential, key, claim],
  );
}

/** Binds keys to their jobs, whether they were claimed before or not. */
export async function bindKeys(
  tx: Tx,
  bound: readonly { readonly key: IdempotencyKey; readonly jobId: string; readonly keptUntil: Date }[],
): Promise<void> {
  if (bound.length === 0) return;
  await tx.run(
    `insert into idempotency_keys (account_id, credential, key, fingerprint, job_id, delete_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::timestamptz[])
     on conflict (account_id, credential, key) do update
       set fingerprint = excluded.fingerprint, job_id = excluded.job_id, claim = null,
         delete_at = excluded.delete_at`,
    [
      ...columns(bound.map(({ key }) => key)),
      bound.map(({ key }) => key.fingerprint),
      bound.map(({ jobId }) => jobId),
      bound.map(({ keptUntil }) => keptUntil),
    ],
  );
}

const FORGOTTEN_AT_ONCE_MAX = 10_000;

/**
 * Fingerprints that are old, and claims that led to no job. Tells how many. The day is asked twice: only the second
 * question is put again to a row that was bound to its job while this waited for it.
 */
export function forgetKeys(db: Db, now: Date): Promise<number> {
  return db.run(
    `delete from idempotency_keys where (account_id, credential, key) in (
       select account_id, credential, key from idempotency_keys where delete_at <= $1 limit $2)
       and delete_at <= $1`,
    [now, FORGOTTEN_AT_ONCE_MAX],
  );
}
