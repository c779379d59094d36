import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openDb } from '../src/db/index.ts';
import { extendJobs } from '../src/jobs/queue-store.ts';
import { createDatabase, silentLog } from './support/database.ts';

const database = await createDatabase();
const db = openDb(database.address, silentLog);
after(async () => {
  await db.close();
  await database.drop();
});

const BEFORE = new Date('2026-01-01T00:00:00Z');
const UNTIL = new Date('2026-01-01T00:01:00Z');

test('leases are extended without waiting for a job that is just being saved, and for their own fence alone', async () => {
  await db.transaction(async (tx) => {
    // The jobs themselves do not matter here.
    await tx.run('set local session_replication_role = replica');
    await tx.run(
      `insert into open_jobs (job_id, account_id, due_at, place, fence)
       select 'job_' || n, 'acct', $1, $1, 1 from generate_series(1, 4) as n`,
      [BEFORE],
    );
  });
  const leased = ['job_1', 'job_2', 'job_3'].map((id) => ({ id, fence: id === 'job_3' ? 0 : 1 }));
  await db.transaction(async (saving) => {
    await saving.run(`update open_jobs set due_at = due_at where job_id = 'job_1'`);
    await extendJobs(db, leased, UNTIL);
  });
  assert.deepEqual(await db.rows('select job_id, due_at from open_jobs order by job_id'), [
    { job_id: 'job_1', due_at: BEFORE },
    { job_id: 'job_2', due_at: UNTIL },
    { job_id: 'job_3', due_at: BEFORE },
    { job_id: 'job_4', due_at: BEFORE },
  ]);
});
