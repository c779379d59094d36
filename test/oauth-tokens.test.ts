import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { newSecretText } from '../src/secret-text.ts';
import { ADMIN_TOKEN, type Answer, Gateway } from './support/gateway.ts';
import { captureLog } from './support/leaks.ts';
import { operationsOf } from './support/operations.ts';
import { until } from './support/postgres.ts';
import { type AppGrant, Apps, type GrantOptions } from './support/tokens.ts';

const INVALID = 'Bearer error="invalid_token"';

let gateway: Gateway;
let apps: Apps;
const logged = captureLog();
before(async () => {
  gateway = await Gateway.start({ log: logged.log });
  apps = await Apps.open(gateway);
});
after(async () => {
  await apps.close();
  await gateway.stop();
});
afterEach(() => gateway.assertBooksBalance());

async function newAccount(credits = 1000): Promise<string> {
  const account = await gateway.admin('POST', '/accounts', { name: 'Test' });
  if (credits > 0) await gateway.admin('POST', `/accounts/${account.json.id}/grants`, { credits });
  return account.json.id;
}

async function newGrant(options: GrantOptions = {}): Promise<{ grant: AppGrant; token: string }> {
  const grant = await apps.grant(await newAccount(), options);
  return { grant, token: await apps.token(grant) };
}

function ask(token: string, path = '/v1/models'): Promise<Answer> {
  return gateway.call('GET', path, { key: token });
}

function refused(answer: Answer, status: number, code: string, challenge = INVALID): void {
  assert.deepEqual([answer.status, answer.json?.error.code], [status, code], answer.text);
  assert.equal(answer.headers['www-authenticate'], challenge);
}

async function works(token: string): Promise<void> {
  const answer = await ask(token);
  assert.equal(answer.status, 200, answer.text);
}

const CHAT = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 };

test('R-114: a token is accepted on /v1 like a key, and what it spends is the account’s', async () => {
  const { grant, token } = await newGrant();
  const { key } = (await gateway.admin('POST', `/accounts/${grant.accountId}/keys`, { name: 'key' })).json;
  assert.deepEqual((await ask(token)).json, (await ask(key)).json);
  const chat = await gateway.call('POST', '/v1/chat/completions', { key: token, body: CHAT });
  assert.equal(chat.status, 200, chat.text);
  const { json } = await ask(token, '/v1/credits');
  assert.ok(json.spent > 0);
  assert.deepEqual([json.available + json.spent, json.reserved], [1000, 0]);
  const usage = await gateway.call('GET', '/v1/usage?group_by=key', { key: token });
  assert.deepEqual(usage.json.data, [{ group: grant.grantId, requests: 1, credits: json.spent }]);
});

test('an operator finds what a grant has done, and the log names the grant', async () => {
  const { grant, token } = await newGrant();
  assert.equal((await gateway.call('POST', '/v1/chat/completions', { key: token, body: CHAT })).status, 200);
  const requests = await gateway.admin('GET', `/requests?key=${grant.grantId}`);
  assert.deepEqual(
    requests.json.data.map((one: Record<string, unknown>) => [one.account_id, one.key_id]),
    [[grant.accountId, grant.grantId]],
  );
  await until(() => logged.text().includes(`"key":"${grant.grantId}"`));
  assert.ok(!logged.text().includes(token));
});

