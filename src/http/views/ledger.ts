import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import type { CsvColumns } from '../../csv.ts';
import type { Entry, Grant } from '../../ledger/index.ts';

/** Grants and entries in wire shape: credits as numbers. */

const seconds = z.int().describe('Unix seconds.');
const credits = z.number().describe('Credits, with at most six decimals.');

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

/** The columns of an export; new ones are only ever added behind. The sum of `amount` is the balance. */
export const ENTRY_COLUMNS: CsvColumns<Entry> = [
  ['created_at', ({ createdAt }) => createdAt.toISOString()],
  ['id', ({ id }) => id],
  ['type', ({ type }) => type],
  ['amount', ({ amount }) => amount],
  ['charged', ({ charged }) => charged],
  ['balance', ({ balanceAfter }) => balanceAfter],
  ['key_id', ({ keyId }) => keyId ?? null],
  ['request_id', ({ requestId }) => requestId ?? null],
  ['job_id', ({ jobId }) => jobId ?? null],
  ['model', ({ model }) => model ?? null],
  ['endpoint', ({ endpoint }) => endpoint ?? null],
];

/** `inputTokens` as callers read it: `input_tokens`. */
export function unitName(unit: string): string {
  return unit.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
