import { addAccount } from '../accounts/index.ts';
import { type Actor, recordChange } from '../audit/index.ts';
import { MICRO_PER_CREDIT } from '../credits.ts';
import type { Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { grant } from '../ledger/index.ts';
import type { PeopleDeps } from './deps.ts';
import { useLink } from './links.ts';
import { checkPassword, hashPassword } from './password.ts';
import { addPerson, refusingDuplicateEmail } from './people.ts';
import type { Origin } from './sessions.ts';
import { type NewSession, recordRefusal, startSession } from './sign-in.ts';
import { refuseUnlessOpen } from './sign-up-mode.ts';
import { findPersonByEmail, type Person, saveMembership } from './store.ts';
import { takeTurn, withDerivation } from './turn.ts';

interface NewHolder {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/**
 * Makes a person with an account of their own at once, for deployments without mail. The same form sent twice signs in the
 * second time. Throws `duplicate_email` for a person with another password, `rate_limited`, `sign_up_closed`.
 */
export async function signUp(
  deps: PeopleDeps,
  requestId: string,
  holder: NewHolder,
  origin: Origin,
): Promise<NewSession> {
  refuseUnlessOpen(deps);
  await takeTurn(deps, 'sign-in', { address: origin.address, email: holder.email });
  const actor: Actor = { name: holder.email, requestId };
  return withDerivation(deps, async () => {
    if ((await findPersonByEmail(deps.db, holder.email)) !== undefined) return signInAgain(deps, actor, holder, origin);
    const verifier = await hashPassword(holder.password);
    try {
      return await refusingDuplicateEmail(() =>
        deps.db.transaction(async (tx) => {
          const person = await addHolder(tx, deps, actor, { ...holder, verifier });
          return startSession(tx, deps, actor, person.id, 'password', origin);
        }),
      );
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'duplicate_email') throw error;
      return signInAgain(deps, actor, holder, origin);
    }
  });
}

async function signInAgain(
  deps: PeopleDeps,
  actor: Actor,
  { email, password }: NewHolder,
  origin: Origin,
): Promise<NewSession> {
  const person = await findPersonByEmail(deps.db, email);
  const { matches } = await checkPassword(password, person?.verifier ?? null);
  if (person === undefined || !matches || person.disabled) {
    await recordRefusal(deps, person, actor.requestId, origin);
    const message = 'There is a person with this email already. Sign in, or ask for a new password.';
    throw new ApiError('duplicate_email', { message, param: 'email' });
  }
  return deps.db.transaction((tx) => startSession(tx, deps, actor, person.id, 'password', origin));
}

/** Follows a link of purpose `sign_up`, which proves the address. Throws `link_not_found`, `duplicate_email`, `sign_up_closed`. */
export async function signUpByLink(
  deps: PeopleDeps,
  requestId: string,
  secret: string,
  holder: Omit<NewHolder, 'email'>,
  origin: Origin,
): Promise<NewSession> {
  refuseUnlessOpen(deps);
  await takeTurn(deps, 'link', origin);
  const verifier = await withDerivation(deps, () => hashPassword(holder.password));
  return refusingDuplicateEmail(() =>
    deps.db.transaction(async (tx) => {
      const link = await useLink(tx, secret, deps.clock.now());
      if (link?.purpose !== 'sign_up') throw new ApiError('link_not_found');
      const actor: Actor = { name: link.email, requestId };
      const person = await addHolder(tx, deps, actor, { email: link.email, name: holder.name, verifier });
      return startSession(tx, deps, actor, person.id, 'link', origin);
    }),
  );
}

/** Person, account, membership and credits, all or none of them. The reference keeps the credits from being given twice. */
async function addHolder(
  tx: Tx,
  { clock, config }: PeopleDeps,
  actor: Actor,
  { email, name, verifier }: { readonly email: string; readonly name: string; readonly verifier: string },
): Promise<Person> {
  const account = await addAccount(tx, actor, { name, email }, clock);
  const now = account.createdAt;
  const person = await addPerson(tx, actor, { email, name, verifier }, now);
  await saveMembership(tx, person.id, account.id, 'owner', now);
  const { credits } = config.signUp;
  if (credits > 0) {
    await grant(tx, {
      accountId: account.id,
      amount: BigInt(credits) * MICRO_PER_CREDIT,
      source: 'signup',
      reference: `signup:${person.id}`,
      expiresAt: undefined,
      now,
    });
  }
  const detail = { account: account.id, credits };
  await recordChange(tx, actor, { at: now, action: 'person.sign_up', target: person.id, detail });
  return person;
}
