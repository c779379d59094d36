import { z } from 'zod';
import type { ApiKey } from '../../accounts/index.ts';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber, type MicroCredits } from '../../credits.ts';

const seconds = z.int().describe('Unix seconds.');
const credits = z.number().describe('Credits, with at most six decimals.');

export const keySchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('api_key'),
    account_id: z.string(),
    name: z.string(),
    prefix: z.string().describe('The first four characters of the random part.'),
    created_at: seconds,
    expires_at: seconds.nullable(),
    last_used_at: seconds.nullable(),
    disabled: z.boolean(),
    groups: z.array(z.string()).nullable().describe('Null: the groups of the account.'),
    rpm: z.int().nullable(),
    concurrency: z.int().nullable(),
    credit_limit: credits.nullable(),
    credit_limit_reset: z.enum(['day', 'week', 'month']).nullable(),
    credits_used: credits,
  })
  .meta({ id: 'ApiKey' });

export function keyView(key: ApiKey, used: MicroCredits): z.infer<typeof keySchema> {
  return {
    id: key.id,
    object: 'api_key',
    account_id: key.accountId,
    name: key.name,
    prefix: key.prefix,
    created_at: unixSeconds(key.createdAt),
    expires_at: orNull(key.expiresAt, unixSeconds),
    last_used_at: orNull(key.lastUsedAt, unixSeconds),
    disabled: key.disabled,
    groups: orNull(key.groups, (groups) => [...groups]),
    rpm: key.rpm,
    concurrency: key.concurrency,
    credit_limit: orNull(key.creditLimit, creditsToNumber),
    credit_limit_reset: key.creditLimitReset,
    credits_used: creditsToNumber(used),
  };
}

function orNull<Value, View>(value: Value | null, view: (value: Value) => View): View | null {
  return value === null ? null : view(value);
}
