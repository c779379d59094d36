import assert from 'node:assert/strict';
import { after, afterEach, before, type TestContext, test } from 'node:test';
import { newApiKey } from '../src/accounts/api-key.ts';
import { openDb } from '../src/db/index.ts';
import { createDatabase, silentLog, type TestDatabase } from './support/database.ts';
import { DatabaseLink } from './support/database-link.ts';
import { ADMIN_TOKEN, type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { captureLog } from './support/leaks.ts';
import { operationsOf } from './support/operations.ts';
import { until } from './support/postgres.ts';

/** In the order in which they are read. A value in `authorization` is sent as a bearer's. */
const PLACES = ['authorization', 'x-api-key', 'x-partner-api-key', 'api-key', 'key'] as const;
type Place = (typeof PLACES)[number];

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

/** A request with these values in these places and no other credential. */
function ask(
  given: Partial<Record<Place, string>>,
  { method = 'GET', path = '/v1/models', at = gateway } = {},
): Promise<Answer> {
  const { authorization, key, ...headers } = given;
  const query = key === undefined ? '' : `?key=${encodeURIComponent(key)}`;
  const bearer = authorization === undefined ? {} : { authorization: `Bearer ${authorization}` };
  return at.call(method, path + query, { headers: { ...headers, ...bearer } });
}

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json.error.code], [status, code]);
}

test('R-082: every route but the price list, signed links, the probes, what a visitor is told and the contract itself asks for a credential', async () => {
  const open = await operationsOf(gateway, 'public');
  assert.deepEqual(
    open.map(({ method, path }) => `${method} ${path}`),
    [
      'GET /healthz',
      'GET /livez',
      'GET /readyz',
      'GET /api/hub/public/models',
      'GET /media/none',
      'GET /api/console/site',
      'GET /openapi.json',
    ],
  );
  for (const { method, path } of open) {
    // A link that was not signed is no link, with or without a credential.
    assert.equal((await ask({}, { method, path })).status, path === '/media/none' ? 403 : 200, path);
  }
  const closed = [...(await operationsOf(gateway, 'key')), ...(await operationsOf(gateway, 'operator'))];
  assert.ok(closed.some(({ path }) => path === '/v1/models'));
  for (const { method, path } of closed) {
    const answer = await ask({}, { method, path });
    refused(answer, 401, 'missing_token');
    // Clients of the Model Context Protocol learn from the challenge where a person can give them a token.
    const challenge = path === '/mcp' ? /^Bearer resource_metadata="[^"]+", scope="[^"]+"$/ : /^Bearer$/;
    assert.match(answer.headers['www-authenticate'] ?? '', challenge);
  }
});

test('R-083, R-098, R-099, R-100, R-101, R-102, R-105: the key alone opens every route from each of the five places', async () => {
  for (const operation of await operationsOf(gateway, 'key')) {
    for (const place of PLACES) {
      const { key } = await gateway.newCaller();
      const answer = await ask({ [place]: key }, operation);
      assert.notEqual(answer.status, 401, `${operation.method} ${operation.path} with ${place}: ${answer.text}`);
    }
  }
  const { key } = await gateway.newCaller();
  for (const place of PLACES) assert.equal((await ask({ [place]: key })).status, 200, place);
});

test('R-103: the first non-empty credential decides, even when a later one is right', async () => {
  const { key } = await gateway.newCaller();
  for (const [rank, first] of PLACES.entries()) {
    for (const second of PLACES.slice(rank + 1)) {
      refused(await ask({ [first]: newApiKey(), [second]: key }), 401, 'invalid_api_key');
      refused(await ask({ [first]: 'typed wrongly', [second]: key }), 401, 'invalid_api_key');
      const right = await ask({ [first]: key, [second]: newApiKey() });
      assert.equal(right.status, 200, `${first} before ${second}`);
    }
  }
});

test('R-104: an empty place is passed over', async () => {
  const { key } = await gateway.newCaller();
  for (const [rank, empty] of PLACES.entries()) {
    for (const full of PLACES.slice(rank + 1)) {
      for (const nothing of ['', '   ']) {
        const answer = await ask({ [empty]: nothing, [full]: key });
        assert.equal(answer.status, 200, `${JSON.stringify(nothing)} in ${empty}, the key in ${full}`);
      }
    }
  }
});

test('R-104: five empty places are no credential', async () => {
  const nothing = Object.fromEntries(PLACES.map((place) => [place, ' ']));
  refused(await ask(nothing), 401, 'missing_token');
});

