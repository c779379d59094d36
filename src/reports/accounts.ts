import type { MicroCredits } from '../credits.ts';
import type { Db } from '../db/index.ts';
import { postJournal } from '../ledger/index.ts';

/** What is derived about an account, as of one moment. */
export interface AccountFigures {
  readonly available: MicroCredits;
  readonly reserved: MicroCredits;
  /** Of any of its keys, deleted ones included. */
  readonly lastUsedAt: Date | null;
  /** How many live keys name a group that the account does not have. */
  readonly widerKeys: number;
}

const NO_FIGURES: AccountFigures = { available: 0n, reserved: 0n, lastUsedAt: null, widerKeys: 0 };

/** As `balanceOf` tells them, for a page of accounts in one statement. */
export async function figuresOf(
  db: Db,
  accountIds: readonly string[],
  now: Date,
): Promise<(accountId: string) => AccountFigures> {
  if (accountIds.length === 0) return () => NO_FIGURES;
  await postJournal(db, accountIds);
  const rows = await db.rows<AccountFigures & { id: string }>(
    `select a.id, b.reserved, keys.last_used_at as "lastUsedAt", coalesce(keys.wider, 0)::int as "widerKeys",
       b.available - coalesce(expired.amount, 0)::bigint as available
     from accounts a join balances b on b.account_id = a.id
     left join (
       select account_id, max(last_used_at) as last_used_at,
         count(*) filter (where deleted_at is null and not k.groups <@ a.groups) as wider
       from api_keys k join accounts a on a.id = k.account_id
       where k.account_id = any ($1) group by account_id
     ) as keys on keys.account_id = a.id
     left join (
       select account_id, sum(remaining) as amount from grants join balances using (account_id)
       where account_id = any ($1) and spendable and expires_at <= greatest($2, balances.updated_at) group by account_id
     ) as expired on expired.account_id = a.id
     where a.id = any ($1)`,
    [accountIds, now],
  );
  const figures = new Map(rows.map(({ id, ...row }) => [id, row]));
  return (accountId) => figures.get(accountId) ?? NO_FIGURES;
}
