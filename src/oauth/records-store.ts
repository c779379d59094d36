import type { Queries, Tx } from '../db/index.ts';

/** What the authorization server keeps of a code, a token, an interaction. */
export interface OauthRecord {
  readonly payload: Record<string, unknown>;
  readonly grantId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly consumedAt: Date | null;
}

export interface NewRecord {
  readonly kind: string;
  readonly digest: Buffer;
  readonly payload: Record<string, unknown>;
  readonly grantId: string | undefined;
  readonly userCodeDigest: Buffer | undefined;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const COLUMNS = `payload, grant_id as "grantId", created_at as "createdAt", expires_at as "expiresAt",
  consumed_at as "consumedAt"`;

/** The same record saved again keeps its age and the code by which a person finds it. */
export async function saveRecord(queries: Queries, record: NewRecord): Promise<void> {
  await queries.run(
    `insert into oauth_records (kind, digest, payload, grant_id, user_code_digest, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (kind, digest) do update set payload = excluded.payload, grant_id = excluded.grant_id,
       expires_at = excluded.expires_at`,
    [
      record.kind,
      record.digest,
      record.payload,
      record.grantId ?? null,
      record.userCodeDigest ?? null,
      record.createdAt,
      record.expiresAt,
    ],
  );
}

export async function findRecord(
  queries: Queries,
  kind: string,
  digest: Buffer,
  now: Date,
): Promise<OauthRecord | undefined> {
  const [record] = await queries.rows<OauthRecord>(
    `select ${COLUMNS} from oauth_records where kind = $1 and digest = $2 and expires_at > $3`,
    [kind, digest, now],
  );
  return record;
}

/** Of two at once the row lock lets one have it. False when it has been used. */
export async function consumeRecord(
  queries: Queries,
  kind: string,
  digest: Buffer,
  now: Date,
  keptUntil: Date,
): Promise<boolean> {
  const touched = await queries.run(
    `update oauth_records set consumed_at = $3, expires_at = greatest(expires_at, $4)
     where kind = $1 and digest = $2 and consumed_at is null and expires_at > $3`,
    [kind, digest, now, keptUntil],
  );
  return touched > 0;
}

/** A device whose code a person has and that was not answered yet. */
export async function findDevice(
  queries: Queries,
  userCodeDigest: Buffer,
  now: Date,
): Promise<{ readonly clientId: string; readonly scope: string | null } | undefined> {
  const device = await selectDevice(queries, DEVICE, userCodeDigest, now);
  if (device === undefined) return undefined;
  const { clientId, params } = device.payload as { clientId: string; params?: { scope?: string } };
  return { clientId, scope: params?.scope ?? null };
}

/** Of two decisions at once the second finds the first. Undefined when it was answered or has expired. */
export async function lockDevice(
  tx: Tx,
  userCodeDigest: Buffer,
  now: Date,
): Promise<Pick<OauthRecord, 'payload'> | undefined> {
  return selectDevice(tx, `${DEVICE} for update`, userCodeDigest, now);
}

export async function saveDevice(
  tx: Tx,
  userCodeDigest: Buffer,
  { payload, grantId }: Pick<OauthRecord, 'payload' | 'grantId'>,
): Promise<void> {
  await tx.run(
    `update oauth_records set payload = $2, grant_id = $3 where kind = 'DeviceCode' and user_code_digest = $1`,
    [userCodeDigest, payload, grantId],
  );
}

const DEVICE = `select payload from oauth_records
  where kind = 'DeviceCode' and user_code_digest = $1 and expires_at > $2`;

/** The payload is read here: it has parameters of the app, and PostgreSQL reads nothing of a JSON text with a NUL in it. */
async function selectDevice(
  queries: Queries,
  select: string,
  userCodeDigest: Buffer,
  now: Date,
): Promise<Pick<OauthRecord, 'payload'> | undefined> {
  const [device] = await queries.rows<Pick<OauthRecord, 'payload'>>(select, [userCodeDigest, now]);
  const isAnswered = device?.payload.accountId !== undefined || device?.payload.error !== undefined;
  return isAnswered ? undefined : device;
}

/** Tells the grant that it belonged to. */
export async function deleteRecord(queries: Queries, kind: string, digest: Buffer): Promise<string | undefined> {
  const [row] = await queries.rows<{ grantId: string | null }>(
    'delete from oauth_records where kind = $1 and digest = $2 returning grant_id as "grantId"',
    [kind, digest],
  );
  return row?.grantId ?? undefined;
}

export async function deleteRecordsOfGrants(queries: Queries, grantIds: readonly string[]): Promise<void> {
  await queries.run('delete from oauth_records where grant_id = any ($1)', [grantIds]);
}

/** Removes what can open nothing any more. */
export async function forgetRecords(queries: Queries, now: Date): Promise<void> {
  await queries.run('delete from oauth_records where expires_at <= $1', [now]);
}
