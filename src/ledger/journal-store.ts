import type { Queries } from '../db/index.ts';
import { pricesJson } from './change.ts';
import type { Line } from './journal.ts';

/**
 * Writes lines, one row per purse, in one statement. Returns the purses that were there; of one that has been deleted, or
 * is locked for deletion, nothing is written. The key-share lock is the fence: a transaction that deletes a purse waits for
 * this statement's commit, and this statement waits for none.
 */
export async function insertLines(queries: Queries, lines: readonly Line[]): Promise<ReadonlySet<string>> {
  const prices = lines.flatMap(({ price }) => (price === undefined ? [] : [price]));
  const rows = await queries.rows<{ purse_id: string }>(INSERT_LINES, [byPurse(lines), pricesJson(prices)]);
  return new Set(rows.map(({ purse_id }) => purse_id));
}

const INSERT_LINES = `
  insert into ledger_journal (account_id, purse_id, owner, changes, prices)
  select purses.account_id, purses.id, purses.process_id, line.value, $2::json
  from json_each($1) as line join purses on purses.id = line.key::uuid
  for key share of purses skip locked
  returning purse_id`;

/** A JSON object: of each purse's id, the list of its changes. */
function byPurse(lines: readonly Line[]): string {
  const lists = new Map<string, string>();
  for (const { purse, change } of lines) {
    const list = lists.get(purse.id);
    lists.set(purse.id, list === undefined ? change : `${list},${change}`);
  }
  return `{${Array.from(lists, ([purseId, list]) => `"${purseId}":[${list}]`).join(',')}}`;
}

const ACCOUNTS_PER_POSTING_MAX = 100;

/**
 * Posts the journal lines of these accounts, one lock at a time, or of all that are not locked. Reads of the ledger's tables
 * need it first; the views `ledger_entries_now` and its like do not.
 */
export async function postJournal(queries: Queries, of: string | readonly string[] | undefined): Promise<void> {
  if (of === undefined) return postAll(queries);
  for (const id of typeof of === 'string' ? [of] : await selectWithLines(queries, of)) {
    await queries.run(`select ledger_post_journal(array[$1], 'wait')`, [id]);
  }
}

/** The function itself finds out about one account; of many, only a few are busy. */
async function selectWithLines(queries: Queries, accountIds: readonly string[]): Promise<readonly string[]> {
  const rows = await queries.rows<{ id: string }>(
    'select distinct account_id as id from ledger_journal where account_id = any ($1)',
    [accountIds],
  );
  return rows.map(({ id }) => id);
}

/** The same for these accounts, without those that another transaction has locked. */
export async function postUnlocked(queries: Queries, accountIds: readonly string[]): Promise<void> {
  for (let at = 0; at < accountIds.length; at += ACCOUNTS_PER_POSTING_MAX) {
    await queries.run(`select ledger_post_journal($1, 'skip')`, [accountIds.slice(at, at + ACCOUNTS_PER_POSTING_MAX)]);
  }
}

/** The same for every account. Finding them reads the whole table, dead tuples included. */
export async function postAll(queries: Queries): Promise<void> {
  while ((await postSome(queries, ACCOUNTS_PER_POSTING_MAX)) === ACCOUNTS_PER_POSTING_MAX);
}

/** As a statement with an effect, which a report's reads send to the primary; its rows are counted, one for each account. */
function postSome(queries: Queries, accountsMax: number): Promise<number> {
  return queries.run('select from generate_series(1, ledger_post_some($1))', [accountsMax]);
}

/** Frees the dead tuples of posted lines, unless another process is at it. */
export async function vacuumJournal(queries: Queries): Promise<void> {
  await queries.run('vacuum (skip_locked, truncate off) ledger_journal');
}
