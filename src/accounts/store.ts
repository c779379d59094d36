import type { Db, Queries, Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';

export type AccountStatus = 'active' | 'suspended';
export type CreditLimitReset = 'day' | 'week' | 'month';

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly status: AccountStatus;
  readonly groups: readonly string[];
  readonly rpm: number | null;
  readonly concurrency: number | null;
  readonly createdAt: Date;
}

export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly prefix: string;
  readonly groups: readonly string[] | null;
  readonly rpm: number | null;
  readonly concurrency: number | null;
  readonly creditLimit: bigint | null;
  readonly creditLimitReset: CreditLimitReset | null;
  readonly expiresAt: Date | null;
  readonly disabled: boolean;
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
  /** The first of the keys that replaced each other by rolling; null for a key that was never rolled. */
  readonly lineage: string | null;
}

/** What admission needs of a key and its account, in one row. */
export interface KeyHolder {
  readonly keyId: string;
  readonly lineage: string | null;
  readonly accountId: string;
  readonly disabled: boolean;
  readonly expiresAt: Date | null;
  readonly accountStatus: AccountStatus;
  readonly keyGroups: readonly string[] | null;
  readonly accountGroups: readonly string[];
  readonly rpm: number | null;
  readonly concurrency: number | null;
  readonly hasKeyLimit: boolean;
}

/** Lists go from the newest down; the cursor is the last row already seen. */
export interface Page {
  readonly limit: number;
  readonly after: string | undefined;
}

const ACCOUNT_COLUMNS = 'id, name, email, status, groups, rpm, concurrency, created_at as "createdAt"';
const KEY_COLUMNS = `id, account_id as "accountId", name, prefix, groups, rpm, concurrency, credit_limit as "creditLimit",
  credit_limit_reset as "creditLimitReset", expires_at as "expiresAt", disabled, last_used_at as "lastUsedAt",
  created_at as "createdAt", lineage`;

export async function insertAccount(tx: Tx, account: Account): Promise<void> {
  await tx.run(
    `insert into accounts (id, name, email, status, groups, rpm, concurrency, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $8)`,
    [
      account.id,
      account.name,
      account.email,
      account.status,
      account.groups,
      account.rpm,
      account.concurrency,
      account.createdAt,
    ],
  );
}

export async function findAccount(queries: Queries, id: string): Promise<Account | undefined> {
  const [account] = await queries.rows<Account>(`select ${ACCOUNT_COLUMNS} from accounts where id = $1`, [id]);
  return account;
}

/** Locks the account, so that what is counted of it stays true until the transaction ends. */
export async function lockAccount(tx: Tx, id: string): Promise<Account | undefined> {
  const [account] = await tx.rows<Account>(`select ${ACCOUNT_COLUMNS} from accounts where id = $1 for update`, [id]);
  return account;
}

/**
 * `search` is in the name, the e-mail address or is the id, in any case of letters. Throws `invalid_parameter` when
 * `after` is no account.
 */
export async function listAccounts(db: Db, { limit, after }: Page, search?: string): Promise<Account[]> {
  const accounts = await db.rows<Account>(
    `select ${ACCOUNT_COLUMNS} from accounts
     where ($2::text is null or (created_at, id) < (select created_at, id from accounts where id = $2))
       and ($3::text is null or id = $3 or position(lower($3) in lower(name || ' ' || coalesce(email, ''))) > 0)
     order by created_at desc, id desc limit $1`,
    [limit, after ?? null, search ?? null],
  );
  if (accounts.length === 0 && after !== undefined && (await findAccount(db, after)) === undefined) {
    throw new ApiError('invalid_parameter', { message: '"after" must be the id of an account.', param: 'after' });
  }
  return accounts;
}

export async function saveAccount(tx: Tx, account: Account, now: Date): Promise<void> {
  await tx.run(
    `update accounts set name = $2, status = $3, groups = $4, rpm = $5, concurrency = $6, updated_at = $7 where id = $1`,
    [account.id, account.name, account.status, account.groups, account.rpm, account.concurrency, now],
  );
}

export async function countLiveKeys(tx: Tx, accountId: string): Promise<number> {
  const [row] = await tx.rows<{ live: number }>(
    'select count(*)::int as live from api_keys where account_id = $1 and deleted_at is null',
    [accountId],
  );
  return row?.live ?? 0;
}

