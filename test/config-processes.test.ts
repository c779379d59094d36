import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { openDb } from '../src/db/index.ts';
import { DB_LOCK_TIMEOUT_MS } from '../src/limits.ts';
import { silentLog } from './support/database.ts';
import { type Fields, imageModel, keyed, sandbox, type WrittenDocument } from './support/documents.ts';
import { type Answer, Gateway } from './support/gateway.ts';
import { slowDatabase } from './support/slow-database.ts';
import { keysInForce, ROOT_SECRET } from './support/stored-secrets.ts';

let first: Gateway;
let second: Gateway;

const settings = { TOLLGATE_SECRET: ROOT_SECRET };

before(async () => {
  first = await Gateway.start({ settings });
  second = await Gateway.start({ settings, database: first.database, clock: first.clock });
});
afterEach(() => first.assertBooksBalance());
after(async () => {
  await second.stop();
  await first.stop();
});

function enable(id: string, enabled: boolean, at: Gateway = first): Promise<Answer> {
  return at.admin('PATCH', `/upstreams/${id}`, { enabled });
}

async function idsOn(at: Gateway, key: string): Promise<string[]> {
  const { json } = await at.call('GET', '/v1/models', { key });
  return json.data.map(({ id }: { id: string }) => id);
}

async function newestVersion(): Promise<{ version: number; source: string; document: WrittenDocument }> {
  const { version } = (await first.admin('GET', '/config/versions?limit=1')).json.data[0];
  return (await first.admin('GET', `/config/versions/${version}`)).json;
}

test('R-013: disabling an upstream takes its models out of every process’s list at once, and enabling puts them back', async () => {
  await first.putConfig({
    upstreams: [sandbox('stays'), sandbox('goes')],
    models: [imageModel('a', ['stays']), imageModel('b', ['goes']), imageModel('c', ['goes', 'stays'])],
  });
  const { key } = await first.newCaller();
  for (const [at, enabled, ids] of [
    [first, false, ['a', 'c']],
    [second, true, ['a', 'b', 'c']],
    [second, false, ['a', 'c']],
    [first, true, ['a', 'b', 'c']],
  ] as const) {
    const answer = await enable('goes', enabled, at);
    assert.deepEqual([answer.status, answer.json.enabled], [200, enabled]);
    assert.deepEqual(await idsOn(first, key), ids);
    assert.deepEqual(await idsOn(second, key), ids);
    assert.equal((await second.call('GET', '/v1/models/b', { key })).status, enabled ? 200 : 404);
  }
});

test('R-013: the same holds for a process that takes a while to load the change', async () => {
  const database = await slowDatabase(first.database, 50);
  const distant = await Gateway.start({ settings, database, clock: first.clock });
  try {
    await first.putConfig({ upstreams: [sandbox('goes')], models: [imageModel('a', ['goes'])] });
    const { key } = await first.newCaller();
    await distant.call('GET', '/v1/models/a', { key });
    // Connections enough that its word does not wait for one.
    await Promise.all(Array.from({ length: 4 }, () => distant.admin('GET', '/audit')));
    for (const enabled of [false, true, false, true]) {
      await enable('goes', enabled);
      assert.equal((await distant.call('GET', '/v1/models/a', { key })).status, enabled ? 200 : 404);
    }
  } finally {
    await distant.stop();
  }
});

test('a change of an upstream is a version like any other, and none when nothing changes', async () => {
  await first.putConfig({ upstreams: [sandbox('versioned')], models: [] });
  const before = await newestVersion();
  await enable('versioned', true);
  assert.equal((await newestVersion()).version, before.version);
  await enable('versioned', false);
  const later = await newestVersion();
  assert.deepEqual([later.version, later.source], [before.version + 1, 'operator']);
  assert.equal(later.document.upstreams[0]?.enabled, false);
  const [entry] = (await first.admin('GET', '/audit?limit=1')).json.data;
  assert.deepEqual(entry.detail.changes, ['~ upstream versioned: enabled true → false']);
});

test('a change of an upstream keeps every key', async () => {
  await first.putConfig({ upstreams: [keyed('a', 'key-of-a'), keyed('b', 'key-of-b')], models: [] });
  await enable('a', false, second);
  assert.deepEqual(await keysInForce(first.database), { a: 'key-of-a', b: 'key-of-b' });
});

const CLOSED = {
  state: 'closed',
  strikes: 0,
  next_probe_at: null,
  last_fault: null,
  last_detail: null,
  last_fault_at: null,
};

