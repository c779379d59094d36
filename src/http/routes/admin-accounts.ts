import { z } from 'zod';
import { type Account, findAccount, listAccounts, updateAccount } from '../../accounts/index.ts';
import { orPrecheckFailed } from '../../billing/index.ts';
import { ApiError } from '../../errors.ts';
import { ADMIN_BODY_BYTES_MAX, EMAIL_CHARS_MAX, PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } from '../../limits.ts';
import { optional } from '../../parse.ts';
import { createAccountWithOwner } from '../../people/index.ts';
import { figuresOf } from '../../reports/index.ts';
import { concurrencyField, groupsField, nameField, pageQuery, rpmField, textParam } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, page, type Routes } from '../edge/route.ts';
import { accountSchema, accountView } from '../views/admin.ts';

const newAccount = z.strictObject({
  name: nameField,
  email: optional(z.email().max(EMAIL_CHARS_MAX)),
  password: optional(z.string().min(PASSWORD_CHARS_MIN).max(PASSWORD_CHARS_MAX)),
  groups: optional(groupsField),
});

const accountChange = z.strictObject({
  name: optional(nameField),
  status: optional(z.enum(['active', 'suspended'])),
  groups: optional(groupsField),
  // A limit that is null goes back to the default; only what is left out stays as it is.
  limits: optional(
    z.strictObject({ rpm: rpmField.nullable().optional(), concurrency: concurrencyField.nullable().optional() }),
  ),
});

export function accountAdminRoutes(routes: Routes, deps: HttpDeps): void {
  const views = async (accounts: readonly Account[]) => {
    const ids = accounts.map(({ id }) => id);
    const figures = await orPrecheckFailed(() => figuresOf(deps.db, ids, deps.clock.now()));
    return accounts.map((account) => accountView(account, figures(account.id), deps.catalogue.snapshot));
  };
  const view = async (account: Account) => (await views([account]))[0];

  routes.add(
    {
      method: 'POST',
      path: '/api/admin/accounts',
      summary: 'Make an account',
      access: 'operator',
      example: { name: 'Ada' },
      body: { kind: 'json', schema: newAccount, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: accountSchema },
      codes: ['duplicate_email', 'precheck_failed'],
    },
    async ({ body, actor }) => view(await createAccountWithOwner(deps, actor, body)),
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/accounts',
      summary: 'All accounts, newest first',
      access: 'operator',
      query: pageQuery.extend({ search: textParam.describe('Part of the name or e-mail address, or the id.') }),
      answers: { 200: listOf(accountSchema) },
      codes: ['precheck_failed'],
    },
    async ({ query }) => {
      const read = (limit: number) => listAccounts(deps.db, { limit, after: query.after }, query.search);
      const accounts = await page(query.limit, read, (account) => account);
      return { ...accounts, data: await views(accounts.data) };
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/accounts/{account_id}',
      summary: 'One account',
      access: 'operator',
      answers: { 200: accountSchema },
      codes: ['account_not_found', 'precheck_failed'],
    },
    async ({ param }) => {
      const account = await findAccount(deps.db, param('account_id'));
      if (account === undefined) throw new ApiError('account_not_found');
      return view(account);
    },
  );

  routes.add(
    {
      method: 'PATCH',
      path: '/api/admin/accounts/{account_id}',
      summary: 'Rename, suspend or reinstate an account, or change its groups and limits',
      access: 'operator',
      body: { kind: 'json', schema: accountChange, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: accountSchema },
      codes: ['account_not_found', 'precheck_failed'],
    },
    async ({ param, body, actor }) => view(await updateAccount(deps, actor, param('account_id'), body)),
  );
}
