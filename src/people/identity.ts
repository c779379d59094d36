import { addAccount, findAccount } from '../accounts/index.ts';
import { type Actor, recordChange } from '../audit/index.ts';
import { isUniqueViolation, type Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { NAME_CHARS_MAX } from '../limits.ts';
import type { OidcSettings } from '../oidc-settings.ts';
import type { PeopleDeps } from './deps.ts';
import {
  bindSubject,
  finishOnce,
  hasAccount,
  type IdentifiedPerson,
  lockByEmail,
  lockBySubject,
  saveOwnAccount,
} from './identity-store.ts';
import { applyRights, type MappedRights, rightsOf } from './mapped-rights.ts';
import { type Attempt, type Identity, type OpenIdClient, ProofRefused } from './openid.ts';
import { addPerson } from './people.ts';
import type { Origin } from './sessions.ts';
import { type NewSession, startSession } from './sign-in.ts';
import { saveMembership } from './store.ts';

export { forgetFinished } from './identity-store.ts';
export { type Attempt, OpenIdClient } from './openid.ts';

const REFUSALS = {
  not_begun_here: 'This sign-in was begun in another browser, was finished already or took too long. Begin again.',
  no_proof: 'The identity provider did not confirm who you are.',
  email_unverified: 'The identity provider has not verified your email address.',
  unknown_person: 'There is no person with your email address here. Ask an operator for an invitation.',
  no_group: 'None of your groups at the identity provider opens this gateway.',
  bound_elsewhere: 'Your email address belongs to another identity here. Ask an operator.',
  disabled: 'You may not sign in here any more.',
  no_account: 'The account that people join does not exist. Tell an operator.',
} as const;

/** `sign_in_refused` with the reason that the audit keeps. */
class IdentityRefusal extends ApiError {
  readonly reason: keyof typeof REFUSALS;
  readonly personId: string | undefined;

  constructor(reason: keyof typeof REFUSALS, personId?: string) {
    super('sign_in_refused', { message: REFUSALS[reason] });
    this.reason = reason;
    this.personId = personId;
  }
}

/** Where the browser came back to. */
export interface Return {
  /** What the browser kept; undefined when it brought nothing, or nothing that can be opened. */
  readonly attempt: (Attempt & { readonly expiresAt: Date }) | undefined;
  readonly answer: URL;
}

/**
 * Finishes a sign-in that this browser began, once. Throws `sign_in_refused` with its reason in the audit, or
 * `sign_in_unavailable`, after which the person begins again.
 */
export async function signInByIdentity(
  deps: PeopleDeps,
  client: OpenIdClient,
  requestId: string,
  { attempt, answer }: Return,
  origin: Origin,
): Promise<NewSession> {
  try {
    const isBegunHere = attempt !== undefined && answer.searchParams.get('state') === attempt.state;
    const isFirst = isBegunHere && attempt.expiresAt > deps.clock.now();
    if (!isFirst || !(await finishOnce(deps.db, attempt.state, attempt.expiresAt)))
      throw new IdentityRefusal('not_begun_here');
    const identity = await client.finish(attempt, answer);
    return await signInAs(deps, client.settings, requestId, identity, origin);
  } catch (error) {
    const refusal = error instanceof ProofRefused ? new IdentityRefusal('no_proof') : error;
    if (refusal instanceof IdentityRefusal) await recordRefusal(deps, requestId, refusal, origin);
    throw refusal;
  }
}

/** Two first sign-ins of one person at once collide on a unique index, and the second then finds the person. */
async function signInAs(
  deps: PeopleDeps,
  settings: OidcSettings,
  requestId: string,
  identity: Identity,
  origin: Origin,
): Promise<NewSession> {
  const work = () =>
    deps.db.transaction(async (tx) => {
      const rights = rightsOf(settings.groups, identity.groups);
      const person = await findOrMake(tx, deps, settings, requestId, identity, rights);
      const actor: Actor = { name: person.email, requestId };
      await applyRights(tx, deps, actor, settings, person, rights);
      return startSession(tx, deps, actor, person.id, 'identity_provider', origin);
    });
  const made = await work().catch((error: unknown) => {
    if (['people_email', 'people_subject'].some((index) => isUniqueViolation(error, index))) return work();
    throw error;
  });
  await deps.bus.heardByAll();
  return made;
}

/** By the subject that was seen before, else by an email that the provider has verified. */
async function findOrMake(
  tx: Tx,
  { clock }: PeopleDeps,
  settings: OidcSettings,
  requestId: string,
  identity: Identity,
  rights: MappedRights,
): Promise<IdentifiedPerson> {
  const { issuer, subject, email } = identity;
  const now = clock.now();
  if (rights.accountRole !== null && (await findAccount(tx, settings.accountId ?? '')) === undefined)
    throw new IdentityRefusal('no_account');
  const bound = await lockBySubject(tx, issuer, subject);
  if (bound === undefined && email === undefined) throw new IdentityRefusal('email_unverified');
  const person = bound ?? (await lockByEmail(tx, email ?? ''));
  if (person?.disabled) throw new IdentityRefusal('disabled', person.id);
  // The address was given to another person at the provider since: what belongs to the first stays theirs.
  if (bound === undefined && person?.issuer === issuer) throw new IdentityRefusal('bound_elsewhere', person.id);
  if (bound !== undefined) return bound;
  const actor: Actor = { name: email ?? '', requestId };
  const id = person?.id ?? (await make(tx, { clock }, settings, actor, identity, rights));
  await recordChange(tx, actor, { at: now, action: 'person.bind', target: id, detail: { issuer, subject } });
  return bindSubject(tx, id, issuer, subject);
}

/** A person whose account is their own, or the one that all join. */
async function make(
  tx: Tx,
  { clock }: Pick<PeopleDeps, 'clock'>,
  settings: OidcSettings,
  actor: Actor,
  identity: Identity,
  rights: MappedRights,
): Promise<string> {
  const { email = '' } = identity;
  if (settings.signup !== 'create') throw new IdentityRefusal('unknown_person');
  if (settings.groups.length > 0 && !rights.hasAny) throw new IdentityRefusal('no_group');
  const now = clock.now();
  const name = displayName(identity);
  const person = await addPerson(tx, actor, { email, name }, now);
  if (settings.accountId === undefined) {
    const carried = (await hasAccount(tx, email)) ? undefined : email;
    const account = await addAccount(tx, actor, { name, email: carried }, clock);
    await saveMembership(tx, person.id, account.id, 'owner', now);
    await saveOwnAccount(tx, person.id, account.id);
  } else if (settings.groups.length === 0) {
    if ((await findAccount(tx, settings.accountId)) === undefined) throw new IdentityRefusal('no_account');
    await saveMembership(tx, person.id, settings.accountId, 'member', now);
  }
  return person.id;
}

/** What a list can show of the provider's name for the person, else the beginning of the email. */
function displayName({ name = '', email = '' }: Identity): string {
  const plain = name.replace(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, '').trim();
  return plain.slice(0, NAME_CHARS_MAX).toWellFormed() || email.slice(0, email.indexOf('@'));
}

/** Bounded by the throttle in front of it. What the provider said of an unknown person is not kept. */
async function recordRefusal(
  { db, clock }: PeopleDeps,
  requestId: string,
  { reason, personId = 'unknown' }: IdentityRefusal,
  { address }: Origin,
): Promise<void> {
  const detail = { address, method: 'identity_provider', reason };
  const change = { at: clock.now(), action: 'session.refused', target: personId, detail };
  await db.transaction((tx) => recordChange(tx, { name: 'unknown', requestId }, change));
}
