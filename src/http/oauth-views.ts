import { z } from 'zod';
import { unixSeconds } from '../clock.ts';
import { creditsToNumber } from '../credits.ts';
import type { ListedGrant } from '../oauth/index.ts';

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
    created_at: z.int(),
    updated_at: z.int(),
    last_used_at: z.int().nullable(),
  })
  .meta({ id: 'OauthGrant' });

export function oauthGrantView(grant: ListedGrant) {
  return {
    id: grant.id,
    object: 'oauth_grant',
    client: { id: grant.clientId, name: grant.clientName, home_page: grant.clientHomePage },
    account: grant.accountId,
    person: { id: grant.personId, email: grant.personEmail },
    scopes: grant.scopes,
    credit_limit: grant.creditLimit === null ? null : creditsToNumber(grant.creditLimit),
    credit_limit_reset: grant.creditLimitReset,
    credits_used: creditsToNumber(grant.spent),
    created_at: unixSeconds(grant.createdAt),
    updated_at: unixSeconds(grant.updatedAt),
    last_used_at: grant.lastUsedAt === null ? null : unixSeconds(grant.lastUsedAt),
  };
}
