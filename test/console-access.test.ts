import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ADMIN_TOKEN, type Answer, Gateway } from './support/gateway.ts';
import { captureLog, dumpOf } from './support/leaks.ts';
import { type Access, type Operation, operationsOf } from './support/operations.ts';
import { newMember, newOperator, newOwner, type SignedInPerson } from './support/people.ts';
import { until } from './support/postgres.ts';
import { Apps } from './support/tokens.ts';

let gateway: Gateway;
let apps: Apps;
let owner: SignedInPerson;
let key: string;
let token: string;
before(async () => {
  gateway = await Gateway.start();
  apps = await Apps.open(gateway);
  owner = await newOwner(gateway);
  key = (await owner.call('POST', '/keys', { name: 'key', rpm: 60 })).json.key;
  token = await apps.token(await apps.grant(owner.accountId));
});
after(async () => {
  await apps.close();
  await gateway.stop();
});

const PREFIXES: Readonly<Record<Exclude<Access, 'public'>, RegExp>> = {
  key: /^\/(v1|v1beta|openai\/v1)\/|^\/mcp$/,
  session: /^\/api\/console\//,
  operator: /^\/api\/admin\//,
};

function told({ status, json }: Answer): readonly [number, string | undefined] {
  return [status, json?.error?.code];
}

async function ask({ method, path }: Operation, headers: Record<string, string>): Promise<Answer> {
  return gateway.call(method, path, { headers });
}

for (const [access, prefix] of Object.entries(PREFIXES) as [Exclude<Access, 'public'>, RegExp][]) {
  test(`R-525: what opens a route is told by where it lies: ${access}`, async () => {
    const operations = await operationsOf(gateway, access);
    assert.ok(operations.length >= 15, `${operations.length} routes`);
    for (const { method, path } of operations) assert.match(path, prefix, `${method} ${path}`);
  });
}

test('R-096, R-525: no console route takes an API key, an app’s token or an admin token, wherever it is sent', async () => {
  const operations = await operationsOf(gateway, 'session');
  for (const operation of operations) {
    const tries = [
      {},
      ...[key, token, ADMIN_TOKEN].flatMap((credential) => [
        { authorization: `Bearer ${credential}` },
        { 'x-api-key': credential },
        { cookie: `tollgate_session=${credential}` },
      ]),
    ];
    for (const headers of tries) {
      const place = `${operation.method} ${operation.path} ${Object.keys(headers).join()}`;
      assert.deepEqual(told(await ask(operation, headers)), [401, 'not_signed_in'], place);
    }
  }
});

test('no answer of the console may be kept by a cache, a refusal neither', async () => {
  for (const operation of await operationsOf(gateway, 'session')) {
    for (const headers of [owner.headers, {}]) {
      const { 'cache-control': caching } = (await ask(operation, headers)).headers;
      assert.match(caching ?? '', /no-store/, `${operation.method} ${operation.path}`);
    }
  }
});

test('R-525: no route of the API takes a session', async () => {
  for (const operation of await operationsOf(gateway, 'key')) {
    const place = `${operation.method} ${operation.path}`;
    assert.deepEqual(told(await ask(operation, owner.headers)), [401, 'missing_token'], place);
  }
});

test('R-525: every operator route is 404 to an ordinary account: each role, its key and its app', async () => {
  const member = await newMember(gateway, owner, 'member');
  const viewer = await newMember(gateway, owner, 'viewer');
  const operations = await operationsOf(gateway, 'operator');
  for (const operation of operations) {
    for (const [who, headers] of [
      ['owner', owner.headers],
      ['member', member.headers],
      ['viewer', viewer.headers],
      ['key', { authorization: `Bearer ${key}` }],
      ['token', { authorization: `Bearer ${token}` }],
    ] as const) {
      const place = `${operation.method} ${operation.path} ${who}`;
      assert.deepEqual(told(await ask(operation, headers)), [404, 'not_found'], place);
    }
  }
});

test('R-525: an operator who belongs to no account finds none in the console', async () => {
  const operator = await newOperator(gateway);
  for (const operation of await operationsOf(gateway, 'session')) {
    const answer = await ask(operation, operator.headers);
    const place = `${operation.method} ${operation.path} ${answer.text}`;
    // What a person does with their own sessions and profile needs no account.
    if (/\/(session|sessions\/none|sessions|profile|profile\/password)$/.test(operation.path)) continue;
    assert.deepEqual(told(answer), [401, 'no_account'], place);
  }
});

test('the log tells which person did what in which account, and neither cookie nor token nor a new key', async (t) => {
  const captured = captureLog();
  const logged = await Gateway.start({ log: captured.log });
  t.after(() => logged.stop());
  const person = await newOwner(logged);
  const made = await person.call('POST', '/keys', { name: 'key' });
  await person.call('GET', '/run/models');
  const lineOf = (route: string) =>
    captured
      .text()
      .split('\n')
      .find((line) => line.includes(`"route":"${route}"`));
  await until(() => lineOf('/api/console/run/models') !== undefined);
  for (const route of ['/api/console/keys', '/api/console/run/models']) {
    const { account, person: who, key: by } = JSON.parse(lineOf(route) ?? '{}');
    assert.deepEqual([account, who, by], [person.accountId, person.id, undefined], route);
  }
  const [cookie = ''] = [...person.browser.cookies.values()];
  const kept = captured.text() + (await dumpOf(logged.database));
  for (const secret of [cookie, person.headers['x-csrf-token'] ?? '', made.json.key]) {
    assert.ok(secret.length > 40 && !kept.includes(secret.slice(8)), 'a secret is kept');
  }
});

test('R-525: every console route that changes something needs the session’s token and our own origin', async () => {
  const changing = (await operationsOf(gateway, 'session')).filter(({ method }) => method !== 'GET');
  assert.ok(changing.length >= 15);
  for (const operation of changing) {
    for (const forged of [{ 'x-csrf-token': '' }, { origin: 'https://evil.example' }]) {
      const answer = await ask(operation, { ...owner.headers, ...forged });
      assert.deepEqual(told(answer), [403, 'csrf_refused'], `${operation.method} ${operation.path}`);
    }
  }
});
