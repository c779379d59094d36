import { type Account, addAccount, type NewAccount } from '../accounts/index.ts';
import { type Actor, recordChange } from '../audit/index.ts';
import { isUniqueViolation, type Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { newId } from '../ids.ts';
import type { PeopleDeps } from './deps.ts';
import { hashPassword } from './password.ts';
import { endOtherSessions } from './sessions.ts';
import {
  type AccountRole,
  deleteMembership,
  findPerson,
  insertPerson,
  lockMembers,
  type OperatorRole,
  type Person,
  saveMembership,
  savePerson,
} from './store.ts';

export interface NewPerson {
  readonly email: string;
  readonly name: string;
  readonly verifier?: string | undefined;
  readonly operatorRole?: OperatorRole | undefined;
}

/** Part of a larger change. Throws `duplicate_email` by the caller's `refusingDuplicateEmail`. */
export async function addPerson(tx: Tx, by: Actor, input: NewPerson, now: Date): Promise<Person> {
  const person: Person = {
    id: newId('person'),
    email: input.email,
    name: input.name,
    operatorRole: input.operatorRole ?? null,
    disabled: false,
    createdAt: now,
    lastSignInAt: null,
  };
  await insertPerson(tx, { ...person, verifier: input.verifier ?? null });
  const detail = { email: person.email, operator_role: person.operatorRole };
  await recordChange(tx, by, { at: now, action: 'person.create', target: person.id, detail });
  return person;
}

/** An account and, where an email is given, the person who owns it. */
export async function createAccountWithOwner(
  { db, clock }: PeopleDeps,
  by: Actor,
  input: NewAccount & { readonly password?: string | undefined },
): Promise<Account> {
  const { email, password } = input;
  const verifier = password === undefined ? undefined : await hashPassword(password);
  return refusingDuplicateEmail(() =>
    db.transaction(async (tx) => {
      const account = await addAccount(tx, by, input, clock);
      if (email !== undefined) {
        const person = await addPerson(tx, by, { email, name: input.name, verifier }, account.createdAt);
        await saveMembership(tx, person.id, account.id, 'owner', account.createdAt);
      }
      return account;
    }),
  );
}

export async function refusingDuplicateEmail<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isTaken = isUniqueViolation(error, 'accounts_email') || isUniqueViolation(error, 'people_email');
    if (isTaken) throw new ApiError('duplicate_email', { cause: error, param: 'email' });
    throw error;
  }
}

export interface PersonChange {
  readonly name?: string | undefined;
  readonly operatorRole?: OperatorRole | null | undefined;
  readonly disabled?: boolean | undefined;
}

/**
 * Disabling a person ends every session of theirs in the same transaction; when this resolves no process accepts a token
 * that they gave to an app.
 */
export async function updatePerson(
  { db, bus, clock }: PeopleDeps,
  by: Actor,
  id: string,
  change: PersonChange,
): Promise<Person> {
  const person = await db.transaction(async (tx) => {
    const before = await findPerson(tx, id);
    if (before === undefined) throw new ApiError('person_not_found');
    const { verifier: _, ...unchanged } = before;
    const after: Person = {
      ...unchanged,
      name: change.name ?? before.name,
      operatorRole: change.operatorRole === undefined ? before.operatorRole : change.operatorRole,
      disabled: change.disabled ?? before.disabled,
    };
    await savePerson(tx, after);
    const ended = after.disabled ? await endOtherSessions(tx, id, undefined) : 0;
    const { name, operatorRole, disabled } = after;
    const detail = { name, operator_role: operatorRole, disabled, sessions_ended: ended };
    await recordChange(tx, by, { at: clock.now(), action: 'person.update', target: id, detail });
    return after;
  });
  await bus.heardByAll();
  return person;
}

/** Null takes the membership away. An account that has an owner keeps at least one. Resolves when every process knows. */
export async function changeMembership(
  { db, bus, clock }: PeopleDeps,
  by: Actor,
  accountId: string,
  personId: string,
  role: AccountRole | null,
): Promise<void> {
  await db.transaction(async (tx) => {
    const members = await lockMembers(tx, accountId);
    const before = members.find((member) => member.personId === personId);
    if (before === undefined) throw new ApiError('member_not_found');
    const owners = members.filter((member) => member.role === 'owner');
    if (before.role === 'owner' && role !== 'owner' && owners.length === 1) throw new ApiError('last_owner');
    const now = clock.now();
    if (role === null) await deleteMembership(tx, personId, accountId);
    else await saveMembership(tx, personId, accountId, role, now);
    const detail = { person: personId, role };
    await recordChange(tx, by, {
      at: now,
      action: role === null ? 'member.remove' : 'member.role',
      target: accountId,
      detail,
    });
  });
  await bus.heardByAll();
}
