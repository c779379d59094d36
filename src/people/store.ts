import { announce, type Queries, type Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';

export const ACCOUNT_ROLES = ['viewer', 'member', 'owner'] as const;
/** What a person may do in an account; each role may do what the ones before it may. */
export type AccountRole = (typeof ACCOUNT_ROLES)[number];
export const OPERATOR_ROLES = ['auditor', 'operator'] as const;
/** What a person may do on the deployment; an auditor only reads. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly operatorRole: OperatorRole | null;
  readonly disabled: boolean;
  readonly createdAt: Date;
  readonly lastSignInAt: Date | null;
}

/** A person with what proves who they are. */
export interface PersonWithVerifier extends Person {
  readonly verifier: string | null;
}

export interface Membership {
  readonly accountId: string;
  readonly accountName: string;
  readonly role: AccountRole;
}

export interface Member extends Person {
  readonly role: AccountRole;
}

const PERSON_COLUMNS = `p.id, p.email, p.name, p.operator_role as "operatorRole", p.disabled, p.created_at as "createdAt",
  p.last_sign_in_at as "lastSignInAt"`;

export async function insertPerson(tx: Tx, person: PersonWithVerifier): Promise<void> {
  await tx.run(
    `insert into people (id, email, name, verifier, operator_role, disabled, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [person.id, person.email, person.name, person.verifier, person.operatorRole, person.disabled, person.createdAt],
  );
}

export async function findPerson(queries: Queries, id: string): Promise<PersonWithVerifier | undefined> {
  const [person] = await queries.rows<PersonWithVerifier>(
    `select ${PERSON_COLUMNS}, p.verifier from people p where p.id = $1`,
    [id],
  );
  return person;
}

export async function findPersonByEmail(queries: Queries, email: string): Promise<PersonWithVerifier | undefined> {
  const [person] = await queries.rows<PersonWithVerifier>(
    `select ${PERSON_COLUMNS}, p.verifier from people p where lower(p.email) = lower($1)`,
    [email],
  );
  return person;
}

/** Whether an invitation's email is that of a person already, who then has to sign in to accept it. */
export async function isPerson(queries: Queries, email: string): Promise<boolean> {
  return (await queries.rows('select from people where lower(email) = lower($1)', [email])).length > 0;
}

/** Whether the deployment is run by a person already, disabled or not. */
export async function hasOperator(queries: Queries): Promise<boolean> {
  return (await queries.rows(`select from people where operator_role = 'operator' limit 1`)).length > 0;
}

/** Newest first. Throws `invalid_parameter` when `after` is no person. */
export async function listPeople(queries: Queries, limit: number, after: string | undefined): Promise<Person[]> {
  const people = await queries.rows<Person>(
    `select ${PERSON_COLUMNS} from people p
     where $2::text is null or (p.created_at, p.id) < (select created_at, id from people where id = $2)
     order by p.created_at desc, p.id desc limit $1`,
    [limit, after ?? null],
  );
  if (people.length === 0 && after !== undefined && (await findPerson(queries, after)) === undefined) {
    throw new ApiError('invalid_parameter', { message: '"after" must be the id of a person.', param: 'after' });
  }
  return people;
}

export async function saveVerifier(tx: Queries, id: string, verifier: string): Promise<void> {
  await tx.run('update people set verifier = $2 where id = $1', [id, verifier]);
}

export async function savePerson(
  tx: Tx,
  { id, name, operatorRole, disabled }: Pick<Person, 'id' | 'name' | 'operatorRole' | 'disabled'>,
): Promise<void> {
  await tx.run(
    `update people set name = $2, operator_role = $3, disabled = $4,
       operator_role_mapped = operator_role_mapped and operator_role is not distinct from $3
     where id = $1`,
    [id, name, operatorRole, disabled],
  );
  await announce(tx, 'person', id);
}

export async function saveSignIn(tx: Tx, id: string, at: Date): Promise<void> {
  await tx.run('update people set last_sign_in_at = $2 where id = $1', [id, at]);
}

/**
 * The same membership given again changes its role. One that was ever given by hand stays so: no group takes it away. What
 * tokens may spend depends on it, so it is announced.
 */
export async function saveMembership(
  tx: Tx,
  personId: string,
  accountId: string,
  role: AccountRole,
  now: Date,
  { mapped } = { mapped: false },
): Promise<void> {
  await tx.run(
    `insert into memberships (person_id, account_id, role, created_at, mapped) values ($1, $2, $3, $4, $5)
     on conflict (person_id, account_id) do update set role = excluded.role, mapped = memberships.mapped and excluded.mapped`,
    [personId, accountId, role, now, mapped],
  );
  await announce(tx, 'person', personId);
}

export async function deleteMembership(tx: Tx, personId: string, accountId: string): Promise<boolean> {
  const touched = await tx.run('delete from memberships where person_id = $1 and account_id = $2', [
    personId,
    accountId,
  ]);
  await announce(tx, 'person', personId);
  return touched > 0;
}

/** In the order in which the person joined. */
export async function membershipsOf(queries: Queries, personId: string): Promise<Membership[]> {
  return queries.rows<Membership>(
    `select m.account_id as "accountId", a.name as "accountName", m.role
     from memberships m join accounts a on a.id = m.account_id where m.person_id = $1
     order by m.created_at, m.account_id`,
    [personId],
  );
}

/** Of one account, in the order in which they joined. */
export async function membersOf(queries: Queries, accountId: string): Promise<Member[]> {
  return queries.rows<Member>(
    `select ${PERSON_COLUMNS}, m.role from memberships m join people p on p.id = m.person_id
     where m.account_id = $1 order by m.created_at, p.id`,
    [accountId],
  );
}

export interface MemberRow {
  readonly personId: string;
  readonly role: AccountRole;
  /** Given by a group of the identity provider, not by hand. */
  readonly mapped: boolean;
}

/** Locks an account's memberships, so that its last owner cannot leave twice at once. */
export async function lockMembers(tx: Tx, accountId: string): Promise<readonly MemberRow[]> {
  return tx.rows<MemberRow>(
    'select person_id as "personId", role, mapped from memberships where account_id = $1 order by person_id for update',
    [accountId],
  );
}
