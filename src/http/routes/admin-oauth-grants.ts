import { revokeGrant } from '../../oauth/index.ts';
import { pageQuery, textParam } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, type Routes } from '../edge/route.ts';
import { deletedOauthGrantSchema, oauthGrantPage, oauthGrantSchema } from './oauth-grants.ts';

/** What people let applications do, for the operator. */
export function oauthGrantAdminRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'GET',
      path: '/api/admin/oauth/grants',
      summary: 'What people let applications do with accounts, newest first; of one account, person or application',
      access: 'operator',
      query: pageQuery.extend({ account: textParam, person: textParam, client: textParam }),
      answers: { 200: listOf(oauthGrantSchema) },
    },
    ({ query }) => {
      const of = { accountId: query.account, personId: query.person, clientId: query.client };
      return oauthGrantPage(deps, of, query);
    },
  );

  routes.add(
    {
      method: 'DELETE',
      path: '/api/admin/oauth/grants/{grant_id}',
      summary: 'Revoke a grant with all its tokens; when this is answered, no process accepts them any more',
      access: 'operator',
      answers: { 200: deletedOauthGrantSchema },
      codes: ['grant_not_found'],
    },
    async ({ param, actor }) => {
      await revokeGrant(deps, actor, param('grant_id'));
      return { id: param('grant_id'), object: 'oauth_grant', deleted: true };
    },
  );
}
