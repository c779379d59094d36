import { type Actor, recordChange } from '../audit/index.ts';
import type { Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import type { PeopleDeps } from './deps.ts';
import { deleteLinksOf, type OneTimeLink, useLink } from './links.ts';
import { checkPassword, hashPassword } from './password.ts';
import { addPerson, refusingDuplicateEmail } from './people.ts';
import { endOtherSessions, type Origin, openSession, type SignInMethod } from './sessions.ts';
import { refuseIfClosed } from './sign-up-mode.ts';
import { findPersonByEmail, lockMembers, type Person, saveMembership, savePerson, saveVerifier } from './store.ts';
import { takeTurn, withDerivation } from './turn.ts';

/** A browser that has just proved who is at it. The secret belongs into its cookie. */
export interface NewSession {
  readonly id: string;
  readonly secret: string;
  readonly personId: string;
}

/**
 * Throws `sign_in_refused` alike for a wrong password, an unknown email, a person without a password and a disabled one,
 * after the same work; `rate_limited` before any work when an email or an address has tried too often.
 */
export async function signInByPassword(
  deps: PeopleDeps,
  requestId: string,
  credentials: { readonly email: string; readonly password: string },
  origin: Origin,
): Promise<NewSession> {
  const email = credentials.email.trim().toLowerCase();
  await takeTurn(deps, 'sign-in', { address: origin.address, email });
  return withDerivation(deps, async () => {
    const person = await findPersonByEmail(deps.db, email);
    const { matches, isOutdated } = await checkPassword(credentials.password, person?.verifier ?? null);
    if (person === undefined || !matches || person.disabled) {
      await recordRefusal(deps, person, requestId, origin);
      throw new ApiError('sign_in_refused');
    }
    const verifier = isOutdated ? await hashPassword(credentials.password) : undefined;
    const actor: Actor = { name: person.email, requestId };
    return deps.db.transaction(async (tx) => {
      if (verifier !== undefined) await saveVerifier(tx, person.id, verifier);
      return startSession(tx, deps, actor, person.id, 'password', origin);
    });
  });
}

/** Opens a session as part of a change, with its row in the audit. */
export async function startSession(
  tx: Tx,
  { clock }: Pick<PeopleDeps, 'clock'>,
  actor: Actor,
  personId: string,
  method: SignInMethod,
  origin: Origin,
): Promise<NewSession> {
  const now = clock.now();
  const { id, secret } = await openSession(tx, personId, method, origin, now);
  const detail = { person: personId, method, address: origin.address };
  await recordChange(tx, actor, { at: now, action: 'session.start', target: id, detail });
  return { id, secret, personId };
}

/** Bounded by the throttle in front of it. An unknown email is not kept: it may be a password in the wrong field. */
export async function recordRefusal(
  { db, clock }: PeopleDeps,
  person: Pick<Person, 'id' | 'email'> | undefined,
  requestId: string | undefined,
  { address }: Origin,
  action: 'session.refused' | 'person.password_refused' = 'session.refused',
): Promise<void> {
  const actor: Actor = { name: person?.email ?? 'unknown', requestId };
  const change = { at: clock.now(), action, target: person?.id ?? 'unknown', detail: { address } };
  await db.transaction((tx) => recordChange(tx, actor, change));
}

/** Follows a link of purpose `sign_in`. Throws `link_not_found`. */
export async function signInByLink(
  deps: PeopleDeps,
  requestId: string,
  secret: string,
  origin: Origin,
): Promise<NewSession> {
  return deps.db.transaction(async (tx) => {
    const link = await useLink(tx, secret, deps.clock.now());
    if (link?.purpose !== 'sign_in' || link.personId === null) throw new ApiError('link_not_found');
    return startSession(tx, deps, { name: link.email, requestId }, link.personId, 'link', origin);
  });
}

/** Follows a link of purpose `set_password`: the new password ends every session that the old one opened. */
export async function setPasswordByLink(
  deps: PeopleDeps,
  requestId: string,
  secret: string,
  password: string,
  origin: Origin,
): Promise<NewSession> {
  await takeTurn(deps, 'link', origin);
  const verifier = await withDerivation(deps, () => hashPassword(password));
  return deps.db.transaction(async (tx) => {
    const now = deps.clock.now();
    const link = await useLink(tx, secret, now);
    if (link?.purpose !== 'set_password' || link.personId === null) throw new ApiError('link_not_found');
    const actor: Actor = { name: link.email, requestId };
    await replacePassword(tx, actor, link.personId, verifier, { by: 'link', at: now, keptSessionId: undefined });
    return startSession(tx, deps, actor, link.personId, 'link', origin);
  });
}

/** Throws `sign_in_refused` when the current password is wrong. Keeps the session it is done in, and ends the others. */
export async function changePassword(
  deps: PeopleDeps,
  actor: Actor,
  person: { readonly id: string; readonly email: string; readonly sessionId: string },
  passwords: { readonly current: string; readonly password: string },
  origin: Origin,
): Promise<void> {
  await takeTurn(deps, 'sign-in', { address: origin.address, email: person.email });
  await withDerivation(deps, async () => {
    const known = await findPersonByEmail(deps.db, person.email);
    const { matches } = await checkPassword(passwords.current, known?.verifier ?? null);
    if (!matches) {
      await recordRefusal(deps, person, actor.requestId, origin, 'person.password_refused');
      throw new ApiError('sign_in_refused', { message: 'The current password is wrong.', param: 'current_password' });
    }
    const verifier = await hashPassword(passwords.password);
    const change = { by: 'person', at: deps.clock.now(), keptSessionId: person.sessionId } as const;
    await deps.db.transaction((tx) => replacePassword(tx, actor, person.id, verifier, change));
  });
}

/** What the old password opened ends with it: sessions, and links that are not used yet. */
async function replacePassword(
  tx: Tx,
  actor: Actor,
  personId: string,
  verifier: string,
  {
    by,
    at,
    keptSessionId,
  }: { readonly by: 'link' | 'person'; readonly at: Date; readonly keptSessionId?: string | undefined },
): Promise<void> {
  await saveVerifier(tx, personId, verifier);
  await deleteLinksOf(tx, personId);
  const ended = await endOtherSessions(tx, personId, keptSessionId);
  const detail = { by, sessions_ended: ended };
  await recordChange(tx, actor, { at, action: 'person.password', target: personId, detail });
}

/** Accepts an invitation for an email that has no person yet, with a password. Throws `link_not_found`, or `duplicate_email` for a known person. */
export async function acceptAsNewPerson(
  deps: PeopleDeps,
  requestId: string,
  secret: string,
  profile: { readonly name: string; readonly password: string },
  origin: Origin,
): Promise<NewSession> {
  refuseIfClosed(deps);
  await takeTurn(deps, 'link', origin);
  const verifier = await withDerivation(deps, () => hashPassword(profile.password));
  return refusingDuplicateEmail(() =>
    deps.db.transaction(async (tx) => {
      const now = deps.clock.now();
      const link = await invitation(tx, secret, now);
      const actor: Actor = { name: link.email, requestId };
      const person = await addPerson(tx, actor, { email: link.email, name: profile.name, verifier }, now);
      await grantInvited(tx, actor, link, person, now);
      return startSession(tx, deps, actor, person.id, 'link', origin);
    }),
  );
}

/** Accepts an invitation as the person who is signed in, whose email must be the invited one. */
export async function acceptInvitation(
  deps: PeopleDeps,
  requestId: string,
  secret: string,
  personId: string,
): Promise<void> {
  refuseIfClosed(deps);
  await deps.db.transaction(async (tx) => {
    const now = deps.clock.now();
    const link = await invitation(tx, secret, now);
    const person = await findPersonByEmail(tx, link.email);
    if (person?.id !== personId) throw new ApiError('link_not_found');
    await grantInvited(tx, { name: link.email, requestId }, link, person, now);
  });
}

async function invitation(tx: Tx, secret: string, now: Date): Promise<OneTimeLink> {
  const link = await useLink(tx, secret, now);
  if (link?.purpose !== 'invitation') throw new ApiError('link_not_found');
  return link;
}

/** The roles become those of the invitation, except that an account keeps its last owner. */
async function grantInvited(
  tx: Tx,
  actor: Actor,
  link: OneTimeLink,
  person: Pick<Person, 'id' | 'name' | 'disabled' | 'operatorRole'>,
  now: Date,
): Promise<void> {
  if (link.accountId !== null && link.role !== null) {
    const owners = (await lockMembers(tx, link.accountId)).filter(({ role }) => role === 'owner');
    const isLastOwner = owners.length === 1 && owners[0]?.personId === person.id;
    await saveMembership(tx, person.id, link.accountId, isLastOwner ? 'owner' : link.role, now);
  }
  if (link.operatorRole !== null) await savePerson(tx, { ...person, operatorRole: link.operatorRole });
  const detail = { person: person.id, role: link.role, operator_role: link.operatorRole, invited_by: link.createdBy };
  const target = link.accountId ?? person.id;
  await recordChange(tx, actor, { at: now, action: 'invitation.accept', target, detail });
}