test('the list of upstreams shows each with its models and whether it has a key, on every process', async () => {
  await first.putConfig({
    upstreams: [sandbox('plain', { groups: ['gold'], priority: -3, weight: 0.5 }), keyed('keyed', 'x')],
    models: [imageModel('m', ['plain', 'keyed']), imageModel('n', ['keyed'])],
  });
  const [plain, withKey] = (await second.admin('GET', '/upstreams')).json.data;
  assert.deepEqual(plain, {
    id: 'plain',
    object: 'upstream',
    vendor: 'sandbox',
    base_url: null,
    dialect: null,
    has_secret: false,
    groups: ['gold'],
    priority: -3,
    weight: 0.5,
    timeout_seconds: 120,
    enabled: true,
    models: ['m'],
    attempts_last_minute: 0,
    health: CLOSED,
    upstream_models: [{ id: 'wire-name', health: CLOSED, latency: { first_piece_ms: null, result_ms: null } }],
  });
  assert.deepEqual([withKey.id, withKey.has_secret, withKey.models], ['keyed', true, ['m', 'n']]);
});

const NO_UPSTREAM = ['no-such', 'constructor', '__proto__', 'Known', 'known%20', 'a%2Fb'];

test('an upstream that is not configured cannot be changed', async () => {
  await first.putConfig({ upstreams: [sandbox('known')], models: [] });
  const before = await newestVersion();
  for (const id of NO_UPSTREAM) {
    const answer = await enable(id, false);
    assert.deepEqual([answer.status, answer.json.error.code], [404, 'upstream_not_found'], id);
  }
  assert.deepEqual(await newestVersion(), before);
});

const BAD_CHANGES: readonly Fields[] = [{}, { enabled: 'false' }, { enabled: null }, { enabled: true, weight: 2 }];

for (const change of BAD_CHANGES) {
  test(`an upstream is not changed by ${JSON.stringify(change)}`, async () => {
    await first.putConfig({ upstreams: [sandbox('known', { enabled: false })], models: [] });
    const answer = await first.admin('PATCH', '/upstreams/known', change);
    assert.deepEqual([answer.status, answer.json.error.code], [400, 'invalid_parameter']);
    assert.equal((await newestVersion()).document.upstreams[0]?.enabled, false);
  });
}

test('parallel changes of different upstreams on two processes all stay', async () => {
  const ids = Array.from({ length: 8 }, (_, index) => `parallel-${index}`);
  await first.putConfig({ upstreams: ids.map((id) => sandbox(id)), models: [] });
  const answers = await Promise.all(ids.map((id, index) => enable(id, false, index % 2 === 0 ? first : second)));
  for (const { status } of answers) assert.equal(status, 200);
  const { data } = (await second.admin('GET', '/upstreams')).json;
  assert.deepEqual(
    data.map(({ enabled }: { enabled: boolean }) => enabled),
    ids.map(() => false),
  );
});

test('a change waits for one that takes longer than callers wait for a lock', async () => {
  await first.putConfig({ upstreams: [sandbox('known')], models: [] });
  const db = openDb(first.database.address, silentLog);
  const changes = db.transaction(async (tx) => {
    await tx.run('lock table config_versions in share row exclusive mode');
    const answer = enable('known', false);
    await Promise.race([answer, pass(DB_LOCK_TIMEOUT_MS + 500)]);
    return { answer };
  });
  const { status, json } = await (await changes).answer;
  await db.close();
  assert.deepEqual([status, json.enabled], [200, false]);
});

test('parallel configurations are applied one after the other, each on top of the one before it', async () => {
  const { version: before } = await newestVersion();
  const names = Array.from({ length: 8 }, (_, index) => `turn/${index}`);
  const answers = await Promise.all(
    names.map((name, index) =>
      (index % 2 === 0 ? first : second).admin('PUT', '/config', {
        upstreams: [sandbox('home')],
        models: [imageModel(name, ['home'])],
      }),
    ),
  );
  const applied = answers
    .map(({ json }, index) => ({ ...json, name: names[index] }))
    .sort((a, b) => a.version - b.version);
  assert.deepEqual(
    applied.map(({ version }) => version),
    names.map((_, index) => before + 1 + index),
  );
  for (const [index, { changes }] of applied.entries()) {
    if (index > 0)
      assert.deepEqual(changes, [`+ model ${applied[index]?.name}`, `- model ${applied[index - 1]?.name}`]);
  }
  for (const at of [first, second]) {
    assert.equal((await at.admin('GET', '/config')).json.models[0].id, applied.at(-1)?.name);
  }
});

test('a configuration that is refused among others that are not leaves no trace', async () => {
  const good = (name: string) => ({ upstreams: [sandbox('home')], models: [imageModel(name, ['home'])] });
  const bad = { upstreams: [sandbox('home')], models: [imageModel('bad', ['away'])] };
  const { version: before } = await newestVersion();
  const statuses = await Promise.all(
    [good('beside/1'), bad, good('beside/2'), bad].map(async (document, index) => {
      const { status } = await (index < 2 ? first : second).admin('PUT', '/config', document);
      return status;
    }),
  );
  assert.deepEqual(statuses, [200, 400, 200, 400]);
  assert.equal((await newestVersion()).version, before + 2);
});
