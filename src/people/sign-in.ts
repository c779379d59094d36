import { type Actor, recordChange } from '../audit/index.ts';
import type { Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import {
  PASSWORD_CHECKS_AT_ONCE_MAX,
  SIGN_INS_PER_ADDRESS_RPM,
  SIGN_INS_PER_EMAIL_RPM,
  SIGN_INS_RPM,
} from '../limits.ts';
import type { PeopleDeps } from './deps.ts';
import { type OneTimeLink, useLink } from './links.ts';
import { checkPassword, hashPassword } from './password.ts';
import { addPerson, refusingDuplicateEmail } from './people.ts';
import { endOtherSessions, type Origin, openSession, type SignInMethod } from './sessions.ts';
import { findPersonByEmail, type PersonWithVerifier, saveMembership, savePerson, saveVerifier } from './store.ts';

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
  given: { readonly email: string; readonly password: string },
  origin: Origin,
): Promise<NewSession> {
  const email = given.email.trim().toLowerCase();
  const release = await takeTurn(deps, email, origin.address);
  try {
    const person = await findPersonByEmail(deps.db, email);
    const { matches, isOutdated } = await checkPassword(given.password, person?.verifier ?? null);
    if (person === undefined || !matches || person.disabled) {
      await recordRefusal(deps, email, person, requestId, origin);
      throw new ApiError('sign_in_refused');
    }
    const verifier = isOutdated ? await hashPassword(given.password) : undefined;
    const actor: Actor = { name: person.email, requestId };
    return await deps.db.transaction(async (tx) => {
      if (verifier !== undefined) await saveVerifier(tx, person.id, verifier);
      return startSession(tx, deps, actor, person.id, 'password', origin);
    });
  } finally {
    release();
  }
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

/**
 * Token buckets in front of the derivation, which is what a guess costs: per email, per address and for the whole
 * process, all before any work. A guess that is refused here costs a look into a map.
 */
async function takeTurn({ throttle }: PeopleDeps, email: string, address: string): Promise<() => void> {
  const buckets = [
    [`sign-in address:${address}`, { rpm: SIGN_INS_PER_ADDRESS_RPM, concurrency: undefined }],
    [`sign-in email:${email}`, { rpm: SIGN_INS_PER_EMAIL_RPM, concurrency: undefined }],
    ['sign-in', { rpm: SIGN_INS_RPM, concurrency: PASSWORD_CHECKS_AT_ONCE_MAX }],
  ] as const;
  let release: () => void = () => undefined;
  for (const [subject, allowance] of buckets) {
    const taken = await throttle.take(subject, allowance);
    if (taken.state === 'refused') throw new ApiError('rate_limited', { headers: { 'retry-after': '60' } });
    release = taken.release;
  }
  return release;
}

/** Bounded by the throttle in front of it. An unknown email is not kept: it may be a password in the wrong field. */
async function recordRefusal(
  { db, clock }: PeopleDeps,
  email: string,
  person: PersonWithVerifier | undefined,
  requestId: string,
  { address }: Origin,
): Promise<void> {
  const target = person?.id ?? 'unknown';
  const actor: Actor = { name: person === undefined ? 'unknown' : email, requestId };
  const change = { at: clock.now(), action: 'session.refused', target, detail: { address } };
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
  const verifier = await hashPassword(password);
  return deps.db.transaction(async (tx) => {
    const now = deps.clock.now();
    const link = await useLink(tx, secret, now);
    if (link?.purpose !== 'set_password' || link.personId === null) throw new ApiError('link_not_found');
    const actor: Actor = { name: link.email, requestId };
    await saveVerifier(tx, link.personId, verifier);
    await endOtherSessions(tx, link.personId, undefined);
    await recordChange(tx, actor, {
      at: now,
      action: 'person.password',
      target: link.personId,
      detail: { by: 'link' },
    });
    return startSession(tx, deps, actor, link.personId, 'link', origin);
  });
}

/** Throws `sign_in_refused` when the current password is wrong. Keeps the session it is done in, and ends the others. */
export async function changePassword(
  deps: PeopleDeps,
  actor: Actor,
  person: { readonly id: string; readonly email: string; readonly sessionId: string },
  given: { readonly current: string; readonly password: string },
  origin: Origin,
): Promise<void> {
  const release = await takeTurn(deps, person.email.toLowerCase(), origin.address);
  try {
    const found = await findPersonByEmail(deps.db, person.email);
    const { matches } = await checkPassword(given.current, found?.verifier ?? null);
    if (!matches)
      throw new ApiError('sign_in_refused', { message: 'The current password is wrong.', param: 'current_password' });
    const verifier = await hashPassword(given.password);
    await deps.db.transaction(async (tx) => {
      await saveVerifier(tx, person.id, verifier);
      await endOtherSessions(tx, person.id, person.sessionId);
      const at = deps.clock.now();
      await recordChange(tx, actor, { at, action: 'person.password', target: person.id, detail: { by: 'person' } });
    });
  } finally {
    release();
  }
}

/** Accepts an invitation for an email that has no person yet, with a password. Throws `link_not_found`, or `duplicate_email` for a known person. */
export async function acceptAsNewPerson(
  deps: PeopleDeps,
  requestId: string,
  secret: string,
  given: { readonly name: string; readonly password: string },
  origin: Origin,
): Promise<NewSession> {
  const verifier = await hashPassword(given.password);
  return refusingDuplicateEmail(() =>
    deps.db.transaction(async (tx) => {
      const now = deps.clock.now();
      const link = await invitation(tx, secret, now);
      const actor: Actor = { name: link.email, requestId };
      const person = await addPerson(tx, actor, { email: link.email, name: given.name, verifier }, now);
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

async function grantInvited(
  tx: Tx,
  actor: Actor,
  link: OneTimeLink,
  person: Pick<PersonWithVerifier, 'id' | 'name' | 'disabled' | 'operatorRole'>,
  now: Date,
): Promise<void> {
  if (link.accountId !== null && link.role !== null)
    await saveMembership(tx, person.id, link.accountId, link.role, now);
  if (link.operatorRole !== null) await savePerson(tx, { ...person, operatorRole: link.operatorRole });
  const detail = { person: person.id, role: link.role, operator_role: link.operatorRole, invited_by: link.createdBy };
  const target = link.accountId ?? person.id;
  await recordChange(tx, actor, { at: now, action: 'invitation.accept', target, detail });
}
