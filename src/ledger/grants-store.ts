import type { MicroCredits } from '../credits.ts';
import type { Queries } from '../db/index.ts';
import type { Page } from './store.ts';

export interface NewGrant {
  readonly id: string;
  readonly accountId: string;
  readonly amount: MicroCredits;
  readonly source: string;
  readonly reference: string | undefined;
  readonly expiresAt: Date | undefined;
  readonly now: Date;
}

export interface Grant {
  readonly id: string;
  readonly accountId: string;
  readonly amount: MicroCredits;
  readonly remaining: MicroCredits;
  readonly source: string;
  readonly reference: string | undefined;
  readonly expiresAt: Date | undefined;
  readonly createdAt: Date;
}

export type GrantAnswer = 'granted' | 'revoked' | 'unknown' | 'duplicate' | 'short';

/** An amount below zero takes credits back. After 'short' the transaction must be rolled back. */
export async function insertGrant(queries: Queries, grant: NewGrant): Promise<GrantAnswer> {
  const { now, id, accountId, amount, source, reference, expiresAt } = grant;
  const [row] =
    amount > 0n
      ? await queries.rows<{ answer: GrantAnswer }>('select ledger_grant($1, $2, $3, $4, $5, $6, $7) as answer', [
          ...[now, id, accountId, amount, source, reference, expiresAt],
        ])
      : await queries.rows<{ answer: GrantAnswer }>('select ledger_revoke($1, $2, $3, $4, $5, $6) as answer', [
          ...[now, id, accountId, -amount, source, reference],
        ]);
  return row?.answer ?? 'unknown';
}

/** What is left out stays as it is; an expiry of null is none. */
export interface GrantChange {
  readonly source?: string | undefined;
  readonly reference?: string | undefined;
  readonly expiresAt?: Date | null | undefined;
}

export type ChangeAnswer = 'changed' | 'unknown' | 'duplicate' | 'over';

export async function changeGrant(queries: Queries, id: string, change: GrantChange, now: Date): Promise<ChangeAnswer> {
  const { source, reference, expiresAt } = change;
  const [row] = await queries.rows<{ answer: ChangeAnswer }>(
    'select ledger_correct_grant($1, $2, $3, $4, $5, $6) as answer',
    [now, id, source, reference, expiresAt !== undefined, expiresAt],
  );
  return row?.answer ?? 'unknown';
}

interface GrantRow {
  readonly id: string;
  readonly account_id: string;
  readonly amount: MicroCredits;
  readonly remaining: MicroCredits;
  readonly source: string;
  readonly reference: string | null;
  readonly expires_at: Date | null;
  readonly created_at: Date;
}

export async function selectGrants(
  queries: Queries,
  accountId: string,
  page: Page,
  now: Date,
): Promise<readonly Grant[]> {
  const rows = await queries.rows<GrantRow>(
    `select id, account_id, amount, source, reference, expires_at, created_at,
       case when expires_at <= $4 then 0 else remaining end as remaining
     from grants
     where account_id = $1 and number < coalesce((select number from grants where id = $2 and account_id = $1), $5)
     order by number desc limit $3`,
    [accountId, page.after, page.limit, now, page.after === undefined ? BIGINT_MAX : 0n],
  );
  return rows.map(toGrant);
}

const BIGINT_MAX = 9_223_372_036_854_775_807n;

export async function selectGrant(queries: Queries, id: string): Promise<Grant | undefined> {
  const [row] = await queries.rows<GrantRow>(
    'select id, account_id, amount, remaining, source, reference, expires_at, created_at from grants where id = $1',
    [id],
  );
  return row && toGrant(row);
}

function toGrant(row: GrantRow): Grant {
  return {
    id: row.id,
    accountId: row.account_id,
    amount: row.amount,
    remaining: row.remaining,
    source: row.source,
    reference: row.reference ?? undefined,
    expiresAt: row.expires_at ?? undefined,
    createdAt: row.created_at,
  };
}
