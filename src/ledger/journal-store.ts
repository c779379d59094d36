import type { MicroCredits } from '../credits.ts';
import type { Queries } from '../db/index.ts';

export interface PurseOrder {
  readonly id: string;
  /** Or else credits are added to the one of this id. */
  readonly isNew: boolean;
  readonly accountId: string;
  readonly processId: string;
  readonly wanted: MicroCredits;
  /** Less than this is not worth while. */
  readonly enough: MicroCredits;
  /** Until when it is used: no credits of the account may expire before. */
  readonly until: Date;
}

/** How much was put in; undefined when somebody else has taken the purse away. */
export async function fillPurse(queries: Queries, order: PurseOrder): Promise<MicroCredits | undefined> {
  const { id, isNew, accountId, processId, wanted, enough, until } = order;
  const [row] = await queries.rows<{ given: MicroCredits | null }>(
    'select ledger_fill_purse($1, $2, $3, $4, $5, $6, $7) as given',
    [id, isNew, accountId, processId, wanted, enough, until],
  );
  return row?.given ?? undefined;
}

/** Once this is done nothing can be written from it any more. One at a time, so that no two can wait for each other. */
export function deletePurse(queries: Queries, id: string): Promise<number> {
  return queries.run('delete from purses where id = $1', [id]);
}

export function selectPursesOf(queries: Queries, processId: string): Promise<readonly { id: string }[]> {
  return queries.rows('select id from purses where process_id = $1', [processId]);
}

/** Those of processes that no longer say that they live. */
export function selectLostPurses(queries: Queries, now: Date): Promise<readonly { id: string }[]> {
  return queries.rows(
    `select id from purses where not exists (
       select from reservation_owners owner where owner.process_id = purses.process_id and lease_until > $1)`,
    [now],
  );
}

/**
 * Writes members of a purse, `$1`, as a list in JSON, `$2`; none from one that is not there or is being taken away.
 * Whoever takes a purse away waits for this statement, but this one waits for nobody.
 */
export const INSERT_MEMBERS = `
  insert into ledger_journal (account_id, purse_id, owner, members)
  select account_id, id, process_id, $2 from purses where id = $1 for key share skip locked`;

const ACCOUNTS_PER_TURN_MAX = 100;

/**
 * Makes entries of what the journal says about these accounts, one lock at a time, or about all. A read of the ledger's
 * tables needs it first.
 */
export async function catchUp(queries: Queries, of: string | readonly string[] | undefined): Promise<void> {
  if (of === undefined) return catchUpAll(queries);
  for (const id of typeof of === 'string' ? [of] : await withLines(queries, of)) {
    await queries.rows(`select ledger_catch_up(array[$1], 'wait')`, [id]);
  }
}

/** The function itself finds out about one account; of many, only a few are busy. */
async function withLines(queries: Queries, accountIds: readonly string[]): Promise<readonly string[]> {
  const rows = await queries.rows<{ id: string }>(
    'select distinct account_id as id from ledger_journal where account_id = any ($1)',
    [accountIds],
  );
  return rows.map(({ id }) => id);
}

/** The same for these accounts, apart from those that somebody else has just locked. */
export async function catchUpOf(queries: Queries, accountIds: readonly string[]): Promise<void> {
  for (let at = 0; at < accountIds.length; at += ACCOUNTS_PER_TURN_MAX) {
    await queries.rows(`select ledger_catch_up($1, 'skip')`, [accountIds.slice(at, at + ACCOUNTS_PER_TURN_MAX)]);
  }
}

/** The same for every account. It reads the whole journal, with all that was there before, to find them. */
export async function catchUpAll(queries: Queries): Promise<void> {
  while ((await catchUpSome(queries, ACCOUNTS_PER_TURN_MAX)) === ACCOUNTS_PER_TURN_MAX);
}

async function catchUpSome(queries: Queries, accountsMax: number): Promise<number> {
  const [row] = await queries.rows<{ done: number }>('select ledger_catch_up_some($1) as done', [accountsMax]);
  return row?.done ?? 0;
}

/** Gives the places of lines that are done with to new ones, unless somebody else is at it. */
export async function sweepJournal(queries: Queries): Promise<void> {
  await queries.run('vacuum (skip_locked, truncate off) ledger_journal');
}
