import { z } from 'zod';
import {
  type Account,
  type ApiKey,
  createKey,
  deleteKey,
  findAccount,
  listKeys,
  updateKey,
} from '../../accounts/index.ts';
import { ApiError } from '../../errors.ts';
import { ADMIN_BODY_BYTES_MAX } from '../../limits.ts';
import { optional } from '../../parse.ts';
import { spentByKeys } from '../../reports/index.ts';
import { keyRecordSchema, keyRecordView, newKeySchema } from '../admin-views.ts';
import { concurrencyField, creditsField, groupsField, momentField, nameField, pageQuery, rpmField } from '../fields.ts';
import type { HttpParts } from '../parts.ts';
import { listOf, page, type Routes } from '../route.ts';

const settings = {
  groups: groupsField.nullable().optional(),
  rpm: rpmField.nullable().optional(),
  concurrency: concurrencyField.nullable().optional(),
  credit_limit: creditsField.nullable().optional(),
  credit_limit_reset: z.enum(['day', 'week', 'month']).nullable().optional(),
  expires_at: momentField.nullable().optional(),
};

const newKey = z.strictObject({ name: nameField, ...settings });
const keyChange = z.strictObject({ name: optional(nameField), disabled: optional(z.boolean()), ...settings });
const deletedSchema = z.strictObject({ id: z.string(), object: z.literal('api_key'), deleted: z.literal(true) });

export function keyAdminRoutes(routes: Routes, parts: HttpParts): void {
  const { db, catalogue } = parts;
  const views = async (keys: readonly ApiKey[], account: Account) => {
    const used = await spentByKeys(db, keys);
    return keys.map((key) => keyRecordView(key, used.get(key.id) ?? 0n, account, catalogue.snapshot));
  };
  const accountOf = async (id: string): Promise<Account> => {
    const account = await findAccount(db, id);
    if (account === undefined) throw new ApiError('account_not_found');
    return account;
  };

  routes.add(
    {
      method: 'POST',
      path: '/api/admin/accounts/{account_id}/keys',
      summary: 'Make an API key; the answer is the only place that ever shows it',
      access: 'operator',
      body: { kind: 'json', schema: newKey, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: newKeySchema },
      codes: ['account_not_found', 'key_limit_reached'],
    },
    async ({ param, body, actor, reply }) => {
      const { key, secret } = await createKey(parts, actor, param('account_id'), {
        name: body.name,
        groups: body.groups ?? null,
        rpm: body.rpm ?? null,
        concurrency: body.concurrency ?? null,
        creditLimit: body.credit_limit ?? null,
        creditLimitReset: body.credit_limit_reset ?? null,
        expiresAt: body.expires_at ?? null,
      });
      reply.header('cache-control', 'no-store');
      const account = await accountOf(key.accountId);
      return { ...keyRecordView(key, 0n, account, catalogue.snapshot), key: secret };
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/accounts/{account_id}/keys',
      summary: 'The live keys of an account, newest first',
      access: 'operator',
      query: pageQuery,
      answers: { 200: listOf(keyRecordSchema) },
      codes: ['account_not_found'],
    },
    async ({ param, query }) => {
      const account = await accountOf(param('account_id'));
      const keys = await page(
        query.limit,
        (limit) => listKeys(db, account.id, { limit, after: query.after }),
        (key) => key,
      );
      return { ...keys, data: await views(keys.data, account) };
    },
  );

  routes.add(
    {
      method: 'PATCH',
      path: '/api/admin/keys/{key_id}',
      summary: 'Disable or enable a key, or change its name and limits',
      access: 'operator',
      body: { kind: 'json', schema: keyChange, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: keyRecordSchema },
      codes: ['key_not_found'],
    },
    async ({ param, body, actor }) => {
      const { credit_limit, credit_limit_reset, expires_at, ...same } = body;
      const change = {
        ...same,
        creditLimit: credit_limit,
        creditLimitReset: credit_limit_reset,
        expiresAt: expires_at,
      };
      const key = await updateKey(parts, actor, param('key_id'), change);
      const [view] = await views([key], await accountOf(key.accountId));
      return view;
    },
  );

  routes.add(
    {
      method: 'DELETE',
      path: '/api/admin/keys/{key_id}',
      summary: 'Delete a key; it is refused everywhere once this is answered',
      access: 'operator',
      answers: { 200: deletedSchema },
      codes: ['key_not_found'],
    },
    async ({ param, actor }) => {
      const key = await deleteKey(parts, actor, param('key_id'));
      return { id: key.id, object: 'api_key', deleted: true };
    },
  );
}
