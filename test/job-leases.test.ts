import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { openDb } from '../src/db/index.ts';
import type { JobDeps } from '../src/jobs/deps.ts';
import type { LeasedJob } from '../src/jobs/job.ts';
import { JobQueue } from '../src/jobs/queue.ts';
import { extendJobs } from '../src/jobs/queue-store.ts';
import { ManualClock } from './support/clock.ts';
import { createDatabase, silentLog } from './support/database.ts';
import { until } from './support/postgres.ts';

const database = await createDatabase();
const db = openDb(database.address, silentLog);
after(async () => {
  await db.close();
  await database.drop();
});

const BEFORE = new Date('2026-01-01T00:00:00Z');
const UNTIL = new Date('2026-01-01T00:01:00Z');

test('leases are extended without waiting for a job that is just being saved, and for their own fence alone', async () => {
  await open(['job_1', 'job_2', 'job_3', 'job_4']);
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

for (const [how, letGo] of [
  ['until its next step', (queue: JobQueue, job: LeasedJob) => queue.save(job, { dueAt: UNTIL })],
  ['by a process that stops', (queue: JobQueue, job: LeasedJob) => queue.release(job)],
] as const) {
  test(`a job that is let go ${how} is due then, also where an extension of its lease takes a while`, async () => {
    await open(['job_5']);
    const clock = new ManualClock();
    const queue = new JobQueue({ db, clock } as unknown as JobDeps);
    const job = { id: 'job_5', fence: 1, job: { id: 'job_5', status: 'running', progress: 0 }, attempts: [] };
    for (const statement of SLOW_EXTENSIONS) await db.run(statement);
    let extension: Promise<void> | undefined;
    let gone: Promise<unknown> | undefined;
    await db.transaction(async (tx) => {
      await tx.rows('select pg_advisory_xact_lock(1)');
      extension = queue.extend([job]);
      await until(async () => (await db.rows(WAITING)).length > 0);
      gone = letGo(queue, job as unknown as LeasedJob);
      // Long enough to be written, if it does not wait.
      await Promise.race([gone, pass(500)]);
    });
    await Promise.all([extension, gone]);
    const dueAt = how === 'until its next step' ? UNTIL : clock.now();
    assert.deepEqual(await db.rows('select due_at from open_jobs'), [{ due_at: dueAt }]);
  });
}

/** These alone, and nothing else in the queue. The jobs themselves do not matter here. */
async function open(ids: readonly string[]): Promise<void> {
  await db.run('delete from open_jobs');
  await db.transaction(async (tx) => {
    await tx.run('set local session_replication_role = replica');
    await tx.run(
      `insert into open_jobs (job_id, account_id, due_at, place, fence)
       select id, 'acct', $1, $1, 1 from unnest($2::text[]) as id`,
      [BEFORE, ids],
    );
  });
}

const SLOW_EXTENSIONS = [
  `create or replace function wait_for_test() returns trigger language plpgsql as $$
    begin
      if current_query() like '%as leased (id, fence)%' then perform pg_advisory_xact_lock(1); end if;
      return null;
    end $$`,
  `create or replace trigger slow before update on open_jobs
    for each statement execute function wait_for_test()`,
];

const WAITING = `select pid from pg_stat_activity where wait_event = 'advisory'`;