export async function insertKey(tx: Tx, key: ApiKey, digest: Buffer): Promise<void> {
  await tx.run(
    `insert into api_keys (id, account_id, name, digest, prefix, groups, rpm, concurrency, credit_limit,
       credit_limit_reset, expires_at, disabled, created_at, lineage)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      key.id,
      key.accountId,
      key.name,
      digest,
      key.prefix,
      key.groups,
      key.rpm,
      key.concurrency,
      key.creditLimit,
      key.creditLimitReset,
      key.expiresAt,
      key.disabled,
      key.createdAt,
      key.lineage,
    ],
  );
}

export async function lockKey(tx: Tx, id: string): Promise<ApiKey | undefined> {
  const [key] = await tx.rows<ApiKey>(
    `select ${KEY_COLUMNS} from api_keys where id = $1 and deleted_at is null for update`,
    [id],
  );
  return key;
}

/** Undefined alike for a key that does not exist and one of another account. */
export async function findKey(queries: Queries, accountId: string, id: string): Promise<ApiKey | undefined> {
  const [key] = await queries.rows<ApiKey>(
    `select ${KEY_COLUMNS} from api_keys where id = $1 and account_id = $2 and deleted_at is null`,
    [id, accountId],
  );
  return key;
}

/** Whose key it is; undefined for one that does not exist. */
export async function findAccountOfKey(queries: Queries, id: string): Promise<string | undefined> {
  const [key] = await queries.rows<{ accountId: string }>(
    'select account_id as "accountId" from api_keys where id = $1 and deleted_at is null',
    [id],
  );
  return key?.accountId;
}

/** Throws `invalid_parameter` when `after` is no key of this account; a deleted one still marks its place. */
export async function listKeys(db: Db, accountId: string, { limit, after }: Page): Promise<ApiKey[]> {
  const keys = await db.rows<ApiKey>(
    `select ${KEY_COLUMNS} from api_keys
     where account_id = $1 and deleted_at is null and ($3::text is null
       or (created_at, id) < (select created_at, id from api_keys where id = $3 and account_id = $1))
     order by created_at desc, id desc limit $2`,
    [accountId, limit, after ?? null],
  );
  if (keys.length === 0 && after !== undefined && !(await hadKey(db, accountId, after))) {
    throw new ApiError('invalid_parameter', {
      message: '"after" must be the id of a key of this account.',
      param: 'after',
    });
  }
  return keys;
}

async function hadKey(db: Db, accountId: string, id: string): Promise<boolean> {
  return (await db.rows('select from api_keys where id = $1 and account_id = $2', [id, accountId])).length > 0;
}

export async function saveKey(tx: Tx, key: ApiKey): Promise<void> {
  await tx.run(
    `update api_keys set name = $2, groups = $3, rpm = $4, concurrency = $5, credit_limit = $6, credit_limit_reset = $7,
       expires_at = $8, disabled = $9, lineage = $10
     where id = $1 and deleted_at is null`,
    [
      key.id,
      key.name,
      key.groups,
      key.rpm,
      key.concurrency,
      key.creditLimit,
      key.creditLimitReset,
      key.expiresAt,
      key.disabled,
      key.lineage,
    ],
  );
}

export async function markKeyDeleted(tx: Tx, id: string, now: Date): Promise<boolean> {
  const touched = await tx.run('update api_keys set deleted_at = $2 where id = $1 and deleted_at is null', [id, now]);
  return touched > 0;
}

/** Who has the key of each digest, by the digest. */
export async function findKeyHolders(db: Db, digests: readonly string[]): Promise<ReadonlyMap<string, KeyHolder>> {
  const rows = await db.rows<KeyHolder & { digest: Buffer }>(
    `select k.digest, k.id as "keyId", k.lineage, k.account_id as "accountId", k.disabled, k.expires_at as "expiresAt",
       a.status as "accountStatus", k.groups as "keyGroups", a.groups as "accountGroups", k.rpm, k.concurrency,
       k.credit_limit is not null as "hasKeyLimit"
     from api_keys k join accounts a on a.id = k.account_id
     where k.digest = any ($1) and k.deleted_at is null`,
    [Array.from(new Set(digests), (digest) => Buffer.from(digest, 'base64'))],
  );
  return new Map(rows.map(({ digest, ...holder }) => [digest.toString('base64'), holder]));
}

/** Of keys and of grants to apps. */
export async function saveLastUsed(db: Db, ids: readonly string[], times: readonly Date[]): Promise<void> {
  await db.run(
    `with used as (select * from unnest($1::text[], $2::timestamptz[]) as used (id, at)),
     grants_used as (
       update oauth_grants g set last_used_at = greatest(g.last_used_at, used.at) from used where g.id = used.id
     )
     update api_keys k set last_used_at = greatest(k.last_used_at, used.at) from used where k.id = used.id`,
    [ids, times],
  );
}
