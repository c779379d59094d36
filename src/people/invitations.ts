import { type Actor, recordChange } from '../audit/index.ts';
import type { Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { INVITATION_MS, PASSWORD_LINK_MS, SIGN_IN_LINK_MS } from '../limits.ts';
import type { PeopleDeps } from './deps.ts';
import { deleteInvitation, deleteLinksOf, insertLink, type OneTimeLink } from './links.ts';
import { addPerson, refusingDuplicateEmail } from './people.ts';
import { refuseIfClosed } from './sign-up-mode.ts';
import {
  type AccountRole,
  findPerson,
  findPersonByEmail,
  type OperatorRole,
  type Person,
  saveMembership,
  savePerson,
} from './store.ts';
import { takeInvitation } from './turn.ts';

/** A link that was made, with the secret that is shown this once. */
export interface MadeLink {
  readonly link: OneTimeLink;
  readonly secret: string;
}

export interface Invited {
  readonly email: string;
  /** Both or neither: a membership. */
  readonly accountId: string | null;
  readonly role: AccountRole | null;
  readonly operatorRole: OperatorRole | null;
}

/**
 * A link by which its holder joins an account, the operators, or both. Accepting it makes the holder the person of the invited
 * email. Throws `sign_up_closed`.
 */
export async function invite(deps: PeopleDeps, by: Actor, invited: Invited): Promise<MadeLink> {
  refuseIfClosed(deps);
  const { db, clock } = deps;
  return db.transaction(async (tx) => {
    const now = clock.now();
    const made = await insertLink(
      tx,
      { ...invited, purpose: 'invitation', personId: null, createdBy: by.name },
      now,
      INVITATION_MS,
    );
    const { email, role, operatorRole } = invited;
    const detail = { email, role, operator_role: operatorRole };
    const target = invited.accountId ?? made.link.id;
    await recordChange(tx, by, { at: now, action: 'invitation.create', target, detail });
    return made;
  });
}

/** By one of the account's own people, throttled: each may send a mail to an address of their choice. Throws `rate_limited`. */
export async function inviteFromAccount(
  deps: PeopleDeps,
  by: Actor,
  invited: Invited & { readonly accountId: string },
): Promise<MadeLink> {
  await takeInvitation(deps, invited.accountId);
  return invite(deps, by, invited);
}

export async function withdrawInvitation(
  { db, clock }: PeopleDeps,
  by: Actor,
  accountId: string | null,
  id: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await deleteInvitation(tx, accountId, id))) throw new ApiError('invitation_not_found');
    await recordChange(tx, by, {
      at: clock.now(),
      action: 'invitation.delete',
      target: accountId ?? id,
      detail: { id },
    });
  });
}

/** A link that sets a new password. It takes the place of every link that the person has not used. */
export async function makePasswordLink({ db, clock }: PeopleDeps, by: Actor, personId: string): Promise<MadeLink> {
  return db.transaction(async (tx) => {
    const person = await findPerson(tx, personId);
    if (person === undefined) throw new ApiError('person_not_found');
    await deleteLinksOf(tx, personId);
    return personalLink(tx, by, person, 'set_password', clock.now(), PASSWORD_LINK_MS);
  });
}

/** For a first start: the account belongs to the operator whom the settings name, else to one who is made for it. */
export async function addDemoOwner(
  tx: Tx,
  by: Actor,
  { id, createdAt }: { readonly id: string; readonly createdAt: Date },
  emails: { readonly operator: string | undefined; readonly demo: string },
): Promise<void> {
  const named = emails.operator === undefined ? undefined : await findPersonByEmail(tx, emails.operator);
  const demo = { email: emails.demo, name: 'Demo', operatorRole: 'operator' } as const;
  const person = named ?? (await addPerson(tx, by, demo, createdAt));
  await saveMembership(tx, person.id, id, 'owner', createdAt);
}

/**
 * A link that signs in, for a terminal whose reader owns the data folder anyway. Undefined for an unknown email, and once
 * a password has been set: from then on the terminal opens nothing.
 */
export async function makeSignInLink(
  { db, clock }: Pick<PeopleDeps, 'db' | 'clock'>,
  by: Actor,
  email: string,
): Promise<MadeLink | undefined> {
  return db.transaction(async (tx) => {
    const person = await findPersonByEmail(tx, email);
    if (person === undefined || person.verifier !== null || person.disabled) return undefined;
    await deleteLinksOf(tx, person.id);
    return personalLink(tx, by, person, 'sign_in', clock.now(), SIGN_IN_LINK_MS);
  });
}

/** The operator of this email, made if there is none, with a link to set a password. */
export async function makeOperator(
  { db, clock }: Pick<PeopleDeps, 'db' | 'clock'>,
  by: Actor,
  email: string,
  operatorRole: OperatorRole,
): Promise<MadeLink> {
  return refusingDuplicateEmail(() =>
    db.transaction(async (tx) => {
      const now = clock.now();
      const known = await findPersonByEmail(tx, email);
      const name = email.slice(0, email.indexOf('@'));
      const person = known ?? (await addPerson(tx, by, { email, name, operatorRole }, now));
      if (known !== undefined) {
        await savePerson(tx, { ...known, operatorRole });
        const detail = { operator_role: operatorRole };
        await recordChange(tx, by, { at: now, action: 'person.update', target: person.id, detail });
        await deleteLinksOf(tx, person.id);
      }
      return personalLink(tx, by, person, 'set_password', now, PASSWORD_LINK_MS);
    }),
  );
}

/** Part of a larger change. */
export async function personalLink(
  tx: Tx,
  by: Actor,
  { id, email }: Pick<Person, 'id' | 'email'>,
  purpose: 'sign_in' | 'set_password',
  now: Date,
  lifetimeMs: number,
): Promise<MadeLink> {
  const nothing = { accountId: null, role: null, operatorRole: null };
  const made = await insertLink(tx, { ...nothing, purpose, personId: id, email, createdBy: by.name }, now, lifetimeMs);
  await recordChange(tx, by, { at: now, action: `link.${purpose}`, target: id, detail: { link: made.link.id } });
  return made;
}
