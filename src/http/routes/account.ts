import { findKey } from '../../accounts/index.ts';
import { orPrecheckFailed } from '../../billing/index.ts';
import type { Db } from '../../db/index.ts';
import { ApiError } from '../../errors.ts';
import { balanceOf, type Entry, type EntryFilter, listEntries, listGrants, type Page } from '../../ledger/index.ts';
import { EXPORT_ROWS_PER_READ } from '../../limits.ts';
import { spendingOfKeys } from '../../reports/index.ts';
import { momentParam, pageQuery } from '../contract/fields.ts';
import { formatParam } from '../contract/request-queries.ts';
import type { HttpDeps } from '../deps.ts';
import { sendCsv } from '../edge/csv.ts';
import { listOf, page, type Routes } from '../edge/route.ts';
import { balanceSchema, balanceView } from '../views/balance.ts';
import { keySchema, keyView } from '../views/keys.ts';
import { ENTRY_COLUMNS, entrySchema, entryView, grantSchema, grantView } from '../views/ledger.ts';

const entriesQuery = pageQuery.extend({
  since: momentParam.optional(),
  until: momentParam.optional().describe('Not included.'),
  format: formatParam,
});

/** Of the whole range, newest first. */
async function* entryPages(
  read: (wanted: Page & EntryFilter) => Promise<readonly Entry[]>,
  range: Pick<EntryFilter, 'since' | 'until'>,
): AsyncGenerator<readonly Entry[], void> {
  const { since, until } = range;
  let after: string | undefined;
  do {
    const entries = await read({ since, until, after, limit: EXPORT_ROWS_PER_READ });
    yield entries;
    after = entries.length < EXPORT_ROWS_PER_READ ? undefined : entries.at(-1)?.id;
  } while (after !== undefined);
}

/** What an account sees of itself. */
export function accountRoutes(routes: Routes, { db, reads, clock }: HttpDeps): void {
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
      return balanceView(balance);
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
      query: entriesQuery,
      answers: { 200: listOf(entrySchema) },
      otherMedia: ['text/csv'],
      codes: ['precheck_failed'],
    },
    ({ accountId, query: { limit, after, format, ...range }, reply }) => {
      const readFrom = (source: Db) => (wanted: Page & EntryFilter) =>
        orPrecheckFailed(() => listEntries(source, accountId, wanted));
      if (format === 'csv')
        return sendCsv(reply, 'transactions.csv', ENTRY_COLUMNS, entryPages(readFrom(reads), range));
      // A caller finds the charge of the call that it just made, hence not from a replica.
      return page(limit, (most) => readFrom(db)({ ...range, after, limit: most }), entryView);
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
      const spending = await orPrecheckFailed(() => spendingOfKeys(db, [key], clock.now()));
      return keyView(key, spending(key.id).spent);
    },
  );
}
