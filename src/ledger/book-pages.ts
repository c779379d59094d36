import type { Tx } from '../db/index.ts';
import { BOOK_ACCOUNTS_PER_READ, BOOK_ENTRIES_PER_READ, DB_LONG_STATEMENT_MS } from '../limits.ts';

/** Entries of one account with numbers above `after`, up to `upto`. */
export interface Range {
  readonly accountId: string;
  readonly after: bigint;
  readonly upto: bigint;
}

/**
 * One snapshot for a whole check. Each statement reads a page, whatever there is; from a cold disk, as after a restore, one may
 * take longer than any of a call.
 */
export async function beginCheck(tx: Tx): Promise<void> {
  await tx.run('set transaction isolation level repeatable read, read only');
  await tx.limitStatements(DB_LONG_STATEMENT_MS);
}

/** Entries that no check has read yet, or all: cut and put together to pages of so many. */
export async function* entryPages(tx: Tx, isFull: boolean): AsyncGenerator<readonly Range[], void> {
  let page: Range[] = [];
  let room = BOOK_ENTRIES_PER_READ;
  for await (const { accountId, after, upto } of rangesOf(tx, isFull)) {
    for (let from = after; from < upto; ) {
      const to = upto - from < room ? upto : from + room;
      page.push({ accountId, after: from, upto: to });
      room -= to - from;
      from = to;
      if (room > 0n) continue;
      yield page;
      page = [];
      room = BOOK_ENTRIES_PER_READ;
    }
  }
  if (page.length > 0) yield page;
}

/** An account without anything to read comes along, for its place in the order. */
interface FoundRange {
  readonly accountId: string;
  readonly after: bigint;
  readonly upto: bigint | null;
}

async function* rangesOf(tx: Tx, isFull: boolean): AsyncGenerator<Range, void> {
  for (let last: string | undefined = ''; last !== undefined; ) {
    const found: readonly FoundRange[] = await tx.rows(isFull ? ALL : UNREAD, [last, BOOK_ACCOUNTS_PER_READ]);
    for (const { accountId, after, upto } of found) if (upto !== null) yield { accountId, after, upto };
    last = found.length < BOOK_ACCOUNTS_PER_READ ? undefined : found.at(-1)?.accountId;
  }
}

const LAST_NUMBER = 'select max(number) as upto from ledger_entries e where e.account_id =';

/** Accounts as the entries name them, one look at the index for each: those of the table `accounts` may be fewer. */
const ALL = `
  with recursive named as (
    (select account_id from ledger_entries where account_id > $1 order by account_id limit 1)
    union all
    select (select account_id from ledger_entries e where e.account_id > named.account_id order by account_id limit 1)
    from named where account_id is not null
  )
  select account_id as "accountId", 0::bigint as after, (${LAST_NUMBER} named.account_id)
  from named where account_id is not null limit $2`;

/** Of each account by one look at the end of its entries, whatever its balance says. */
const UNREAD = `
  select b.account_id as "accountId", coalesce(c.figures[7], 0) as after, last.upto
  from (select account_id from balances where account_id > $1 order by account_id limit $2) as b
  left join lateral (
    select figures from ledger_checkpoints where kind = 'balances' and id = b.account_id offset 0) as c on true
  cross join lateral (${LAST_NUMBER} b.account_id and e.number > coalesce(c.figures[7], 0)) as last
  order by b.account_id`;
