import { z } from 'zod';
import type { Account, ApiKey } from '../../accounts/index.ts';
import type { Snapshot } from '../../catalogue/index.ts';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import type { JobRecord } from '../../jobs/index.ts';
import type { AccountFigures, KeySpending } from '../../reports/index.ts';
import { jobSchema, jobView } from './jobs.ts';
import { keySchema, keyView } from './keys.ts';

/** Accounts, keys and jobs as the operator sees them. */

const warnings = z.array(z.string()).describe('What keeps it from working as it is set; empty when nothing does.');

export const accountSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('account'),
    name: z.string(),
    email: z.string().nullable(),
    status: z.enum(['active', 'suspended']),
    groups: z.array(z.string()),
    limits: z
      .strictObject({ rpm: z.int().nullable(), concurrency: z.int().nullable() })
      .describe(
        'Of all its OAuth access tokens together, and of its console. Null is the default; keys have their own.',
      ),
    balance: z.number().describe('What can be spent now; below zero by what real usage exceeded.'),
    held: z.number().describe('What running calls and jobs hold.'),
    last_used_at: z.int().nullable().describe('Unix seconds of the last request with any of its keys.'),
    created_at: z.int().describe('Unix seconds.'),
    warnings,
  })
  .meta({ id: 'Account' });

export function accountView(
  account: Account,
  figures: AccountFigures,
  { document }: Snapshot,
): z.infer<typeof accountSchema> {
  return {
    id: account.id,
    object: 'account',
    name: account.name,
    email: account.email,
    status: account.status,
    groups: [...account.groups],
    limits: { rpm: account.rpm, concurrency: account.concurrency },
    balance: creditsToNumber(figures.available),
    held: creditsToNumber(figures.reserved),
    last_used_at: figures.lastUsedAt === null ? null : unixSeconds(figures.lastUsedAt),
    created_at: unixSeconds(account.createdAt),
    warnings: [...unroutedGroups(account.groups, document.upstreams), ...widerKeys(figures.widerKeys)],
  };
}

const keyRecord = keySchema.extend({
  credit_limit_used: z
    .number()
    .nullable()
    .describe('What counts against the limit now: spent in its period, and held; with the keys of its lineage.'),
  lineage: z
    .string()
    .nullable()
    .describe('The first of the keys that replaced each other by rolling: they share limits and rates.'),
  warnings,
});
export const keyRecordSchema = keyRecord.meta({ id: 'ApiKeyRecord' });
export const newKeySchema = keyRecord
  .extend({ key: z.string().describe('The key itself, shown this once.') })
  .meta({ id: 'NewApiKey' });
export const rolledKeySchema = newKeySchema
  .extend({
    replaces: z
      .strictObject({ id: z.string(), expires_at: z.int().nullable() })
      .describe('The old key, and the Unix second at which it ends.'),
  })
  .meta({ id: 'RolledApiKey' });

export function keyRecordView(
  key: ApiKey,
  { spent, countsAgainstLimit }: KeySpending,
  account: Pick<Account, 'groups'>,
  { document }: Snapshot,
): z.infer<typeof keyRecordSchema> {
  const groups = key.groups ?? [];
  const lost = groups.filter((group) => !account.groups.includes(group));
  return {
    ...keyView(key, spent),
    credit_limit_used: key.creditLimit === null ? null : creditsToNumber(countsAgainstLimit),
    lineage: key.lineage,
    warnings: [
      ...unroutedGroups(groups, document.upstreams),
      ...lost.map((group) => `The account does not have the group "${group}" any more: the key does not reach it.`),
    ],
  };
}

function unroutedGroups(groups: readonly string[], upstreams: readonly { readonly groups: readonly string[] }[]) {
  const routed = new Set(upstreams.flatMap((upstream) => upstream.groups));
  return groups.filter((group) => !routed.has(group)).map((group) => `No upstream has the group "${group}".`);
}

function widerKeys(count: number): string[] {
  if (count === 0) return [];
  return [`Keys with a group that the account does not have, which they do not reach: ${count}.`];
}

export const jobRecordSchema = jobSchema
  .extend({
    account_id: z.string(),
    key_id: z.string().nullable(),
    endpoint: z.string(),
    request_id: z.string(),
    attempts: z
      .array(
        z.strictObject({
          upstream: z.string(),
          model: z.string().describe('As the upstream calls it.'),
          state: z.string(),
          error_code: z.string().nullable(),
        }),
      )
      .describe('Which upstreams were asked, in order.'),
  })
  .meta({ id: 'JobRecord' });

export function jobRecordView(job: JobRecord): z.infer<typeof jobRecordSchema> {
  return {
    ...jobView(job),
    account_id: job.accountId,
    key_id: job.keyId,
    endpoint: job.endpoint,
    request_id: job.requestId,
    attempts: job.attempts.map(({ upstream, model, state, code }) => ({ upstream, model, state, error_code: code })),
  };
}
