import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { ACCOUNT_ROLES, type links, OPERATOR_ROLES, type Person } from '../../people/index.ts';

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
