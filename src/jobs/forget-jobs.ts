import type { Db, Tx } from '../db/index.ts';
import { JOB_DAYS_MIN } from '../limits.ts';
import { forgetKeys } from './keys-store.ts';

const DAY_MS = 24 * 3_600_000;
/** Jobs that one transaction deletes, so that none is long. */
const FORGOTTEN_AT_ONCE = 500;
/** In one call: what is left then is deleted by the next. */
const TRANSACTIONS_MAX = 100;

/**
 * Deletes jobs that ended more than so many days ago, with their attempts and results; negative keeps them for ever. What
 * was reserved and charged for them stays in the ledger. May run in several processes at once.
 */
export async function forgetJobs(db: Db, now: Date, days: number): Promise<void> {
  if (days < JOB_DAYS_MIN) return;
  const before = new Date(now.getTime() - days * DAY_MS);
  // Keys are forgotten sooner than the youngest of these jobs: none may be left that names one.
  if ((await selectOld(db, before)).length > 0) while ((await forgetKeys(db, now)) > 0);
  for (let transaction = 0; transaction < TRANSACTIONS_MAX; transaction++) {
    const forgotten = await db.transaction((tx) => forgetSome(tx, before));
    if (forgotten < FORGOTTEN_AT_ONCE) return;
  }
}

async function forgetSome(tx: Tx, before: Date): Promise<number> {
  const ids = await selectOld(tx, before, 'for update skip locked');
  for (const table of ['job_attempts', 'job_assets'])
    await tx.run(`delete from ${table} where job_id = any ($1)`, [ids]);
  await tx.run('delete from jobs where id = any ($1)', [ids]);
  return ids.length;
}

/** The oldest first, by the index of creation; a job ends after it was created. */
async function selectOld(queries: Pick<Db, 'rows'>, before: Date, lock = ''): Promise<readonly string[]> {
  const rows = await queries.rows<{ id: string }>(
    `select id from jobs where created_at < $1 and finished_at < $1 order by created_at, id limit $2 ${lock}`,
    [before, FORGOTTEN_AT_ONCE],
  );
  return rows.map(({ id }) => id);
}
