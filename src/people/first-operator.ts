import type { Actor } from '../audit/index.ts';
import type { FirstOperator } from '../config.ts';
import type { Queries } from '../db/index.ts';
import type { PeopleDeps } from './deps.ts';
import { hashPassword } from './password.ts';
import { addPerson } from './people.ts';
import { hasOperator, isPerson } from './store.ts';

/** `kept`: there is an operator. `taken`: there is none, but a person of this email, whose password is their own. */
export type FirstOperatorOutcome = 'created' | 'exists' | 'not an operator';

const BY_SETTINGS: Actor = { name: 'settings', requestId: undefined };
/** Any number that no other advisory lock of the program has. */
const LOCK = 20_270_001;

/**
 * Makes the operator that the settings name, unless there is one. May be repeated by every start and by several processes
 * at once: the advisory lock lets one of them look and make at a time.
 */
export async function ensureFirstOperator(
  { db, clock }: Pick<PeopleDeps, 'db' | 'clock'>,
  { email, password }: FirstOperator,
): Promise<FirstOperatorOutcome> {
  const before = await outcomeWithout(db, email);
  if (before !== undefined) return before;
  const verifier = await hashPassword(password.reveal());
  return db.transaction(async (tx) => {
    await tx.rows('select pg_advisory_xact_lock($1)', [LOCK]);
    const outcome = await outcomeWithout(tx, email);
    if (outcome !== undefined) return outcome;
    const name = email.slice(0, email.indexOf('@'));
    await addPerson(tx, BY_SETTINGS, { email, name, verifier, operatorRole: 'operator' }, clock.now());
    return 'created';
  });
}

/** Undefined where the operator is to be made. */
async function outcomeWithout(queries: Queries, email: string): Promise<FirstOperatorOutcome | undefined> {
  if (await hasOperator(queries)) return 'exists';
  return (await isPerson(queries, email)) ? 'not an operator' : undefined;
}
