import { links, membersOf } from '../../people/index.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import { invitationSchema, memberSchema, memberView, openInvitationView, wholeListOf } from '../views/people.ts';
import { requireAccount } from './key-bodies.ts';

/** Who belongs to an account, and who is invited, for operators. */
export function memberAdminRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'GET',
      path: '/api/admin/accounts/{account_id}/members',
      summary: 'Who belongs to an account',
      access: 'operator',
      answers: { 200: wholeListOf(memberSchema) },
      codes: ['account_not_found'],
    },
    async ({ param }) => {
      const { id } = await requireAccount(deps, param('account_id'));
      const members = await membersOf(deps.db, id);
      return { object: 'list', data: members.map(memberView) };
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/accounts/{account_id}/invitations',
      summary: 'Open invitations to an account',
      access: 'operator',
      answers: { 200: wholeListOf(invitationSchema) },
      codes: ['account_not_found'],
    },
    async ({ param }) => {
      const { id } = await requireAccount(deps, param('account_id'));
      const open = await links.openInvitations(deps.db, id, deps.clock.now());
      return { object: 'list', data: open.map(openInvitationView) };
    },
  );
}
