import type { Queries, Tx } from '../db/index.ts';
import { secretDigest } from './sessions.ts';
import type { OperatorRole } from './store.ts';

/** A person as sign-in by an identity provider sees them. */
export interface IdentifiedPerson {
  readonly id: string;
  readonly email: string;
  readonly issuer: string | null;
  readonly disabled: boolean;
  readonly operatorRole: OperatorRole | null;
  readonly operatorRoleMapped: boolean;
  readonly ownAccountId: string | null;
}

const COLUMNS = `id, email, issuer, disabled, operator_role as "operatorRole", operator_role_mapped as "operatorRoleMapped",
  own_account_id as "ownAccountId"`;

/** Locks the person, so that two sign-ins at once give and take rights one after the other. */
export async function lockBySubject(tx: Tx, issuer: string, subject: string): Promise<IdentifiedPerson | undefined> {
  const [person] = await tx.rows<IdentifiedPerson>(
    `select ${COLUMNS} from people where issuer = $1 and subject = $2 for update`,
    [issuer, subject],
  );
  return person;
}

export async function lockByEmail(tx: Tx, email: string): Promise<IdentifiedPerson | undefined> {
  const [person] = await tx.rows<IdentifiedPerson>(
    `select ${COLUMNS} from people where lower(email) = lower($1) for update`,
    [email],
  );
  return person;
}

/** Without an own account yet, it is the one that carries the person's email, where the person owns it. */
export async function bindSubject(tx: Tx, id: string, issuer: string, subject: string): Promise<IdentifiedPerson> {
  const [person] = await tx.rows<IdentifiedPerson>(
    `update people p set issuer = $2, subject = $3, own_account_id = coalesce(own_account_id, (
       select a.id from accounts a join memberships m on m.account_id = a.id
       where lower(a.email) = lower(p.email) and m.person_id = p.id and m.role = 'owner'))
     where id = $1 returning ${COLUMNS}`,
    [id, issuer, subject],
  );
  if (person === undefined) throw new Error(`there is no person ${id}`);
  return person;
}

export async function saveOwnAccount(tx: Tx, id: string, accountId: string): Promise<void> {
  await tx.run('update people set own_account_id = $2 where id = $1', [id, accountId]);
}

/** Whether an account carries this email, also one that its person has left. */
export async function hasAccount(tx: Tx, email: string): Promise<boolean> {
  return (await tx.rows('select from accounts where lower(email) = lower($1)', [email])).length > 0;
}

export async function saveMappedRole(tx: Tx, id: string, role: OperatorRole | null): Promise<void> {
  await tx.run('update people set operator_role = $2, operator_role_mapped = $3 where id = $1', [
    id,
    role,
    role !== null,
  ]);
}

/** The accounts that the person belongs to by a group. */
export async function mappedAccounts(tx: Tx, personId: string): Promise<readonly string[]> {
  const rows = await tx.rows<{ id: string }>(
    'select account_id as id from memberships where person_id = $1 and mapped order by account_id',
    [personId],
  );
  return rows.map(({ id }) => id);
}

/** False when this sign-in was finished before: of two requests at once the unique index lets one have it. */
export async function finishOnce(db: Queries, state: string, expiresAt: Date): Promise<boolean> {
  const inserted = await db.run(
    'insert into finished_sign_ins (digest, expires_at) values ($1, $2) on conflict do nothing',
    [secretDigest(state), expiresAt],
  );
  return inserted > 0;
}

export async function forgetFinished(db: Queries, now: Date): Promise<void> {
  await db.run('delete from finished_sign_ins where expires_at <= $1', [now]);
}
