import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { ACCOUNT_ROLES, type links, type membersOf, OPERATOR_ROLES, type Person } from '../../people/index.ts';

/** People, and the links that let them in. */

export const personSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('person'),
    email: z.string(),
    name: z.string(),
    operator_role: z.enum(OPERATOR_ROLES).nullable(),
    disabled: z.boolean(),
    created_at: z.int().describe('Unix seconds.'),
    last_sign_in_at: z.int().nullable(),
  })
  .meta({ id: 'Person' });

export function personView(person: Person): z.infer<typeof personSchema> {
  return {
    id: person.id,
    object: 'person',
    email: person.email,
    name: person.name,
    operator_role: person.operatorRole,
    disabled: person.disabled,
    created_at: unixSeconds(person.createdAt),
    last_sign_in_at: person.lastSignInAt === null ? null : unixSeconds(person.lastSignInAt),
  };
}

export const linkSchema = z
  .strictObject({
    object: z.literal('link'),
    url: z.string().describe('Works once, for whoever holds it.'),
    expires_at: z.int().describe('Unix seconds.'),
    id: z.string().optional(),
    email: z.string().optional(),
    role: z.enum(ACCOUNT_ROLES).nullable().optional(),
    operator_role: z.enum(OPERATOR_ROLES).nullable().optional(),
  })
  .meta({ id: 'OneTimeLink' });

export function invitationView(link: links.OneTimeLink, url: string): z.infer<typeof linkSchema> {
  const { id, email, role, operatorRole } = link;
  return { object: 'link', url, expires_at: unixSeconds(link.expiresAt), id, email, role, operator_role: operatorRole };
}

/** A list that is short enough to be answered at once. */
export const wholeListOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ object: z.literal('list'), data: z.array(item) });

export const memberSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('member'),
    email: z.string(),
    name: z.string(),
    role: z.enum(ACCOUNT_ROLES),
    last_sign_in_at: z.int().nullable(),
  })
  .meta({ id: 'Member' });

export function memberView(member: Awaited<ReturnType<typeof membersOf>>[number]): z.infer<typeof memberSchema> {
  return {
    id: member.id,
    object: 'member',
    email: member.email,
    name: member.name,
    role: member.role,
    last_sign_in_at: member.lastSignInAt === null ? null : unixSeconds(member.lastSignInAt),
  };
}

/** An invitation that waits to be accepted; its link was shown when it was made. */
export const invitationSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('invitation'),
    email: z.string(),
    role: z.enum(ACCOUNT_ROLES).nullable(),
    invited_by: z.string(),
    created_at: z.int(),
    expires_at: z.int(),
  })
  .meta({ id: 'Invitation' });

export function openInvitationView(link: links.OneTimeLink): z.infer<typeof invitationSchema> {
  return {
    id: link.id,
    object: 'invitation',
    email: link.email,
    role: link.role,
    invited_by: link.createdBy,
    created_at: unixSeconds(link.createdAt),
    expires_at: unixSeconds(link.expiresAt),
  };
}
