import { z } from 'zod';
import { findAccount } from '../../accounts/index.ts';
import { unixSeconds } from '../../clock.ts';
import { ApiError } from '../../errors.ts';
import { ADMIN_BODY_BYTES_MAX, EMAIL_CHARS_MAX } from '../../limits.ts';
import { optional } from '../../parse.ts';
import {
  ACCOUNT_ROLES,
  invitations,
  listPeople,
  mailedLinks,
  OPERATOR_ROLES,
  updatePerson,
} from '../../people/index.ts';
import { nameField, pageQuery } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, page, type Routes } from '../edge/route.ts';
import { invitationView, linkSchema, personSchema, personView } from '../views/people.ts';

const email = z.email().max(EMAIL_CHARS_MAX);

const personChange = z.strictObject({
  name: optional(nameField),
  operator_role: z.enum(OPERATOR_ROLES).nullable().optional(),
  disabled: optional(z.boolean()),
});
const operatorInvitation = z.strictObject({ email, operator_role: z.enum(OPERATOR_ROLES) });
const memberInvitation = z.strictObject({ email, role: z.enum(ACCOUNT_ROLES) });

/** People as the operator sees them, and the links that let them in. */
export function peopleAdminRoutes(routes: Routes, deps: HttpDeps): void {
  /** The link goes to its address where mail is set, and is answered in any case. */
  const passOn = (made: invitations.MadeLink): string => {
    mailedLinks.mailLink(deps, made);
    return mailedLinks.linkUrl(deps, made.secret);
  };

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/people',
      summary: 'Everybody who can sign in, newest first',
      access: 'operator',
      query: pageQuery,
      answers: { 200: listOf(personSchema) },
    },
    ({ query }) => page(query.limit, (limit) => listPeople(deps.db, limit, query.after), personView),
  );

  routes.add(
    {
      method: 'PATCH',
      path: '/api/admin/people/{person_id}',
      summary: 'Rename or disable a person, or change the role on the deployment; disabling ends every session',
      access: 'operator',
      body: { kind: 'json', schema: personChange, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: personSchema },
      codes: ['person_not_found'],
    },
    async ({ param, body, actor }) => {
      const { name, operator_role: operatorRole, disabled } = body;
      return personView(await updatePerson(deps, actor, param('person_id'), { name, operatorRole, disabled }));
    },
  );

  routes.add(
    {
      method: 'POST',
      path: '/api/admin/people/{person_id}/password-link',
      summary: 'A link that sets a new password, shown this once; it ends the links before it',
      access: 'operator',
      answers: { 200: linkSchema },
      codes: ['person_not_found'],
    },
    async ({ param, actor, reply }) => {
      const made = await invitations.makePasswordLink(deps, actor, param('person_id'));
      reply.header('cache-control', 'no-store');
      return { object: 'link', url: passOn(made), expires_at: unixSeconds(made.link.expiresAt) };
    },
  );

  routes.add(
    {
      method: 'POST',
      path: '/api/admin/operators',
      summary: 'Invite a person to run this gateway; the link is shown this once',
      access: 'operator',
      body: { kind: 'json', schema: operatorInvitation, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: linkSchema },
      codes: ['sign_up_closed'],
    },
    async ({ body, actor, reply }) => {
      const invited = { email: body.email, accountId: null, role: null, operatorRole: body.operator_role };
      const made = await invitations.invite(deps, actor, invited);
      reply.header('cache-control', 'no-store');
      return invitationView(made.link, passOn(made));
    },
  );

  routes.add(
    {
      method: 'POST',
      path: '/api/admin/accounts/{account_id}/invitations',
      summary: 'Invite a person to an account; the link is shown this once',
      access: 'operator',
      body: { kind: 'json', schema: memberInvitation, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: linkSchema },
      codes: ['account_not_found', 'sign_up_closed'],
    },
    async ({ param, body, actor, reply }) => {
      const accountId = param('account_id');
      if ((await findAccount(deps.db, accountId)) === undefined) throw new ApiError('account_not_found');
      const invited = { email: body.email, accountId, role: body.role, operatorRole: null };
      const made = await invitations.invite(deps, actor, invited);
      reply.header('cache-control', 'no-store');
      return invitationView(made.link, passOn(made));
    },
  );
}
