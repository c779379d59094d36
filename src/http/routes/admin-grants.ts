import { z } from 'zod';
import { grants, orPrecheckFailed } from '../../billing/index.ts';
import { ApiError } from '../../errors.ts';
import { listGrants } from '../../ledger/index.ts';
import { ADMIN_BODY_BYTES_MAX } from '../../limits.ts';
import { optional } from '../../parse.ts';
import { momentField, nameField, pageQuery, referenceField, signedCreditsField } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, page, type Routes } from '../edge/route.ts';
import { grantSchema, grantView } from '../views/ledger.ts';
import { requireAccount } from './key-bodies.ts';

const reason = nameField.describe('Why, for the audit.');

const newGrant = z
  .strictObject({
    credits: signedCreditsField.describe('Below zero takes unspent credits back.'),
    expires_at: momentField.nullable().optional(),
    source: nameField.nullish().transform((source) => source ?? 'operator'),
    reference: referenceField.nullable().optional(),
    reason: optional(reason),
  })
  .superRefine(({ credits, reason: why, expires_at }, context) => {
    if (credits > 0n) return;
    const refuse = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
    if (why === undefined) refuse('reason', 'expected the reason for which credits are taken back');
    if (expires_at instanceof Date) refuse('expires_at', 'what is taken back does not expire');
  });

const grantChange = z
  .strictObject({
    expires_at: momentField.nullable().optional(),
    source: optional(nameField),
    reference: optional(referenceField),
    reason: optional(reason),
  })
  .refine(({ expires_at, source, reference }) => [expires_at, source, reference].some((field) => field !== undefined), {
    error: 'expected "expires_at", "source" or "reference"',
  });

/** Credits given, taken back and corrected. */
export function grantAdminRoutes(routes: Routes, deps: HttpDeps): void {
  const refusePast = (expiresAt: Date | null | undefined) => {
    if (expiresAt instanceof Date && expiresAt <= deps.clock.now()) {
      const message = '"expires_at": expected a moment to come.';
      throw new ApiError('invalid_parameter', { message, param: 'expires_at' });
    }
  };

  routes.add(
    {
      method: 'POST',
      path: '/api/admin/accounts/{account_id}/grants',
      summary: 'Give an account credits, or take unspent ones back; a reference is granted once',
      access: 'operator',
      example: { credits: 500, reference: 'invoice-17' },
      body: { kind: 'json', schema: newGrant, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: grantSchema },
      codes: ['account_not_found', 'duplicate_reference', 'credits_not_available', 'precheck_failed'],
    },
    async ({ param, body, actor }) => {
      refusePast(body.expires_at);
      const order = {
        accountId: param('account_id'),
        amount: body.credits,
        source: body.source,
        reference: body.reference ?? undefined,
        expiresAt: body.expires_at ?? undefined,
        reason: body.reason,
      };
      return grantView(await orPrecheckFailed(() => grants.give(deps, actor, order)));
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/accounts/{account_id}/grants',
      summary: 'The credits that an account was given, newest first',
      access: 'operator',
      query: pageQuery,
      answers: { 200: listOf(grantSchema) },
      codes: ['account_not_found', 'precheck_failed'],
    },
    async ({ param, query }) => {
      const { id } = await requireAccount(deps, param('account_id'));
      const read = (limit: number) =>
        orPrecheckFailed(() => listGrants(deps.db, id, { limit, after: query.after }, deps.clock.now()));
      return page(query.limit, read, grantView);
    },
  );

  routes.add(
    {
      method: 'PATCH',
      path: '/api/admin/grants/{grant_id}',
      summary: 'Correct when a grant expires, its source or its reference',
      access: 'operator',
      body: { kind: 'json', schema: grantChange, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: grantSchema },
      codes: ['grant_not_found', 'grant_over', 'duplicate_reference', 'precheck_failed'],
    },
    async ({ param, body: { expires_at, ...rest }, actor }) => {
      refusePast(expires_at);
      const change = { ...rest, expiresAt: expires_at };
      return grantView(await orPrecheckFailed(() => grants.correct(deps, actor, param('grant_id'), change)));
    },
  );
}
