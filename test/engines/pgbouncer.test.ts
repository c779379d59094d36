import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { type PgBouncer, type PoolMode, startPgBouncer } from '../../scripts/engines/pgbouncer.ts';
import { openDb, probes } from '../../src/db/index.ts';
import { StartError } from '../../src/start-error.ts';
import { OpenAiEmulator } from '../../src/vendors/openai/emulator.ts';
import { createDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { DatabaseLink } from '../support/database-link.ts';
import { Gateway } from '../support/gateway.ts';
import { chatBody, moneyOf, paidCaller, spentInTheEnd, tokenModel } from '../support/paid-calls.ts';
import { atEnd, until } from '../support/postgres.ts';
import { imageModel } from '../support/studio.ts';

const upstream = new OpenAiEmulator();
before(() => upstream.start());
after(() => upstream.stop());

interface Pooled {
  readonly bouncer: PgBouncer;
  /** The same database, reached through the pooler. */
  readonly database: TestDatabase;
}

async function pooled(t: TestContext, mode: PoolMode, poolSize?: number): Promise<Pooled> {
  const database = await createDatabase();
  atEnd(t, () => database.drop());
  // PostgreSQL listens on a socket that the pooler's user cannot reach.
  const link = await DatabaseLink.open(database);
  atEnd(t, () => link.cut());
  const { hostname, port, username: user } = new URL(link.database.url);
  assert.equal(hostname, '127.0.0.1');
  const size = poolSize === undefined ? {} : { poolSize };
  const bouncer = await startPgBouncer({ mode, postgresPort: Number(port), user, ...size });
  atEnd(t, () => bouncer.server.stop());
  const url = `postgres://${user}@127.0.0.1:${bouncer.port}/${database.address.database}`;
  return { bouncer, database: { ...database, url } };
}

async function started(t: TestContext, database: TestDatabase): Promise<Gateway> {
  const gateway = await Gateway.start({ database });
  atEnd(t, () => gateway.stop());
  return gateway;
}

const DOCUMENT = () => ({
  upstreams: [{ id: 'only', vendor: 'openai', base_url: upstream.url }],
  models: [
    tokenModel('pooled/chat', ['only']),
    imageModel('pooled/photo', [{ upstream: 'only', model: 'gpt-image-2' }]),
  ],
});

test('through a pooler in session mode processes start together, serve, tell each other what changed, and recover', async (t) => {
  const { bouncer, database } = await pooled(t, 'session');
  // Both migrate, one after the other: the lock is the transaction's.
  const [one, other] = await Promise.all([started(t, database), started(t, database)]);
  await one.putConfig(DOCUMENT());
  const caller = await paidCaller(one);
  const chats = Array.from({ length: 30 }, (_, place) =>
    (place % 2 === 0 ? one : other).call('POST', '/v1/chat/completions', {
      key: caller.key,
      body: chatBody('pooled/chat'),
    }),
  );
  const statuses = (await Promise.all(chats)).map(({ status }) => status);
  assert.ok(
    statuses.every((status) => status === 200 || status === 429),
    statuses.join(),
  );
  assert.ok((await spentInTheEnd(one, caller)) > 0);

  const body = { model: 'pooled/photo', prompt: 'a pool' };
  const made = await one.call('POST', '/v1/images/generations', { key: caller.key, body });
  assert.equal(made.status, 202, made.text);
  const status = async () =>
    (await other.call('GET', `/v1/jobs/${made.json.id}`, { key: caller.key })).json.status as string;
  await until(async () => {
    one.clock.advance(0.1);
    other.clock.advance(0.1);
    return (await status()) === 'succeeded';
  });

  // Heard by LISTEN before the answer to the deletion is sent.
  assert.equal((await other.call('GET', '/v1/models', caller)).status, 200);
  const deleted = await one.admin('DELETE', `/keys/${caller.keyId}`);
  assert.equal(deleted.status, 200, deleted.text);
  assert.equal((await other.call('GET', '/v1/models', caller)).status, 401);

  await bouncer.server.kill();
  await until(async () => (await one.call('GET', '/healthz')).status === 503);
  await bouncer.server.restart();
  await until(async () => (await one.call('GET', '/healthz')).status === 200);
  const next = await paidCaller(other);
  assert.equal((await moneyOf(one, next)).available, 1000);
  await one.assertBooksBalance();
});

test('the limits of time are in force behind a pooler, which takes no such parameters', async (t) => {
  const { database } = await pooled(t, 'session');
  const db = openDb({ url: database.url }, silentLog);
  atEnd(t, () => db.close());
  const [row] = await db.rows<{ lock: string; statement: string; idle: string }>(
    `select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement,
       current_setting('idle_in_transaction_session_timeout') as idle`,
  );
  assert.deepEqual(row, { lock: '3s', statement: '10s', idle: '5s' });
});

const shared: readonly [mode: PoolMode, poolSize: number][] = [
  ['transaction', 1],
  ['transaction', 20],
  ['statement', 20],
];
for (const [mode, poolSize] of shared) {
  test(`a pooler in ${mode} mode with ${poolSize} sessions is refused at the start, in words`, async (t) => {
    const { database } = await pooled(t, mode, poolSize);
    const refused = (error: unknown) =>
      error instanceof StartError &&
      error.message.startsWith(`DATABASE_URL leads to a connection pooler in ${mode} mode`);
    await assert.rejects(Gateway.start({ database }), refused);
  });
}

test('a pooler in transaction mode is known while others use it, too', async (t) => {
  const { database } = await pooled(t, 'transaction', 5);
  const url = { url: database.url };
  const busy = openDb(url, silentLog);
  atEnd(t, () => busy.close());
  let isOver = false;
  const others = Array.from({ length: 4 }, async () => {
    while (!isOver) await busy.transaction((tx) => tx.script('select 1'));
  });
  const db = openDb(url, silentLog);
  atEnd(t, () => db.close());
  try {
    for (let start = 0; start < 20; start++) await assert.rejects(probes.refuseSharedSessions(db), StartError);
  } finally {
    isOver = true;
    await Promise.all(others);
  }
});

test('PostgreSQL itself is never taken for a pooler', async (t) => {
  const database = await createDatabase();
  atEnd(t, () => database.drop());
  const dbs = Array.from({ length: 4 }, () => openDb(database.address, silentLog));
  for (const db of dbs) atEnd(t, () => db.close());
  for (let start = 0; start < 10; start++) await Promise.all(dbs.map((db) => probes.refuseSharedSessions(db)));
});
