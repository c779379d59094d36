import { z } from 'zod';
import type { ApiKey } from '../../accounts/index.ts';
import type { AuditRow } from '../../audit/index.ts';
import type { ListedModel } from '../../catalogue/index.ts';
import { unixSeconds } from '../../clock.ts';
import { ENDPOINTS, MODALITIES } from '../../configuration/index.ts';
import { creditsToNumber, type MicroCredits } from '../../credits.ts';
import type { Entry, Grant } from '../../ledger/index.ts';
import { pricingFields } from '../../pricing/index.ts';

/** Everything that leaves in wire shape: snake_case, Unix seconds, credits as numbers. */

const seconds = z.int().describe('Unix seconds.');
const credits = z.number().describe('Credits, with at most six decimals.');

export const errorSchema = z
  .strictObject({
    error: z.strictObject({
      message: z.string(),
      type: z.string(),
      code: z.string().regex(/^[a-z0-9_]+$/),
      param: z.string().nullable().describe('The field at fault, where one is known.'),
    }),
  })
  .meta({ id: 'Error' });

const cardSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('model'),
    created: seconds,
    owned_by: z.string(),
    modality: z.enum(MODALITIES),
    display_name: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    endpoints: z.array(z.enum(ENDPOINTS)),
    pricing: pricingFields.meta({ id: 'Pricing' }),
  })
  .meta({ id: 'Model' });

export const modelSchema = cardSchema;
export const modelListSchema = z.strictObject({ object: z.literal('list'), data: z.array(cardSchema) });

export function modelView(model: ListedModel) {
  return {
    id: model.id,
    object: 'model',
    created: unixSeconds(model.createdAt),
    owned_by: model.owned_by,
    modality: model.modality,
    display_name: model.display_name,
    description: model.description,
    tags: model.tags,
    endpoints: model.endpoints,
    pricing: model.pricing,
  };
}

export const publicListSchema = z
  .strictObject({
    object: z.literal('list'),
    count: z.int(),
    modalities: z.record(z.string(), z.int()),
    updated_at: seconds,
    data: z.array(
      z.strictObject({
        name: z.string(),
        modality: z.enum(MODALITIES),
        endpoints: z.array(z.enum(ENDPOINTS)),
        pricing: pricingFields.extend({ unit: z.string() }).meta({ id: 'PublicPricing' }),
      }),
    ),
  })
  .meta({ id: 'PublicList' });

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

export const auditSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('audit_entry'),
    at: seconds,
    actor: z.string(),
    action: z.string(),
    target: z.string(),
    detail: z.record(z.string(), z.unknown()),
    request_id: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' });

export function auditView(row: AuditRow): z.infer<typeof auditSchema> {
  return {
    id: String(row.id),
    object: 'audit_entry',
    at: unixSeconds(row.at),
    actor: row.actor,
    action: row.action,
    target: row.target,
    detail: row.detail,
    request_id: row.requestId,
  };
}

export const grantSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('grant'),
    account_id: z.string(),
    amount: credits.describe('Below zero: so much was taken back.'),
    remaining: credits,
    source: z.string(),
    reference: z.string().nullable(),
    created_at: seconds,
    expires_at: seconds.nullable(),
  })
  .meta({ id: 'Grant' });

export function grantView(grant: Grant): z.infer<typeof grantSchema> {
  return {
    id: grant.id,
    object: 'grant',
    account_id: grant.accountId,
    amount: creditsToNumber(grant.amount),
    remaining: creditsToNumber(grant.remaining),
    source: grant.source,
    reference: grant.reference ?? null,
    created_at: unixSeconds(grant.createdAt),
    expires_at: grant.expiresAt === undefined ? null : unixSeconds(grant.expiresAt),
  };
}

export const entrySchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('transaction'),
    type: z.enum(['grant', 'revoke', 'reserve', 'settle', 'refund', 'charge', 'cover', 'lapse']),
    amount: credits.describe('By how much the available balance changed.'),
    charged: credits.describe('How much was spent for good.'),
    balance: credits.describe('What was available afterwards.'),
    key_id: z.string().nullable(),
    request_id: z.string().nullable(),
    job_id: z.string().nullable(),
    model: z.string().nullable(),
    created_at: seconds,
  })
  .meta({ id: 'Transaction' });

export function entryView(entry: Entry): z.infer<typeof entrySchema> {
  return {
    id: entry.id,
    object: 'transaction',
    type: entry.type,
    amount: creditsToNumber(entry.amount),
    charged: creditsToNumber(entry.charged),
    balance: creditsToNumber(entry.balanceAfter),
    key_id: entry.keyId ?? null,
    request_id: entry.requestId ?? null,
    job_id: entry.jobId ?? null,
    model: entry.model ?? null,
    created_at: unixSeconds(entry.createdAt),
  };
}

function orNull<Value, View>(value: Value | null, view: (value: Value) => View): View | null {
  return value === null ? null : view(value);
}

/** `inputTokens` as callers read it: `input_tokens`. */
export function unitName(unit: string): string {
  return unit.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
