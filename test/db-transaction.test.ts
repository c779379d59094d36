import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { DatabaseUnavailable, openDb } from '../src/db/index.ts';
import { createDatabase, silentLog } from './support/database.ts';
import { until } from './support/postgres.ts';

const database = await createDatabase();
const [one, other] = [openDb(database.address, silentLog), openDb(database.address, silentLog)];
await one.run('create table tills (id integer primary key, credits integer)');
await one.run('insert into tills values (1, 10)');
after(async () => {
  await Promise.all([one.close(), other.close()]);
  await database.drop();
});

test('a process that stands still in a transaction loses it, and with it what it kept others from', async () => {
  const take = (credits: number) => `update tills set credits = credits - ${credits} where id = 1`;
  const [stands, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const stood = one.transaction(async (tx) => {
    await tx.run(take(1));
    stands.resolve();
    await goesOn.promise;
    await tx.run(take(2));
  });
  stood.catch(() => undefined);
  await stands.promise;
  let refusals = 0;
  await until(() =>
    other.run(take(4)).then(
      () => true,
      (error) => {
        assert.ok(error instanceof DatabaseUnavailable);
        refusals++;
        return false;
      },
    ),
  );
  assert.ok(refusals > 0, 'it had the lock');
  goesOn.resolve();
  await assert.rejects(stood, DatabaseUnavailable);
  assert.deepEqual(await one.rows('select credits from tills'), [{ credits: 6 }]);
});

test('a transaction that raises the limit of its statements raises it at the server and for itself, and for itself alone', async (t) => {
  const impatient = openDb(database.address, silentLog, { statementMs: 100 });
  t.after(() => impatient.close());
  const limit = `select current_setting('statement_timeout') as limit`;
  // The client's own limit comes a second after the server's.
  const slow = 'select pg_sleep(1.3)';
  await assert.rejects(impatient.rows(slow), DatabaseUnavailable);
  await impatient.transaction(async (tx) => {
    await tx.limitStatements(20_000);
    await tx.rows(slow);
    await tx.script(slow);
    assert.deepEqual(await tx.rows(limit), [{ limit: '20s' }]);
  });
  // On the same connection, which is idle again.
  assert.deepEqual(await impatient.rows(limit), [{ limit: '100ms' }]);
  await assert.rejects(
    impatient.transaction((tx) => tx.rows(slow)),
    DatabaseUnavailable,
  );
});

test('a statement that a deadlock ended is run again', async () => {
  await one.run('insert into tills values (2, 10), (3, 10)');
  // Of the two that wait for each other, the one that looks first is ended: this one.
  await one.run(`create function give_both() returns void language plpgsql set deadlock_timeout = '10ms' as $$
    begin
      update tills set credits = credits - 1 where id = 3;
      perform pg_sleep(0.1);
      update tills set credits = credits - 1 where id = 2;
    end $$`);
  let given: Promise<number> | undefined;
  await one.transaction(async (tx) => {
    await tx.run(`set local deadlock_timeout = '60s'`);
    await tx.run('update tills set credits = credits + 5 where id = 2');
    given = other.run('select give_both()');
    await until(async () => (await one.rows(SLEEPERS)).length > 0);
    await tx.run('update tills set credits = credits + 5 where id = 3');
  });
  assert.equal(await given, 1);
  assert.deepEqual(await one.rows('select id, credits from tills where id > 1 order by id'), [
    { id: 2, credits: 14 },
    { id: 3, credits: 14 },
  ]);
});

const SLEEPERS = `select pid from pg_stat_activity where wait_event = 'PgSleep' and query = 'select give_both()'`;
