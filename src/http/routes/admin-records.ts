import { z } from 'zod';
import { findAccount } from '../../accounts/index.ts';
import { listChanges } from '../../audit/index.ts';
import { orPrecheckFailed } from '../../billing/index.ts';
import { ApiError } from '../../errors.ts';
import { books, listEntries, verdicts } from '../../ledger/index.ts';
import { BOOK_ENTRIES_PER_REQUEST_MAX } from '../../limits.ts';
import { sharedRun } from '../../shared-run.ts';
import { pageQuery, textParam } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, page, type Routes } from '../edge/route.ts';
import { auditSchema, auditView } from '../views/audit.ts';
import { entrySchema, entryView } from '../views/ledger.ts';

const booksSchema = z
  .strictObject({
    object: z.literal('books'),
    balanced: z.boolean(),
    accounts: z.int(),
    entries: z.int(),
    entries_checked: z.int().describe('How many were read: those since the last check, or all.'),
    difference: z.record(z.string(), z.unknown()).optional().describe('The first that was found.'),
  })
  .meta({ id: 'Books' });

/** What an operator looks up: money and changes. */
export function recordAdminRoutes(routes: Routes, { db, reads, clock }: HttpDeps): void {
  const checkBooks = (isFull: boolean) =>
    orTooLong(() => books(db, isFull, { checkedAt: clock.now(), entriesMax: BOOK_ENTRIES_PER_REQUEST_MAX }));
  // It reads every entry ever made: as many at once as operators ask for would slow down callers.
  const checkAll = sharedRun(() => checkBooks(true));

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/accounts/{account_id}/ledger',
      summary: 'Every movement of an account, newest first, with the balance that results',
      access: 'operator',
      query: pageQuery,
      answers: { 200: listOf(entrySchema) },
      codes: ['account_not_found', 'precheck_failed'],
    },
    ({ param, query }) =>
      orPrecheckFailed(async () => {
        const accountId = param('account_id');
        if ((await findAccount(db, accountId)) === undefined) throw new ApiError('account_not_found');
        const read = (limit: number) => listEntries(reads, accountId, { limit, after: query.after });
        return page(query.limit, read, entryView);
      }),
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/books',
      summary: 'Recompute every balance from the entries since the last check, or from all, and compare',
      access: 'operator',
      query: z.object({ full: z.enum(['0', '1']).optional().describe('1 reads every entry ever made.') }),
      answers: { 200: booksSchema },
      codes: ['precheck_failed', 'books_too_long'],
    },
    ({ query }) =>
      orPrecheckFailed(async () => {
        const isFull = query.full === '1';
        const { checked, difference, ...counts } = await (isFull ? checkAll() : checkBooks(false));
        return { object: 'books', ...counts, entries_checked: checked, ...(difference && { difference }) };
      }),
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/audit',
      summary: 'Every change, newest first',
      access: 'operator',
      query: pageQuery.extend({
        actor: textParam.describe('Who made it, as the entries name them.'),
        action: textParam.describe('Such as `key.create`, or `key` for all that is done with keys.'),
        target: textParam.describe('The id or name of what was changed.'),
        after: z.coerce.number().int().min(1).optional(),
      }),
      answers: { 200: listOf(auditSchema) },
    },
    ({ query: { limit, after, ...filter } }) => {
      const place = after === undefined ? undefined : BigInt(after);
      return page(limit, (most) => listChanges(reads, most, { ...filter, after: place }), auditView);
    },
  );
}

async function orTooLong<Result>(check: () => Promise<Result>): Promise<Result> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof verdicts.BooksTooLong)) throw error;
    const message = `${error.entries} entries would have to be read, which takes longer than an answer may. Run "tollgate books verify".`;
    throw new ApiError('books_too_long', { message, cause: error });
  }
}
