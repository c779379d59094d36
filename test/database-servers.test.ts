import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DatabaseUnavailable, openDb, type PooledDb } from '../src/db/index.ts';
import { silentLog } from './support/database.ts';
import { atEnd, until, workFolder } from './support/postgres.ts';
import { ReplicaServer, ReplicatedPostgres } from './support/replicated-postgres.ts';

async function replicated(t: TestContext): Promise<ReplicatedPostgres> {
  const postgres = await ReplicatedPostgres.start(workFolder(t));
  atEnd(t, () => postgres.stop());
  return postgres;
}

function opened(t: TestContext, url: string): PooledDb {
  const db = openDb({ url }, silentLog);
  atEnd(t, () => db.close());
  return db;
}

/** The folder of the socket through which a statement went. */
async function serverOf(db: PooledDb): Promise<string> {
  const [row] = await db.rows<{ folder: string }>(`select current_setting('unix_socket_directories') as folder`);
  return row?.folder ?? '';
}

async function assertUses(db: PooledDb, server: ReplicaServer): Promise<void> {
  assert.equal(await serverOf(db), server.connection.host);
}

/** A connection that died a moment ago may be noticed by the first statement on it. */
async function untilRefused(write: () => Promise<unknown>, text: RegExp): Promise<void> {
  await until(async () => {
    const error = await write().then(
      () => assert.fail('it was written'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof DatabaseUnavailable);
    return text.test(String(error.cause));
  });
}

test('of several hosts the one that takes writes is used, and after its death the one that was promoted', async (t) => {
  const postgres = await replicated(t);
  const [one, two] = postgres.servers;
  const db = opened(t, postgres.url());
  const other = opened(t, postgres.url([two, one], '&target_session_attrs=primary'));
  await assertUses(db, one);
  await assertUses(other, one);
  let moves = 0;
  db.onMoved(() => moves++);
  await db.run('create table facts (fact int)');
  await db.run('insert into facts values (1)');
  const listener = await db.openConnection(1000);
  const lost = new Promise<void>((resolve) => listener.once('end', resolve));

  await one.kill();
  await lost;
  await untilRefused(() => db.run('insert into facts values (2)'), /is a standby/);
  await two.promote();
  await db.run('insert into facts values (3)');
  await assertUses(other, two);
  assert.equal(moves, 1);
  assert.deepEqual([db.servers, other.servers], Array(2).fill({ failovers: 1, strays: 0 }));
  assert.deepEqual(await db.rows('select fact from facts order by fact'), [{ fact: 1 }, { fact: 3 }]);

  // The operator's mistake: the old primary is up again, takes writes, and knows nothing of the promotion.
  await one.revive();
  await one.ask(`alter system set synchronous_standby_names = ''`);
  await assertUses(db, two);
  await two.ask(`alter system set primary_conninfo = ''`);
  await assertUses(opened(t, postgres.url()), two);
  await until(() => db.warnings.length > 0);
  assert.match(db.warnings.join(), /takes writes beside/);
  assert.deepEqual(db.servers, { failovers: 1, strays: 1 });
  await two.kill();
  await untilRefused(() => db.run('insert into facts values (4)'), /stale primary of timeline 1/);
});

test('a server that has become read-only is left with all its connections, and not asked for writes again', async (t) => {
  const postgres = await replicated(t);
  const [one] = postgres.servers;
  const checked = opened(t, postgres.url());
  const plain = opened(t, postgres.url([one]));
  const pidOf = async (db: PooledDb) => (await db.rows<{ pid: number }>('select pg_backend_pid() as pid'))[0]?.pid;
  const pids = [await pidOf(checked), await pidOf(plain)];
  await one.ask('alter system set default_transaction_read_only = on');
  await one.ask('select pg_reload_conf()');
  const READ_ONLY = `select current_setting('default_transaction_read_only') as is`;
  const write = (db: PooledDb) => db.transaction((tx) => tx.run('create table never (fact int)'));
  for (const db of [checked, plain]) {
    await until(async () => (await db.rows<{ is: string }>(READ_ONLY))[0]?.is === 'on');
    await assert.rejects(write(db), DatabaseUnavailable);
  }
  assert.notEqual(await pidOf(plain), pids[1]);
  await untilRefused(() => write(checked), /is read-only; .* is a standby|is a standby; .* is read-only/);
});

test('a host of another cluster is refused by its system identifier', async (t) => {
  const folder = workFolder(t);
  const servers = ['one', 'stranger'].map((name) => new ReplicaServer(join(folder, name)));
  for (const server of servers) {
    await server.start();
    atEnd(t, () => server.stop());
  }
  const hosts = servers.map(({ connection }) => connection.host).join();
  const db = opened(t, `postgres://postgres@localhost/postgres?host=${encodeURIComponent(hosts)}`);
  await untilRefused(() => db.rows('select 1'), /is no replica of the others/);
});