const DEAD: readonly { readonly what: string; readonly make: () => Promise<string> }[] = [
  { what: 'that was never issued', make: async () => newSecretText('oat_') },
  {
    what: 'with a typing error',
    make: async () => (await newGrant()).token.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')),
  },
  { what: 'that is a prefix and nothing else', make: async () => 'oat_' },
  {
    what: 'of a revoked grant',
    make: async () => {
      const { grant, token } = await newGrant();
      await works(token);
      await apps.revoke(grant);
      return token;
    },
  },
  {
    what: 'that was revoked by itself',
    make: async () => {
      const { grant, token } = await newGrant();
      await works(token);
      await apps.change(grant, (tx) => tx.run('delete from oauth_records where grant_id = $1', [grant.grantId]));
      return token;
    },
  },
  {
    what: 'of an app that was removed',
    make: async () => {
      const { grant, token } = await newGrant();
      await works(token);
      assert.equal((await gateway.admin('DELETE', `/oauth/clients/${grant.clientId}`)).status, 200);
      return token;
    },
  },
  {
    what: 'that is a refresh token',
    make: async () => {
      const { grant } = await newGrant();
      const token = await apps.token(grant);
      await apps.db.run(`update oauth_records set kind = 'RefreshToken' where grant_id = $1`, [grant.grantId]);
      return token;
    },
  },
];

for (const { what, make } of DEAD) {
  test(`a token ${what} is refused in a way that an OAuth client understands`, async () => {
    const answer = await ask(await make());
    refused(answer, 401, 'invalid_api_key');
    assert.equal(answer.json.error.message, 'This access token does not exist, has expired or was revoked.');
  });
}

test('a token ends at its time by our clock, to the millisecond, whether or not it is remembered', async () => {
  const { grant } = await newGrant();
  const token = await apps.token(grant, { expiresAt: new Date(gateway.clock.nowMs() + 5_000) });
  const unseen = await apps.token(grant, { expiresAt: new Date(gateway.clock.nowMs() + 5_000) });
  await works(token);
  gateway.clock.advance(4.999);
  await works(token);
  gateway.clock.advance(0.001);
  refused(await ask(token), 401, 'invalid_api_key');
  refused(await ask(unseen), 401, 'invalid_api_key');
});

test('R-057: a token whose person may no longer spend from the account belongs to nothing billable', async () => {
  for (const role of ['viewer', null] as const) {
    refused(await ask((await newGrant({ role })).token), 401, 'no_account');
  }
  for (const role of ['member', 'owner'] as const) await works((await newGrant({ role })).token);
});

test('R-057: disabling a person stops the tokens that they gave to apps, and enabling them lets them work again', async () => {
  const { grant, token } = await newGrant();
  await works(token);
  await gateway.admin('PATCH', `/people/${grant.personId}`, { disabled: true });
  refused(await ask(token), 401, 'no_account');
  await gateway.admin('PATCH', `/people/${grant.personId}`, { disabled: false });
  await works(token);
});

test('R-112: a suspended account’s tokens answer account_disabled and work again once it is reinstated', async () => {
  const { grant, token } = await newGrant();
  await works(token);
  await gateway.admin('PATCH', `/accounts/${grant.accountId}`, { status: 'suspended' });
  const answer = await ask(token);
  refused(answer, 401, 'account_disabled');
  assert.equal(answer.json.error.message, 'The account of this access token is suspended.');
  await gateway.admin('PATCH', `/accounts/${grant.accountId}`, { status: 'active' });
  await works(token);
});

test('a token reaches what its account reaches, and a change of its groups is in force at once', async () => {
  const { grant, token } = await newGrant();
  assert.equal((await ask(token, '/v1/models/sandbox/chat')).status, 200);
  await gateway.admin('PATCH', `/accounts/${grant.accountId}`, { groups: ['elsewhere'] });
  assert.equal((await ask(token, '/v1/models/sandbox/chat')).json.error.code, 'model_not_found');
});

test('R-125: a token anywhere but in the Authorization header is an unknown key, also one that is remembered', async () => {
  const { token } = await newGrant();
  await works(token);
  for (const header of ['x-api-key', 'x-partner-api-key', 'x-goog-api-key', 'api-key']) {
    refused(
      await gateway.call('GET', '/v1/models', { headers: { [header]: token } }),
      401,
      'invalid_api_key',
      'Bearer',
    );
  }
  refused(await gateway.call('GET', `/v1/models?key=${token}`), 401, 'invalid_api_key', 'Bearer');
  // An empty header is passed over, and what comes next is no token's place.
  const headers = { authorization: 'Bearer ', 'x-api-key': token };
  refused(await gateway.call('GET', '/v1/models', { headers }), 401, 'invalid_api_key', 'Bearer');
  // The first place decides.
  const first = { authorization: `Bearer ${newSecretText('oat_')}`, 'x-api-key': token };
  refused(await gateway.call('GET', '/v1/models', { headers: first }), 401, 'invalid_api_key');
});