const STATES: readonly {
  readonly state: string;
  readonly expected: readonly [number, string];
  readonly path?: string;
  readonly make: () => Promise<NewCaller>;
}[] = [
  { state: 'a deleted', expected: [401, 'invalid_api_key'], make: () => changed('DELETE', ({ keyId }) => keyId) },
  {
    state: 'a disabled',
    expected: [401, 'key_disabled'],
    make: () => changed('PATCH', ({ keyId }) => keyId, { disabled: true }),
  },
  {
    state: 'an expired',
    expected: [401, 'key_expired'],
    make: () => changed('PATCH', ({ keyId }) => keyId, { expires_at: 1 }),
  },
  {
    state: "a suspended account's",
    expected: [401, 'account_disabled'],
    make: () => changed('PATCH', ({ accountId }) => accountId, { status: 'suspended' }),
  },
  {
    state: "another group's",
    expected: [404, 'model_not_found'],
    path: '/v1/models/sandbox/chat',
    make: () => gateway.newCaller({ groups: ['elsewhere'] }),
  },
  {
    state: 'a used-up',
    expected: [429, 'rate_limited'],
    make: async () => {
      const caller = await gateway.newCaller({ key: { rpm: 1 } });
      assert.equal((await ask({ authorization: caller.key })).status, 200);
      return caller;
    },
  },
];

async function changed(method: string, idOf: (caller: NewCaller) => string, body?: object): Promise<NewCaller> {
  const caller = await gateway.newCaller();
  const id = idOf(caller);
  const answer = await gateway.admin(method, `/${id.startsWith('key_') ? 'keys' : 'accounts'}/${id}`, body);
  assert.equal(answer.status, 200, answer.text);
  return caller;
}

for (const { state, expected, path = '/v1/models', make } of STATES) {
  test(`R-106: ${state} key gets one and the same answer whichever place carries it`, async () => {
    const { key } = await make();
    for (const place of PLACES) refused(await ask({ [place]: key }, { path }), ...expected);
    const texts = await Promise.all(PLACES.map(async (place) => (await ask({ [place]: key }, { path })).text));
    assert.equal(new Set(texts).size, 1);
  });
}

test('R-107: the scheme is matched without regard to case', async () => {
  const { key } = await gateway.newCaller();
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
    const answer = await gateway.call('GET', '/v1/models', { headers: { authorization: `${scheme} ${key}` } });
    assert.equal(answer.status, 200, scheme);
  }
});

test('R-107: another scheme counts as empty and the next place is read', async () => {
  const { key } = await gateway.newCaller();
  for (const authorization of [`Basic ${key}`, `Token ${key}`, key, `Bearer${key}`, 'Bearer', 'Basic']) {
    const alone = await gateway.call('GET', '/v1/models', { headers: { authorization } });
    refused(alone, 401, 'missing_token');
    const withNext = await gateway.call('GET', '/v1/models', { headers: { authorization, 'x-api-key': key } });
    assert.equal(withNext.status, 200, authorization);
  }
});

test('R-108: spaces around the value are trimmed in every place', async () => {
  const { key } = await gateway.newCaller();
  for (const place of PLACES) assert.equal((await ask({ [place]: `   ${key}  ` })).status, 200, place);
});

test('R-109: the header of that vendor’s own clients is read at the rank of the third place', async () => {
  const { key } = await gateway.newCaller();
  const vendors = (value: string, other: Record<string, string>) =>
    gateway.call('GET', '/v1/models', { headers: { 'x-goog-api-key': value, ...other } });
  assert.equal((await vendors(key, {})).status, 200);
  assert.equal((await vendors(key, { 'api-key': newApiKey() })).status, 200);
  refused(await vendors(newApiKey(), { 'api-key': key }), 401, 'invalid_api_key');
  refused(await vendors(key, { 'x-api-key': newApiKey() }), 401, 'invalid_api_key');
});

test('R-109: the name of the third header is a setting', async (t) => {
  const renamed = await Gateway.start({ settings: { TOLLGATE_PARTNER_KEY_HEADER: 'X-Acme-Key' } });
  t.after(() => renamed.stop());
  const { key } = await renamed.newCaller();
  assert.equal((await renamed.call('GET', '/v1/models', { headers: { 'x-acme-key': key } })).status, 200);
  refused(await ask({ 'x-partner-api-key': key }, { at: renamed }), 401, 'missing_token');
});

test('R-110: an unknown, a malformed and a wrong-length key cannot be told apart', async () => {
  const { key } = await gateway.newCaller();
  const wrong = [newApiKey(), `${key}0`, key.slice(0, -1), swapLast(key), 'x', 'sk-', 'é', '\0', 'k'.repeat(513)];
  const answers = await Promise.all(wrong.map((value) => ask({ key: value })));
  const seen = answers.map(({ status, headers, text }) => {
    const { 'x-request-id': _, date: __, ...same } = headers;
    return JSON.stringify({ status, same, text });
  });
  assert.equal(new Set(seen).size, 1, seen.join('\n'));
  for (const answer of answers) refused(answer, 401, 'invalid_api_key');
});

