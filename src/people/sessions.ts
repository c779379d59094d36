import { createHash, randomBytes } from 'node:crypto';
import { type Actor, recordChange } from '../audit/index.ts';
import type { Queries, Tx } from '../db/index.ts';
import { newId } from '../ids.ts';
import { SESSION_IDLE_MS_MAX, SESSION_MS_MAX, SESSION_TOUCH_MS } from '../limits.ts';
import type { PeopleDeps } from './deps.ts';
import {
  type AccountRole,
  type Membership,
  membershipsOf,
  type OperatorRole,
  type Person,
  saveSignIn,
} from './store.ts';

/** Where a request came from, as shown in the list of sessions. */
export interface Origin {
  readonly address: string;
  readonly userAgent: string;
}

export type SignInMethod = 'password' | 'link' | 'identity_provider';

export interface Session extends Origin {
  readonly id: string;
  readonly personId: string;
  readonly method: SignInMethod;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
}

/** Who is at the browser, and in which account. */
export interface SignedIn {
  readonly session: Session;
  readonly person: Person;
  readonly memberships: readonly Membership[];
  /** The account that the session works in; undefined for a person who belongs to none. */
  readonly membership: Membership | undefined;
}

const SECRET_BYTES = 32;
const USER_AGENT_CHARS_MAX = 300;

const COLUMNS = `s.id, s.person_id as "personId", s.method, s.address, s.user_agent as "userAgent",
  s.created_at as "createdAt", s.last_seen_at as "lastSeenAt", s.expires_at as "expiresAt"`;

/** SHA-256: what is stored of a secret that is itself random. */
export function secretDigest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Part of the sign-in's own transaction. The secret goes into the cookie and is not kept. */
export async function openSession(
  tx: Tx,
  personId: string,
  method: SignInMethod,
  origin: Origin,
  now: Date,
): Promise<{ readonly id: string; readonly secret: string }> {
  const secret = newSecret();
  const id = newId('sess');
  const userAgent = origin.userAgent.slice(0, USER_AGENT_CHARS_MAX);
  await tx.run(
    `insert into sessions (id, digest, person_id, account_id, method, address, user_agent, created_at, last_seen_at, expires_at)
     values ($1, $2, $3, (select account_id from memberships where person_id = $3 order by created_at, account_id limit 1),
       $4, $5, $6, $7, $7, $8)`,
    [
      id,
      secretDigest(secret),
      personId,
      method,
      origin.address,
      userAgent,
      now,
      new Date(now.getTime() + SESSION_MS_MAX),
    ],
  );
  await saveSignIn(tx, personId, now);
  return { id, secret };
}

/** Undefined for a secret that is unknown, or whose session has ended, been idle for too long, or belongs to a disabled person. */
export async function findSession({ db, clock }: PeopleDeps, secret: string): Promise<SignedIn | undefined> {
  const now = clock.now();
  const [row] = await db.rows<Session & { accountId: string | null } & SessionPerson>(
    `select ${COLUMNS}, s.account_id as "accountId", p.email, p.name, p.operator_role as "operatorRole",
       p.created_at as "personCreatedAt", p.last_sign_in_at as "lastSignInAt"
     from sessions s join people p on p.id = s.person_id
     where s.digest = $1 and s.expires_at > $2 and s.last_seen_at > $3 and not p.disabled`,
    [secretDigest(secret), now, new Date(now.getTime() - SESSION_IDLE_MS_MAX)],
  );
  if (row === undefined) return undefined;
  const { accountId, email, name, operatorRole, personCreatedAt, lastSignInAt, ...session } = row;
  // Written now and then: the limit on idling is counted in days.
  if (now.getTime() - session.lastSeenAt.getTime() >= SESSION_TOUCH_MS) {
    await db.run('update sessions set last_seen_at = $2 where id = $1', [session.id, now]);
  }
  const memberships = await membershipsOf(db, session.personId);
  const person = {
    id: session.personId,
    email,
    name,
    operatorRole,
    disabled: false,
    createdAt: personCreatedAt,
    lastSignInAt,
  };
  // A person who was removed from the account works in no other until one is chosen: what they do next may cost credits.
  const membership =
    accountId === null ? memberships[0] : memberships.find((candidate) => candidate.accountId === accountId);
  return { session, person, memberships, membership };
}

interface SessionPerson {
  readonly email: string;
  readonly name: string;
  readonly operatorRole: OperatorRole | null;
  readonly personCreatedAt: Date;
  readonly lastSignInAt: Date | null;
}

/** A person's live sessions, newest first. */
export async function listSessions({ db, clock }: PeopleDeps, personId: string): Promise<Session[]> {
  const now = clock.now();
  return db.rows<Session>(
    `select ${COLUMNS} from sessions s where s.person_id = $1 and s.expires_at > $2 and s.last_seen_at > $3
     order by s.created_at desc, s.id desc`,
    [personId, now, new Date(now.getTime() - SESSION_IDLE_MS_MAX)],
  );
}

/** Has the session work in another account of the person; false when the person does not belong to it. */
export async function chooseAccount({ db }: PeopleDeps, session: Session, accountId: string): Promise<boolean> {
  const touched = await db.run(
    `update sessions set account_id = $3
     where id = $1 and exists (select from memberships where person_id = $2 and account_id = $3)`,
    [session.id, session.personId, accountId],
  );
  return touched > 0;
}

/** False when the person has no such session, or not any more. */
export async function endSession({ db, clock }: PeopleDeps, by: Actor, personId: string, id: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const ended = (await tx.run('delete from sessions where id = $1 and person_id = $2', [id, personId])) > 0;
    if (ended)
      await recordChange(tx, by, { at: clock.now(), action: 'session.end', target: id, detail: { person: personId } });
    return ended;
  });
}

/** Ends every session of a person but one: after a new password, or when the person may not sign in any more. */
export async function endOtherSessions(tx: Tx, personId: string, keptId: string | undefined): Promise<number> {
  return tx.run('delete from sessions where person_id = $1 and id is distinct from $2', [personId, keptId ?? null]);
}

/** Removes what can open nothing any more. */
export async function forgetSessions(db: Queries, now: Date): Promise<void> {
  const idleSince = new Date(now.getTime() - SESSION_IDLE_MS_MAX);
  await db.run('delete from sessions where expires_at <= $1 or last_seen_at <= $2', [now, idleSince]);
}

const RANK: Readonly<Record<AccountRole, number>> = { viewer: 0, member: 1, owner: 2 };

/** Whether a role may do what `needed` may. */
export function isAtLeast(role: AccountRole, needed: AccountRole): boolean {
  return RANK[role] >= RANK[needed];
}