test('R-124: a valid token on /v1beta answers 403, and an unknown one 401', async () => {
  const { token } = await newGrant();
  const path = '/v1beta/models/sandbox%2Fnative:generateContent';
  const body = { contents: [{ parts: [{ text: 'Hello' }] }] };
  const challenge = 'Bearer error="insufficient_scope"';
  refused(await gateway.call('POST', path, { key: token, body }), 403, 'insufficient_scope', challenge);
  refused(await gateway.call('POST', path, { key: newSecretText('oat_'), body }), 401, 'invalid_api_key');
});

test('the console and the operator’s routes accept no token', async () => {
  const { token } = await newGrant();
  for (const { method, path } of await operationsOf(gateway, 'session')) {
    const answer = await gateway.call(method, path, { key: token });
    assert.deepEqual([answer.status, answer.json.error.code], [401, 'not_signed_in'], `${method} ${path}`);
  }
  for (const { method, path } of await operationsOf(gateway, 'operator')) {
    const answer = await gateway.call(method, path, { key: token });
    assert.deepEqual([answer.status, answer.json.error.code], [404, 'not_found'], `${method} ${path}`);
  }
});

test('the admin token is no token of an app', async () => {
  refused(await ask(ADMIN_TOKEN), 401, 'invalid_api_key', 'Bearer');
});

test('R-118: tokens count among no keys and have no key record', async () => {
  const accountId = await newAccount();
  for (let count = 0; count < 3; count++) await works(await apps.newToken(accountId));
  const make = () => gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'key' });
  for (let live = 1; live <= 50; live++) assert.equal((await make()).status, 200, `key ${live}`);
  assert.equal((await make()).json.error.code, 'key_limit_reached');
  const token = await apps.newToken(accountId);
  await works(token);
  const keys = await gateway.admin('GET', `/accounts/${accountId}/keys?limit=100`);
  assert.equal(keys.json.data.length, 50);
  assert.ok(keys.json.data.every((key: { last_used_at: unknown }) => key.last_used_at === null));
  refused(await ask(token, '/v1/key'), 403, 'insufficient_scope', 'Bearer error="insufficient_scope"');
});

test('R-118: a grant remembers when it was last used, and no key does', async () => {
  const { grant, token } = await newGrant();
  const usedAt = gateway.clock.now();
  await works(token);
  const lastUsed = async () => {
    const statement = 'select last_used_at as at from oauth_grants where id = $1';
    return (await apps.db.rows<{ at: Date | null }>(statement, [grant.grantId]))[0]?.at ?? undefined;
  };
  await until(async () => (await lastUsed()) !== undefined);
  assert.deepEqual(await lastUsed(), usedAt);
});

test('R-265: an idempotency key belongs to the grant: a refreshed token keeps it, another grant has its own', async () => {
  const { grant, token } = await newGrant();
  const create = (by: string) =>
    gateway.call('POST', '/v1/images/generations', {
      key: by,
      body: { model: 'sandbox/image', prompt: 'a gate' },
      headers: { 'idempotency-key': 'same' },
    });
  const first = await create(token);
  assert.equal(first.status, 202, first.text);
  const again = await create(await apps.token(grant));
  assert.deepEqual([again.json.id, again.headers['idempotent-replayed']], [first.json.id, 'true']);
  const other = await create(await apps.newToken(grant.accountId));
  assert.equal(other.status, 202);
  assert.notEqual(other.json.id, first.json.id);
  const { key } = (await gateway.admin('POST', `/accounts/${grant.accountId}/keys`, { name: 'key' })).json;
  assert.notEqual((await create(key)).json.id, first.json.id);
});
