import type { Queries, Tx } from '../db/index.ts';
import { newId } from '../ids.ts';
import { newSecret, secretDigest } from './sessions.ts';
import type { AccountRole, OperatorRole } from './store.ts';

type LinkPurpose = 'sign_in' | 'set_password' | 'invitation' | 'sign_up';

/** What a one-time link lets its holder do. */
export interface OneTimeLink {
  readonly id: string;
  readonly purpose: LinkPurpose;
  /** Null for an invitation and a sign-up. */
  readonly personId: string | null;
  readonly email: string;
  readonly accountId: string | null;
  readonly role: AccountRole | null;
  readonly operatorRole: OperatorRole | null;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export type NewLink = Omit<OneTimeLink, 'id' | 'createdAt' | 'expiresAt'>;

const COLUMNS = `id, purpose, person_id as "personId", email, account_id as "accountId", role,
  operator_role as "operatorRole", created_by as "createdBy", created_at as "createdAt", expires_at as "expiresAt"`;

/** The secret is the last segment of the link's address, and is not kept. */
export async function insertLink(
  tx: Queries,
  link: NewLink,
  now: Date,
  lifetimeMs: number,
): Promise<{ readonly link: OneTimeLink; readonly secret: string }> {
  const secret = newSecret();
  const made: OneTimeLink = {
    ...link,
    id: newId('link'),
    createdAt: now,
    expiresAt: new Date(now.getTime() + lifetimeMs),
  };
  await tx.run(
    `insert into one_time_links (id, digest, purpose, person_id, email, account_id, role, operator_role, created_by,
       created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      made.id,
      secretDigest(secret),
      made.purpose,
      made.personId,
      made.email,
      made.accountId,
      made.role,
      made.operatorRole,
      made.createdBy,
      made.createdAt,
      made.expiresAt,
    ],
  );
  return { link: made, secret };
}

/** Undefined alike for a link that never was, was used, or has expired. Looking does not use it up. */
export async function findLink(queries: Queries, secret: string, now: Date): Promise<OneTimeLink | undefined> {
  const [link] = await queries.rows<OneTimeLink>(
    `select ${COLUMNS} from one_time_links where digest = $1 and used_at is null and expires_at > $2`,
    [secretDigest(secret), now],
  );
  return link;
}

/** Uses it up. Of two requests at once the row lock lets one have it. */
export async function useLink(tx: Tx, secret: string, now: Date): Promise<OneTimeLink | undefined> {
  const [link] = await tx.rows<OneTimeLink>(
    `update one_time_links set used_at = $2 where digest = $1 and used_at is null and expires_at > $2 returning ${COLUMNS}`,
    [secretDigest(secret), now],
  );
  return link;
}

/** Whether a link that waits to be used was made for this address since then. */
export async function wasLinkMade(queries: Queries, email: string, createdBy: string, since: Date): Promise<boolean> {
  const made = await queries.rows(
    `select from one_time_links
     where lower(email) = lower($1) and created_by = $2 and created_at > $3 and used_at is null limit 1`,
    [email, createdBy, since],
  );
  return made.length > 0;
}

/** Invitations to an account, or, for null, those to the deployment, that are still open; newest first. */
export async function openInvitations(queries: Queries, accountId: string | null, now: Date): Promise<OneTimeLink[]> {
  return queries.rows<OneTimeLink>(
    `select ${COLUMNS} from one_time_links
     where purpose = 'invitation' and account_id is not distinct from $1 and used_at is null and expires_at > $2
     order by created_at desc, id desc`,
    [accountId, now],
  );
}

/** False when the account has no such open invitation. */
export async function deleteInvitation(tx: Tx, accountId: string | null, id: string): Promise<boolean> {
  const touched = await tx.run(
    `delete from one_time_links
     where id = $1 and purpose = 'invitation' and account_id is not distinct from $2 and used_at is null`,
    [id, accountId],
  );
  return touched > 0;
}

/** Ends what was meant to open the old state: links of a person whose password is set anew. */
export async function deleteLinksOf(tx: Tx, personId: string): Promise<void> {
  await tx.run('delete from one_time_links where person_id = $1 and used_at is null', [personId]);
}

export async function forgetLinks(db: Queries, now: Date): Promise<void> {
  await db.run('delete from one_time_links where expires_at <= $1', [now]);
}
