import { z } from 'zod';
import { ApiError } from '../../errors.ts';
import { ADMIN_BODY_BYTES_MAX } from '../../limits.ts';
import { changeSpendLimit, revokeGrant } from '../../oauth/index.ts';
import { pageQuery } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, type Routes } from '../edge/route.ts';
import { creditLimitFields } from './key-bodies.ts';
import { deletedOauthGrantSchema, oauthGrantPage, oauthGrantSchema, visibleGrants } from './oauth-grants.ts';

/** What apps may do with the account that the session works in: what the person allowed them, for an owner what all did. */
export function consoleOauthGrantRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'GET',
      path: '/api/console/oauth-grants',
      summary: 'The apps that may act for the account, newest first: one’s own, and for an owner everybody’s',
      access: 'session',
      role: 'viewer',
      query: pageQuery,
      answers: { 200: listOf(oauthGrantSchema) },
    },
    ({ signedIn, query }) => oauthGrantPage(deps, visibleGrants(signedIn), query),
  );

  routes.add(
    {
      method: 'PATCH',
      path: '/api/console/oauth-grants/{grant_id}',
      summary: 'Change what an app may spend; in force once this is answered',
      access: 'session',
      role: 'member',
      body: { kind: 'json', schema: z.strictObject(creditLimitFields), bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: oauthGrantSchema },
      codes: ['grant_not_found'],
    },
    async ({ signedIn, actor, param, body }) => {
      const grant = { ...visibleGrants(signedIn), id: param('grant_id') };
      const change = { creditLimit: body.credit_limit, creditLimitReset: body.credit_limit_reset };
      await changeSpendLimit(deps, actor, grant, change);
      const [changed] = (await oauthGrantPage(deps, grant, { limit: 1 })).data;
      if (changed === undefined) throw new ApiError('grant_not_found');
      return changed;
    },
  );

  routes.add(
    {
      method: 'DELETE',
      path: '/api/console/oauth-grants/{grant_id}',
      summary: 'Revoke what an app may do, with all its tokens; when this is answered, none of them works any more',
      access: 'session',
      role: 'viewer',
      answers: { 200: deletedOauthGrantSchema },
      codes: ['grant_not_found'],
    },
    async ({ signedIn, actor, param }) => {
      await revokeGrant(deps, actor, param('grant_id'), visibleGrants(signedIn));
      return { id: param('grant_id'), object: 'oauth_grant', deleted: true };
    },
  );
}
