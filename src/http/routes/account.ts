import { z } from 'zod';
import { findKey } from '../../accounts/index.ts';
import { orPrecheckFailed } from '../../billing/index.ts';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import { ApiError } from '../../errors.ts';
import { balanceOf, listEntries, listGrants } from '../../ledger/index.ts';
import { spentByKeys } from '../../reports/index.ts';
import { pageQuery } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, page, type Routes } from '../edge/route.ts';
import { keySchema, keyView } from '../views/keys.ts';
import { entrySchema, entryView, grantSchema, grantView } from '../views/ledger.ts';

const balanceSchema = z
  .strictObject({
    object: z.literal('credit_balance'),
    available: z.number().describe('What can be spent now; below zero by what real usage exceeded.'),
    reserved: z.number().describe('What running calls and jobs hold.'),
    spent: z.number(),
    updated_at: z.int(),
  })
  .meta({ id: 'CreditBalance' });

/** What an account sees of itself. */
export function accountRoutes(routes: Routes, { db, clock }: HttpDeps): void {
  routes.add(
    {
      method: 'GET',
      path: '/v1/credits',
      summary: 'The balance of the account',
      access: 'caller',
      scope: 'user:credits',
      console: 'read',
      answers: { 200: balanceSchema },
      codes: ['precheck_failed'],
    },
    async ({ accountId, reply }) => {
      const balance = await orPrecheckFailed(() => balanceOf(db, accountId, clock.now()));
      if (balance === undefined) throw new ApiError('no_account');
      reply.header('cache-control', 'private, no-store');
      return {
        object: 'credit_balance',
        available: creditsToNumber(balance.available),
        reserved: creditsToNumber(balance.reserved),
        spent: creditsToNumber(balance.charged),
        updated_at: unixSeconds(balance.updatedAt),
      };
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/v1/credits/grants',
      summary: 'The credits that the account was given, newest first',
      access: 'caller',
      scope: 'user:credits',
      console: 'read',
      query: pageQuery,
      answers: { 200: listOf(grantSchema) },
      codes: ['precheck_failed'],
    },
    ({ accountId, query }) => {
      const read = (limit: number) =>
        orPrecheckFailed(() => listGrants(db, accountId, { limit, after: query.after }, clock.now()));
      return page(query.limit, read, grantView);
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/v1/credits/transactions',
      summary: 'Every movement of the account, newest first',
      access: 'caller',
      scope: 'user:credits',
      console: 'read',
      query: pageQuery,
      answers: { 200: listOf(entrySchema) },
      codes: ['precheck_failed'],
    },
    ({ accountId, query }) => {
      const read = (limit: number) => orPrecheckFailed(() => listEntries(db, accountId, { limit, after: query.after }));
      return page(query.limit, read, entryView);
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/v1/key',
      summary: 'The key that this request was made with',
      access: 'caller',
      scope: 'none',
      answers: { 200: keySchema },
      codes: ['precheck_failed'],
    },
    async ({ caller }) => {
      const { accountId, keyId } = caller;
      const key = keyId === undefined ? undefined : await orPrecheckFailed(() => findKey(db, accountId, keyId));
      if (key === undefined) throw new ApiError('invalid_api_key');
      const used = await orPrecheckFailed(() => spentByKeys(db, [key]));
      return keyView(key, used.get(key.id) ?? 0n);
    },
  );
}
