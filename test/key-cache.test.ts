import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { apiKeyDigest } from '../src/accounts/api-key.ts';
import { type Db, openDb } from '../src/db/index.ts';
import { createDatabase, silentLog, type TestDatabase } from './support/database.ts';
import { DatabaseLink } from './support/database-link.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { until } from './support/postgres.ts';

// Two processes of one deployment, each of which remembers the keys it has seen.

let database: TestDatabase;
let db: Db;
let link: DatabaseLink;
let first: Gateway;
let second: Gateway;

before(async () => {
  database = await createDatabase();
  db = openDb(database.address, silentLog);
  link = await DatabaseLink.open(database);
  const settings = { TOLLGATE_RPM: '100000' };
  first = await Gateway.start({ database, settings });
  second = await Gateway.start({ database: link.database, settings, clock: first.clock });
});
after(async () => {
  await second.stop();
  await first.stop();
  await link.cut();
  await db.close();
  await database.drop();
});
afterEach(() => first.assertBooksBalance());

function use(at: Gateway, key: string): Promise<Answer> {
  return at.call('GET', '/v1/models', { key });
}

async function works(at: Gateway, key: string): Promise<void> {
  const answer = await use(at, key);
  assert.equal(answer.status, 200, answer.text);
}

async function refusedNext(at: Gateway, key: string, code: string): Promise<void> {
  const answer = await use(at, key);
  assert.deepEqual([answer.status, answer.json.error?.code], [401, code]);
}

/** A caller whom both processes remember. */
async function knownCaller(): Promise<NewCaller> {
  const caller = await first.newCaller();
  await until(async () => (await remembers(first, caller)) && (await remembers(second, caller)));
  return caller;
}

/** Changes the row behind the process's back, and sees whether it still answers by what it knew. Leaves it as it was. */
async function remembers(at: Gateway, { key, keyId }: NewCaller): Promise<boolean> {
  await works(at, key);
  await db.run('update api_keys set disabled = true where id = $1', [keyId]);
  const { status } = await use(at, key);
  await db.run('update api_keys set disabled = false where id = $1', [keyId]);
  // What it may have looked up meanwhile is not to stay.
  if (status !== 200) await db.rows(`select pg_notify('tollgate', $1)`, [JSON.stringify(['key', keyId])]);
  await until(async () => (await use(at, key)).status === 200);
  return status === 200;
}

async function remove(at: Gateway, { keyId }: NewCaller): Promise<void> {
  assert.equal((await at.admin('DELETE', `/keys/${keyId}`)).status, 200);
}

/** Ends the connections on which processes listen, as a failing network or an administrator would. */
async function endListeners(): Promise<void> {
  const ended = await db.rows(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()
       and (query like 'listen %' or query like '%insert into processes%')`,
  );
  assert.equal(ended.length, 2);
}

test('a key that was seen is answered from memory, without its row', async () => {
  const caller = await knownCaller();
  assert.equal(await remembers(first, caller), true);
  assert.equal(await remembers(second, caller), true);
});

test('R-093: a deletion is in force on the other process with the very next request, fifty times over', async () => {
  for (let round = 0; round < 50; round++) {
    const [here, there] = round % 2 === 0 ? [first, second] : [second, first];
    const caller = await first.newCaller();
    for (const at of [first, second, first, second]) await works(at, caller.key);
    await remove(here, caller);
    await refusedNext(there, caller.key, 'invalid_api_key');
    await refusedNext(here, caller.key, 'invalid_api_key');
  }
});

test('R-093: a row that was read before the deletion and arrives after it is not remembered', async (t) => {
  const caller = await first.newCaller();
  // As it is written in a list.
  link.holdAnswersTo(Buffer.from(apiKeyDigest(caller.key).toString('hex')));
  t.after(() => link.letGo());
  const reading = use(second, caller.key);
  await until(() => link.isHolding);
  await remove(first, caller);
  link.letGo();
  assert.equal((await reading).status, 200, 'begun before the deletion');
  await refusedNext(second, caller.key, 'invalid_api_key');
});

test('R-112: a suspension and its end are in force on the other process with the very next request', async () => {
  const { accountId, key } = await knownCaller();
  for (let round = 0; round < 10; round++) {
    await first.admin('PATCH', `/accounts/${accountId}`, { status: 'suspended' });
    await refusedNext(second, key, 'account_disabled');
    await first.admin('PATCH', `/accounts/${accountId}`, { status: 'active' });
    await works(second, key);
  }
});

test('disabling a key and changing its groups are in force on the other process with the very next request', async () => {
  const { accountId, key, keyId } = await knownCaller();
  await first.admin('PATCH', `/keys/${keyId}`, { disabled: true });
  await refusedNext(second, key, 'key_disabled');
  await first.admin('PATCH', `/keys/${keyId}`, { disabled: false });
  assert.notDeepEqual((await use(second, key)).json.data, []);
  await first.admin('PATCH', `/accounts/${accountId}`, { groups: ['elsewhere'] });
  assert.deepEqual((await use(second, key)).json.data, []);
});

test('R-093: a deletion right after the listeners were ended is in force with the very next request', async () => {
  // A known caller is one that both remember, so each further round shows that they listen and remember again.
  for (let round = 0; round < 3; round++) {
    const caller = await knownCaller();
    await endListeners();
    await remove(first, caller);
    await refusedNext(second, caller.key, 'invalid_api_key');
    await refusedNext(first, caller.key, 'invalid_api_key');
  }
});

test('without its listener a process answers from the database, and from memory again once it listens', async (t) => {
  const caller = await knownCaller();
  link.silenceListeners();
  t.after(() => link.unsilenceListeners());
  await until(async () => !(await remembers(second, caller)));
  await until(() => remembers(first, caller));
  assert.equal(await remembers(second, caller), false);
  link.unsilenceListeners();
  await until(() => remembers(second, caller));
});

test('R-093: a process whose listener hears nothing more, and does not know it, serves no deleted key', async (t) => {
  const caller = await knownCaller();
  link.silenceListeners();
  t.after(() => link.unsilenceListeners());
  await works(second, caller.key);
  await remove(first, caller);
  await refusedNext(second, caller.key, 'invalid_api_key');
});

test('R-112: a process whose listener hears nothing more serves no suspended account', async (t) => {
  const { accountId, key } = await knownCaller();
  link.silenceListeners();
  t.after(() => link.unsilenceListeners());
  await works(second, key);
  await first.admin('PATCH', `/accounts/${accountId}`, { status: 'suspended' });
  await refusedNext(second, key, 'account_disabled');
});
