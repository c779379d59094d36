import type { Queries, Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';

export type LimitReset = 'day' | 'week' | 'month';

/** What an app may spend: in all, or per period. */
export interface SpendLimit {
  readonly creditLimit: bigint | null;
  readonly creditLimitReset: LimitReset | null;
}

/** What a person lets an app do with an account. */
export interface OauthGrant extends SpendLimit {
  readonly id: string;
  readonly clientId: string;
  readonly accountId: string;
  readonly personId: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastUsedAt: Date | null;
}

const COLUMNS = `g.id, g.client_id as "clientId", g.account_id as "accountId", g.person_id as "personId", g.scopes,
  g.credit_limit as "creditLimit", g.credit_limit_reset as "creditLimitReset", g.created_at as "createdAt",
  g.updated_at as "updatedAt", g.last_used_at as "lastUsedAt"`;

// A viewer may not spend, so neither may an app in a viewer's name; and an app that was removed may do nothing.
const USABLE = `g.revoked_at is null
  and exists (select from memberships m where m.account_id = g.account_id and m.person_id = g.person_id and m.role <> 'viewer')
  and exists (select from people p where p.id = g.person_id and not p.disabled)
  and exists (select from accounts a where a.id = g.account_id and a.status = 'active')
  and exists (select from oauth_clients c where c.id = g.client_id and c.deleted_at is null)`;

/**
 * Undefined for a grant that was revoked, or whose person may not spend of the account (any more, or for now). Its scopes are
 * those that the app may still ask for.
 */
export async function findUsableGrant(queries: Queries, id: string): Promise<OauthGrant | undefined> {
  const [row] = await queries.rows<OauthGrant & { clientScopes: readonly string[] }>(
    `select ${COLUMNS}, client.scopes as "clientScopes"
     from oauth_grants g join oauth_clients client on client.id = g.client_id where g.id = $1 and ${USABLE}`,
    [id],
  );
  if (row === undefined) return undefined;
  const { clientScopes, ...grant } = row;
  return { ...grant, scopes: grant.scopes.filter((scope) => clientScopes.includes(scope)) };
}

/** What the person let the app do before, in whichever account that was last. */
export async function findLatestGrant(
  queries: Queries,
  clientId: string,
  personId: string,
): Promise<OauthGrant | undefined> {
  const [grant] = await queries.rows<OauthGrant>(
    `select ${COLUMNS} from oauth_grants g where g.client_id = $1 and g.person_id = $2 and ${USABLE}
     order by g.updated_at desc, g.id desc limit 1`,
    [clientId, personId],
  );
  return grant;
}

/** One that is not revoked per app, account and person: asked for again, it has the scopes of before and the new ones. */
export async function saveGrant(tx: Tx, grant: OauthGrant): Promise<OauthGrant> {
  const [saved] = await tx.rows<OauthGrant>(
    `insert into oauth_grants as g (id, client_id, account_id, person_id, scopes, credit_limit, credit_limit_reset,
       created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $8)
     on conflict (client_id, account_id, person_id) where revoked_at is null do update
       set scopes = (select array_agg(distinct scope order by scope) from unnest(g.scopes || excluded.scopes) as scope),
         credit_limit = excluded.credit_limit, credit_limit_reset = excluded.credit_limit_reset,
         updated_at = excluded.updated_at
     returning ${COLUMNS}`,
    [
      grant.id,
      grant.clientId,
      grant.accountId,
      grant.personId,
      grant.scopes,
      grant.creditLimit,
      grant.creditLimitReset,
      grant.createdAt,
    ],
  );
  if (saved === undefined) throw new Error('a grant was not saved');
  return saved;
}

/** Of a live grant that matches. What is undefined stays as it is. */
export async function saveLimit(
  tx: Tx,
  grant: GrantFilter & { readonly id: string },
  { creditLimit, creditLimitReset }: { readonly [Name in keyof SpendLimit]?: SpendLimit[Name] | undefined },
  now: Date,
): Promise<SpendLimit | undefined> {
  const [saved] = await tx.rows<SpendLimit>(
    `update oauth_grants g set updated_at = $8,
       credit_limit = case when $4 then $5::bigint else credit_limit end,
       credit_limit_reset = case when $6 then $7 else credit_limit_reset end
     where id = $1 and revoked_at is null and ($2::text is null or account_id = $2)
       and ($3::text is null or person_id = $3)
     returning ${COLUMNS}`,
    [
      ...[grant.id, grant.accountId ?? null, grant.personId ?? null],
      ...[creditLimit !== undefined, creditLimit ?? null, creditLimitReset !== undefined, creditLimitReset ?? null],
      now,
    ],
  );
  return saved;
}

/** An account that the person may let an app spend of; the lock keeps the role until the transaction ends. */
export async function lockSpendingRole(tx: Tx, personId: string, accountId: string): Promise<boolean> {
  const rows = await tx.rows(
    `select from memberships m join accounts a on a.id = m.account_id
     where m.person_id = $1 and m.account_id = $2 and m.role <> 'viewer' and a.status = 'active' for share`,
    [personId, accountId],
  );
  return rows.length > 0;
}

export interface PayingAccount {
  readonly id: string;
  readonly name: string;
}

/** The accounts that the person may let an app spend of, in the order in which they joined. */
export async function payingAccounts(queries: Queries, personId: string): Promise<PayingAccount[]> {
  return queries.rows<PayingAccount>(
    `select a.id, a.name from memberships m join accounts a on a.id = m.account_id
     where m.person_id = $1 and m.role <> 'viewer' and a.status = 'active' order by m.created_at, a.id`,
    [personId],
  );
}

export interface GrantFilter {
  readonly accountId?: string | undefined;
  readonly personId?: string | undefined;
  readonly clientId?: string | undefined;
}

/** Those that matched and were live, in the order of their ids, which is the order in which rows are locked everywhere. */
export async function markRevoked(
  tx: Tx,
  filter: GrantFilter & { readonly id?: string | undefined },
  now: Date,
): Promise<OauthGrant[]> {
  return tx.rows<OauthGrant>(
    `with live as (
       select id from oauth_grants where revoked_at is null and ($1::text is null or id = $1)
         and ($2::text is null or account_id = $2) and ($3::text is null or person_id = $3)
         and ($4::text is null or client_id = $4) order by id for update
     )
     update oauth_grants g set revoked_at = $5, updated_at = $5 from live where g.id = live.id returning ${COLUMNS}`,
    [filter.id ?? null, filter.accountId ?? null, filter.personId ?? null, filter.clientId ?? null, now],
  );
}

/** A grant as a person sees it. */
export interface ListedGrant extends OauthGrant {
  readonly clientName: string;
  readonly clientHomePage: string | null;
  readonly personEmail: string;
}

/** Live ones, newest first. Throws `invalid_parameter` when `after` is no grant. */
export async function listGrants(
  queries: Queries,
  filter: GrantFilter & { readonly id?: string | undefined },
  limit: number,
  after: string | undefined,
): Promise<ListedGrant[]> {
  const grants = await queries.rows<ListedGrant>(
    `select ${COLUMNS}, c.name as "clientName", c.home_page as "clientHomePage", p.email as "personEmail"
     from oauth_grants g join oauth_clients c on c.id = g.client_id join people p on p.id = g.person_id
     where g.revoked_at is null and ($1::text is null or g.account_id = $1) and ($2::text is null or g.person_id = $2)
       and ($3::text is null or g.client_id = $3) and ($4::text is null or g.id = $4)
       and ($6::text is null or (g.created_at, g.id) < (select created_at, id from oauth_grants where id = $6))
     order by g.created_at desc, g.id desc limit $5`,
    [
      filter.accountId ?? null,
      filter.personId ?? null,
      filter.clientId ?? null,
      filter.id ?? null,
      limit,
      after ?? null,
    ],
  );
  if (after !== undefined && !(await isGrant(queries, filter.accountId, after))) {
    throw new ApiError('invalid_parameter', {
      message: '"after" must be the id of a grant to an app.',
      param: 'after',
    });
  }
  return grants;
}

/** Of this account, where one is given: another's says nothing about this one's order. */
async function isGrant(queries: Queries, accountId: string | undefined, id: string): Promise<boolean> {
  const sql = 'select from oauth_grants where id = $1 and ($2::text is null or account_id = $2)';
  return (await queries.rows(sql, [id, accountId ?? null])).length > 0;
}
