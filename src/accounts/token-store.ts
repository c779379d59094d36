import type { Db } from '../db/index.ts';
import type { AccountStatus } from './store.ts';

/** What admission needs of an access token, the grant behind it, and the account that pays, in one row. */
export interface TokenHolder {
  readonly grantId: string;
  readonly personId: string;
  readonly accountId: string;
  readonly expiresAt: Date;
  /** Those that the grant still has. */
  readonly scopes: readonly string[];
  /** The one address that the token opens; null for a token that was asked for without one. */
  readonly resource: string | null;
  readonly accountStatus: AccountStatus;
  /** Whether the person who gave the grant may still spend from the account. */
  readonly maySpend: boolean;
  readonly groups: readonly string[];
  readonly rpm: number | null;
  readonly concurrency: number | null;
  readonly hasLimit: boolean;
}

/** What is behind the access token of each digest, by the digest. A revoked grant and a removed app have no tokens. */
export async function findTokenHolders(db: Db, digests: readonly string[]): Promise<ReadonlyMap<string, TokenHolder>> {
  const rows = await db.rows<TokenHolder & { digest: Buffer }>(
    `select t.digest, g.id as "grantId", g.person_id as "personId",
       g.account_id as "accountId", t.expires_at as "expiresAt",
       array(select unnest(string_to_array(t.payload ->> 'scope', ' ')) intersect select unnest(g.scopes)) as scopes,
       t.payload ->> 'aud' as resource,
       a.status as "accountStatus", not p.disabled and coalesce(m.role in ('member', 'owner'), false) as "maySpend",
       a.groups, a.rpm, a.concurrency, g.credit_limit is not null as "hasLimit"
     from oauth_records t
     join oauth_grants g on g.id = t.grant_id and g.revoked_at is null
     join oauth_clients c on c.id = g.client_id and c.deleted_at is null
     join accounts a on a.id = g.account_id
     join people p on p.id = g.person_id
     left join memberships m on m.person_id = g.person_id and m.account_id = g.account_id
     where t.kind = 'AccessToken' and t.digest = any ($1)`,
    [Array.from(new Set(digests), (digest) => Buffer.from(digest, 'base64'))],
  );
  return new Map(rows.map(({ digest, ...holder }) => [digest.toString('base64'), holder]));
}