function swapLast(key: string): string {
  return key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
}

test('R-111: no credential is in the log or in an error text, whatever became of it', async (t) => {
  const captured = captureLog();
  const logged = await Gateway.start({ log: captured.log });
  t.after(() => logged.stop());
  const { key } = await logged.newCaller();
  const values = [key, newApiKey(), 'a-secret-typed-into-the-wrong-place', `${key}${'0'.repeat(500)}`];
  const paths = ['/v1/models', '/v1/models/none', '/nowhere', '/healthz', '/api/admin/accounts'];
  const asked = paths.flatMap((path) => PLACES.flatMap((place) => values.map((value) => ({ path, place, value }))));
  for (const { path, place, value } of asked) {
    const { text } = await ask({ [place]: value }, { path, at: logged });
    assert.ok(!text.includes(value.slice(0, 40)), `${value} in ${text}`);
  }
  await until(() => captured.text().split('"method":"GET"').length > asked.length);
  for (const value of [...values, ADMIN_TOKEN]) assert.ok(!captured.text().includes(value.slice(8, 30)), value);
});

test('R-112: a suspended account’s keys are all refused, and work again once it is reinstated', async () => {
  const { accountId, key } = await gateway.newCaller();
  const second = await gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'second' });
  const keys = [key, second.json.key];
  for (const one of keys) assert.equal((await ask({ authorization: one })).status, 200);
  await gateway.admin('PATCH', `/accounts/${accountId}`, { status: 'suspended' });
  for (const one of keys) refused(await ask({ authorization: one }), 401, 'account_disabled');
  await gateway.admin('PATCH', `/accounts/${accountId}`, { status: 'active' });
  for (const one of keys) assert.equal((await ask({ authorization: one })).status, 200);
});

test('R-112: another account’s keys do not notice a suspension', async () => {
  const [suspended, other] = [await gateway.newCaller(), await gateway.newCaller()];
  await gateway.admin('PATCH', `/accounts/${suspended.accountId}`, { status: 'suspended' });
  assert.equal((await ask({ authorization: other.key })).status, 200);
});

interface Linked {
  readonly link: DatabaseLink;
  readonly database: TestDatabase;
  readonly at: Gateway;
}

/** A gateway whose way to its database can be cut. */
async function startLinked(t: TestContext): Promise<Linked> {
  const database = await createDatabase();
  const link = await DatabaseLink.open(database);
  const at = await Gateway.start({ database: link.database });
  t.after(async () => {
    await at.stop();
    await link.cut();
    await database.drop();
  });
  return { link, database, at };
}

test('R-113: without the database a key gets 503 at every authenticated route, and works again when it is back', async (t) => {
  const { link, at } = await startLinked(t);
  const [known, unseen] = [await at.newCaller(), await at.newCaller()];
  assert.equal((await ask({ authorization: known.key }, { at })).status, 200);
  await link.cut();
  for (const operation of await operationsOf(at, 'key')) {
    const answer = await ask({ authorization: unseen.key }, { ...operation, at });
    refused(answer, 503, 'identity_unavailable');
    assert.equal(answer.headers['retry-after'], '1');
  }
  // One already known may be answered from memory until the loss is noticed, but never with anything else.
  await until(async () => {
    const answer = await ask({ authorization: known.key }, { at });
    if (answer.status !== 200) refused(answer, 503, 'identity_unavailable');
    return answer.status === 503;
  });
  await link.restore();
  await until(async () => (await ask({ authorization: unseen.key }, { at })).status === 200);
});

test('R-086, R-108: a mistyped or overlong key is refused without asking the database', async (t) => {
  const { link, at } = await startLinked(t);
  const { key } = await at.newCaller();
  await link.cut();
  for (const value of [swapLast(key), key.slice(1), 'k'.repeat(512), 'k'.repeat(513), 'k'.repeat(5000)]) {
    for (const place of PLACES) refused(await ask({ [place]: value }, { at }), 401, 'invalid_api_key');
  }
  refused(await ask({ authorization: newApiKey() }, { at }), 503, 'identity_unavailable');
  await link.restore();
});

test('R-113: a database that takes no connections is as unreachable as one that is gone', async (t) => {
  const { database, at } = await startLinked(t);
  const { key } = await at.newCaller();
  const name = database.address.database;
  const server = openDb({ ...database.address, database: 'postgres' }, silentLog);
  t.after(() => server.close());
  await server.run(`alter database ${name} allow_connections false`);
  await server.run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  refused(await ask({ authorization: key }, { at }), 503, 'identity_unavailable');
  refused(await ask({ authorization: key }, { at }), 503, 'identity_unavailable');
  await server.run(`alter database ${name} allow_connections true`);
  await until(async () => (await ask({ authorization: key }, { at })).status === 200);
});
