import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import {
  type Account,
  type ApiKey,
  findAccount,
  type KeyChange,
  type KeySettings,
  listKeys,
  type NewKey,
  type RolledKey,
} from '../../accounts/index.ts';
import { unixSeconds } from '../../clock.ts';
import { ApiError } from '../../errors.ts';
import { KEY_OVERLAP_SECONDS_MAX } from '../../limits.ts';
import { optional } from '../../parse.ts';
import { spendingOfKeys } from '../../reports/index.ts';
import {
  concurrencyField,
  creditsField,
  groupsField,
  momentField,
  nameField,
  type pageQuery,
  rpmField,
} from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { page } from '../edge/route.ts';
import { keyRecordView } from '../views/admin.ts';

/** Keys as the operator and the account holder make and see them. */

export const creditLimitFields = {
  credit_limit: creditsField.nullable().optional(),
  credit_limit_reset: z.enum(['day', 'week', 'month']).nullable().optional(),
};

const settings = {
  groups: groupsField.nullable().optional(),
  rpm: rpmField.nullable().optional(),
  concurrency: concurrencyField.nullable().optional(),
  ...creditLimitFields,
  expires_at: momentField.nullable().optional(),
};

export const newKeyBody = z.strictObject({ name: nameField, ...settings });
export const keyChangeBody = z.strictObject({
  name: optional(nameField),
  disabled: optional(z.boolean()),
  ...settings,
});
export const rollBody = z.strictObject({ overlap_seconds: z.int().min(0).max(KEY_OVERLAP_SECONDS_MAX) });
export const deletedKeySchema = z.strictObject({
  id: z.string(),
  object: z.literal('api_key'),
  deleted: z.literal(true),
});

export function keySettingsOf(body: z.output<typeof newKeyBody>): KeySettings {
  return {
    name: body.name,
    groups: body.groups ?? null,
    rpm: body.rpm ?? null,
    concurrency: body.concurrency ?? null,
    creditLimit: body.credit_limit ?? null,
    creditLimitReset: body.credit_limit_reset ?? null,
    expiresAt: body.expires_at ?? null,
  };
}

export function keyChangeOf(body: z.output<typeof keyChangeBody>): KeyChange {
  const { credit_limit, credit_limit_reset, expires_at, ...same } = body;
  return { ...same, creditLimit: credit_limit, creditLimitReset: credit_limit_reset, expiresAt: expires_at };
}

/** The answer to the key's creation: the only place that ever shows the key itself. */
export async function newKeyView(deps: HttpDeps, reply: FastifyReply, { key, secret }: NewKey) {
  reply.header('cache-control', 'no-store');
  return { ...(await keyRecordOf(deps, key)), key: secret };
}

/** The same for a key in the place of another. */
export async function rolledKeyView(deps: HttpDeps, reply: FastifyReply, { replaced, ...made }: RolledKey) {
  const expiresAt = replaced.expiresAt === null ? null : unixSeconds(replaced.expiresAt);
  return { ...(await newKeyView(deps, reply, made)), replaces: { id: replaced.id, expires_at: expiresAt } };
}

export async function keyRecordOf(deps: HttpDeps, key: ApiKey) {
  const [view] = await recordViews(deps, [key], await requireAccount(deps, key.accountId));
  return view;
}

/** The live keys of an account, newest first. */
export async function keyRecordsOf(deps: HttpDeps, accountId: string, query: z.output<typeof pageQuery>) {
  const account = await requireAccount(deps, accountId);
  const read = (limit: number) => listKeys(deps.db, account.id, { limit, after: query.after });
  const keys = await page(query.limit, read, (key) => key);
  return { ...keys, data: await recordViews(deps, keys.data, account) };
}

/** With what each has spent, and what keeps it from working. */
async function recordViews({ db, clock, catalogue }: HttpDeps, keys: readonly ApiKey[], account: Account) {
  const spending = await spendingOfKeys(db, keys, clock.now());
  return keys.map((key) => keyRecordView(key, spending(key.id), account, catalogue.snapshot));
}

export async function requireAccount({ db }: HttpDeps, id: string): Promise<Account> {
  const account = await findAccount(db, id);
  if (account === undefined) throw new ApiError('account_not_found');
  return account;
}
