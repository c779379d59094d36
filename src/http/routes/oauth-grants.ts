import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import { type ListedGrant, listGrants } from '../../oauth/index.ts';
import type { sessions } from '../../people/index.ts';
import { type KeySpending, spendingOfKeys } from '../../reports/index.ts';
import type { pageQuery } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { page } from '../edge/route.ts';

/** What a person lets an app do with an account. */
export const oauthGrantSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('oauth_grant'),
    client: z.strictObject({ id: z.string(), name: z.string(), home_page: z.string().nullable() }),
    account: z.string(),
    person: z.strictObject({ id: z.string(), email: z.string() }),
    scopes: z.array(z.string()),
    credit_limit: z.number().nullable(),
    credit_limit_reset: z.enum(['day', 'week', 'month']).nullable(),
    credits_used: z.number(),
    credit_limit_used: z
      .number()
      .nullable()
      .describe('What counts against the limit now: spent in its period, and held.'),
    created_at: z.int(),
    updated_at: z.int(),
    last_used_at: z.int().nullable(),
  })
  .meta({ id: 'OauthGrant' });

export const deletedOauthGrantSchema = z.strictObject({
  id: z.string(),
  object: z.literal('oauth_grant'),
  deleted: z.literal(true),
});

/** Those that a person may see and end: their own in this account, also with the role to look only; an owner's are all. */
export function visibleGrants({ person, membership }: sessions.SignedIn): { accountId: string; personId?: string } {
  const accountId = membership?.accountId ?? '';
  return membership?.role === 'owner' ? { accountId } : { accountId, personId: person.id };
}

/** Live grants, newest first, with what each has spent up to now. */
export async function oauthGrantPage(
  { db, clock }: HttpDeps,
  of: Parameters<typeof listGrants>[1],
  { limit, after }: z.output<typeof pageQuery>,
) {
  const grants = await page(
    limit,
    (most) => listGrants(db, of, most, after),
    (grant) => grant,
  );
  const spending = await spendingOfKeys(db, grants.data, clock.now());
  return { ...grants, data: grants.data.map((grant) => oauthGrantView(grant, spending(grant.id))) };
}

function oauthGrantView(grant: ListedGrant, { spent, countsAgainstLimit }: KeySpending) {
  return {
    id: grant.id,
    object: 'oauth_grant',
    client: { id: grant.clientId, name: grant.clientName, home_page: grant.clientHomePage },
    account: grant.accountId,
    person: { id: grant.personId, email: grant.personEmail },
    scopes: grant.scopes,
    credit_limit: grant.creditLimit === null ? null : creditsToNumber(grant.creditLimit),
    credit_limit_reset: grant.creditLimitReset,
    credits_used: creditsToNumber(spent),
    credit_limit_used: grant.creditLimit === null ? null : creditsToNumber(countsAgainstLimit),
    created_at: unixSeconds(grant.createdAt),
    updated_at: unixSeconds(grant.updatedAt),
    last_used_at: grant.lastUsedAt === null ? null : unixSeconds(grant.lastUsedAt),
  };
}
