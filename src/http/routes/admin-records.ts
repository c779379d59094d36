import { z } from 'zod';
import { findAccount } from '../../accounts/index.ts';
import { listChanges } from '../../audit/index.ts';
import { grantCredits, ofLedger } from '../../billing/index.ts';
import { ApiError } from '../../errors.ts';
import { books, listEntries } from '../../ledger/index.ts';
import { ADMIN_BODY_BYTES_MAX } from '../../limits.ts';
import { creditsField, momentField, nameField, pageQuery, referenceField } from '../fields.ts';
import type { HttpParts } from '../parts.ts';
import { listOf, page, type Routes } from '../route.ts';
import { auditSchema, auditView, entrySchema, entryView, grantSchema, grantView } from '../views.ts';

const newGrant = z.strictObject({
  credits: creditsField.refine((amount) => amount > 0n, { error: 'expected more than no credits' }),
  expires_at: momentField.nullable().optional(),
  source: nameField.nullish().transform((source) => source ?? 'operator'),
  reference: referenceField.nullable().optional(),
});

const booksSchema = z
  .strictObject({
    object: z.literal('books'),
    balanced: z.boolean(),
    accounts: z.int(),
    entries: z.int(),
    difference: z.record(z.string(), z.unknown()).optional().describe('The first that was found.'),
  })
  .meta({ id: 'Books' });

/** What an operator looks up: money and changes. */
export function recordAdminRoutes(routes: Routes, parts: HttpParts): void {
  const { db, clock } = parts;

  routes.add(
    {
      method: 'POST',
      path: '/api/admin/accounts/{account_id}/grants',
      summary: 'Give an account credits; a reference is granted once',
      access: 'operator',
      body: { kind: 'json', schema: newGrant, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: grantSchema },
      codes: ['account_not_found', 'duplicate_reference', 'precheck_failed'],
    },
    async ({ param, body, actor }) => {
      const expiresAt = body.expires_at ?? undefined;
      if (expiresAt !== undefined && expiresAt <= clock.now()) {
        throw new ApiError('invalid_parameter', { message: '"expires_at": expected a moment to come.' });
      }
      const order = {
        accountId: param('account_id'),
        amount: body.credits,
        source: body.source,
        reference: body.reference ?? undefined,
        expiresAt,
      };
      return grantView(await ofLedger(() => grantCredits(parts, actor, order)));
    },
  );

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
      ofLedger(async () => {
        const accountId = param('account_id');
        if ((await findAccount(db, accountId)) === undefined) throw new ApiError('account_not_found');
        const read = (limit: number) => listEntries(db, accountId, { limit, after: query.after });
        return page(query.limit, read, entryView);
      }),
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/books',
      summary: 'Recompute every balance from the entries and compare',
      access: 'operator',
      answers: { 200: booksSchema },
      codes: ['precheck_failed'],
    },
    () => ofLedger(async () => ({ object: 'books', ...(await books(db)) })),
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/audit',
      summary: 'Every change, newest first',
      access: 'operator',
      query: pageQuery.extend({ after: z.coerce.number().int().min(1).optional() }),
      answers: { 200: listOf(auditSchema) },
    },
    ({ query }) => {
      const after = query.after === undefined ? undefined : BigInt(query.after);
      return page(query.limit, (limit) => listChanges(db, limit, after), auditView);
    },
  );
}
