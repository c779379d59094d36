import { z } from 'zod';
import { ApiError } from '../../errors.ts';
import { ADMIN_BODY_BYTES_MAX, EMAIL_CHARS_MAX } from '../../limits.ts';
import { ACCOUNT_ROLES, changeMembership, invitations, links, mailedLinks, membersOf } from '../../people/index.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import {
  invitationSchema,
  invitationView,
  linkSchema,
  memberSchema,
  memberView,
  openInvitationView,
  wholeListOf,
} from '../views/people.ts';

const role = z.enum(ACCOUNT_ROLES);
const deleted = (object: 'member' | 'invitation') =>
  z.strictObject({ id: z.string(), object: z.literal(object), deleted: z.literal(true) });

/** Who belongs to the account that the session works in. Members may look; owners invite, change and remove. */
export function consoleMemberRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'GET',
      path: '/api/console/members',
      summary: 'Who belongs to the account',
      access: 'session',
      role: 'viewer',
      answers: { 200: wholeListOf(memberSchema) },
    },
    async ({ accountId }) => {
      const members = await membersOf(deps.db, accountId);
      return { object: 'list', data: members.map(memberView) };
    },
  );

  routes.add(
    {
      method: 'PATCH',
      path: '/api/console/members/{person_id}',
      summary: 'Change a member’s role',
      access: 'session',
      role: 'owner',
      body: { kind: 'json', schema: z.strictObject({ role }), bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: memberSchema },
      codes: ['member_not_found', 'last_owner'],
    },
    async ({ accountId, actor, param, body }) => {
      await changeMembership(deps, actor, accountId, param('person_id'), body.role);
      const member = (await membersOf(deps.db, accountId)).find(({ id }) => id === param('person_id'));
      if (member === undefined) throw new ApiError('member_not_found');
      return memberView(member);
    },
  );

  routes.add(
    {
      method: 'DELETE',
      path: '/api/console/members/{person_id}',
      summary: 'Remove a member from the account',
      access: 'session',
      role: 'owner',
      answers: { 200: deleted('member') },
      codes: ['member_not_found', 'last_owner'],
    },
    async ({ accountId, actor, param }) => {
      await changeMembership(deps, actor, accountId, param('person_id'), null);
      return { id: param('person_id'), object: 'member', deleted: true };
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/console/invitations',
      summary: 'Open invitations to the account',
      access: 'session',
      role: 'owner',
      answers: { 200: wholeListOf(invitationSchema) },
    },
    async ({ accountId }) => {
      const open = await links.openInvitations(deps.db, accountId, deps.clock.now());
      return { object: 'list', data: open.map(openInvitationView) };
    },
  );

  routes.add(
    {
      method: 'POST',
      path: '/api/console/invitations',
      summary: 'Invite a person to the account; the link is shown this once',
      access: 'session',
      role: 'owner',
      body: {
        kind: 'json',
        schema: z.strictObject({ email: z.email().max(EMAIL_CHARS_MAX), role }),
        bytesMax: ADMIN_BODY_BYTES_MAX,
      },
      answers: { 200: linkSchema },
      codes: ['sign_up_closed', 'rate_limited', 'limits_unavailable'],
    },
    async ({ accountId, actor, body }) => {
      const invited = { email: body.email, accountId, role: body.role, operatorRole: null };
      const made = await invitations.inviteFromAccount(deps, actor, invited);
      mailedLinks.mailLink(deps, made);
      return invitationView(made.link, mailedLinks.linkUrl(deps, made.secret));
    },
  );

  routes.add(
    {
      method: 'DELETE',
      path: '/api/console/invitations/{invitation_id}',
      summary: 'Withdraw an invitation',
      access: 'session',
      role: 'owner',
      answers: { 200: deleted('invitation') },
      codes: ['invitation_not_found'],
    },
    async ({ accountId, actor, param }) => {
      await invitations.withdrawInvitation(deps, actor, accountId, param('invitation_id'));
      return { id: param('invitation_id'), object: 'invitation', deleted: true };
    },
  );
}
