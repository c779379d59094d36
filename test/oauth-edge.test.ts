import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { request } from 'undici';
import { type Db, openDb } from '../src/db/index.ts';
import { AUTHORIZATIONS_PER_ADDRESS_RPM } from '../src/limits.ts';
import { Browser } from './support/browser.ts';
import { silentLog } from './support/database.ts';
import { type Answer, Gateway } from './support/gateway.ts';
import {
  appAddress,
  authorizationRequest,
  authorize,
  CALLBACK,
  newBrowser,
  newPerson,
  openAuthorization,
  post,
  redeem,
  refresh,
  registerApp,
  signIn,
  type TestClient,
  type TestPerson,
  tokensFor,
} from './support/oauth.ts';
import { takeAway } from './support/outage.ts';

let gateway: Gateway;
let db: Db;
let client: TestClient;
let person: TestPerson;
const logged: string[] = [];
before(async () => {
  const log = pino({ level: 'trace' }, { write: (line) => void logged.push(line) });
  gateway = await Gateway.start({ log });
  db = openDb(gateway.database.address, silentLog);
  client = await registerApp(gateway);
  person = await newPerson(gateway);
});
after(async () => {
  await db.close();
  await gateway.stop();
});

for (const [what, params] of [
  ['missing', { code_challenge: undefined, code_challenge_method: undefined }],
  ['plain', { code_challenge_method: 'plain' }],
  ['of no method, which would be plain', { code_challenge_method: undefined }],
] as const) {
  for (const confidential of [false, true]) {
    test(`R-127: a challenge that is ${what} is refused, for ${confidential ? 'confidential' : 'public'} apps`, async () => {
      const own = await registerApp(gateway, { confidential });
      const page = await openAuthorization(newBrowser(gateway), authorizationRequest(own, params).path);
      assert.equal(appAddress(page).searchParams.get('error'), 'invalid_request');
    });
  }
}

for (const redirect_uri of [`${CALLBACK}/`, `${CALLBACK}#x`, 'https://evil.example/callback', undefined]) {
  test(`R-128: a redirect to ${redirect_uri ?? 'nowhere'} is shown as a page and leads nowhere`, async () => {
    const page = await openAuthorization(newBrowser(gateway), authorizationRequest(client, { redirect_uri }).path);
    assert.equal(page.status, 400);
    assert.equal(page.headers.location, undefined);
    assert.match(page.headers['content-type'] ?? '', /^text\/html/);
    assert.match(page.text, /That did not work[\s\S]*invalid_re[\s\S]*req_/);
    assert.match(page.headers['content-security-policy'] ?? '', /frame-ancestors 'none'/);
    assert.match(page.headers['x-request-id'] ?? '', /^req_/);
  });
}

test('scopes that are unknown, none, or not the app’s are invalid_scope', async () => {
  for (const scope of [undefined, 'user:unknown', 'openid', 'offline_access', 'user:files']) {
    const page = await openAuthorization(newBrowser(gateway), authorizationRequest(client, { scope }).path);
    assert.equal(appAddress(page).searchParams.get('error'), 'invalid_scope');
  }
});

test('R-133: errors have the shape of RFC 6749, whatever the caller accepts', async () => {
  const asked: [string, string, Record<string, string>, number, string][] = [
    ['/oauth/token', 'grant_type=refresh_token&refresh_token=ort_none', {}, 400, 'invalid_request'],
    ['/oauth/token', `client_id=${client.id}`, {}, 400, 'invalid_request'],
    ['/oauth/token', `client_id=${client.id}&grant_type=password`, {}, 400, 'unsupported_grant_type'],
    ['/oauth/token', `client_id=${client.id}&grant_type=client_credentials`, {}, 400, 'unsupported_grant_type'],
    ['/oauth/token', `client_id=client_none&grant_type=refresh_token`, {}, 401, 'invalid_client'],
    ['/oauth/token', '{}', { 'content-type': 'application/json' }, 400, 'invalid_request'],
    ['/oauth/token', `client_id=${client.id}&x=${'y'.repeat(60_000)}`, {}, 400, 'invalid_request'],
    ['/oauth/revoke', `client_id=${client.id}`, {}, 400, 'invalid_request'],
    ['/oauth/introspect', `client_id=${client.id}`, {}, 400, 'invalid_request'],
    ['/oauth/device', `client_id=${client.id}`, {}, 400, 'invalid_request'],
  ];
  for (const [path, body, headers, status, error] of asked) {
    const all = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', ...headers };
    const answer = await request(gateway.url + path, { method: 'POST', body, headers: all });
    const json = (await answer.body.json()) as Record<string, unknown>;
    assert.deepEqual([answer.statusCode, json.error], [status, error], `${path} ${body.slice(0, 80)}`);
    assert.equal(typeof json.error_description, 'string');
    assert.match(String(answer.headers['x-request-id']), /^req_/);
  }
});

test('the consent page names the app, who pays and each scope, and may be framed by nobody', async () => {
  const own = await registerApp(gateway, {
    name: 'Sketch & <Book>',
    home_page: 'https://app.example/about',
    logo: "https://cdn.example/logo;a,b'.png",
  });
  const browser = newBrowser(gateway);
  await signIn(browser, person);
  const page = await openAuthorization(browser, authorizationRequest(own, { scope: 'user:jobs user:credits' }).path);
  assert.match(page.text, /<h1>Sketch &amp; &lt;Book&gt;<\/h1>/);
  assert.match(page.text, /href="https:\/\/app.example\/about">app.example</);
  assert.match(page.text, /Paid by <strong>Grace/);
  assert.match(page.text, /See this account’s jobs[\s\S]*See this account’s balance/);
  assert.match(page.text, /sent to app.example/);
  assert.doesNotMatch(page.text, /<script/);
  const policy = page.headers['content-security-policy'] ?? '';
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /img-src https:\/\/cdn.example\/logo%3ba%2cb%27.png;/);
  assert.match(policy, /form-action 'self' https:\/\/app.example$/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.equal(page.headers['x-frame-options'], 'DENY');
  assert.equal(page.headers['cache-control'], 'no-store');
});

test('consent needs the token of the session, our own origin, and the browser that began', async () => {
  const own = await registerApp(gateway);
  const browser = newBrowser(gateway);
  await signIn(browser, person);
  const page = await openAuthorization(browser, authorizationRequest(own).path);
  const form = { account: person.accountId, decision: 'allow' };
  assert.equal((await browser.fetch('POST', page.path, form)).status, 403);
  const csrf = await browser.csrf();
  const foreign = { origin: 'https://evil.example' };
  assert.equal((await browser.fetch('POST', page.path, { ...form, csrf }, foreign)).status, 403);
  const other = newBrowser(gateway);
  await signIn(other, person);
  assert.equal((await other.open(page.path)).status, 404);
  const otherCsrf = await other.csrf();
  assert.equal((await other.fetch('POST', page.path, { ...form, csrf: otherCsrf })).status, 404);
  // A cookie that was not signed here is none.
  other.cookies.set('tollgate_consent', page.path.split('/').at(-1) ?? '');
  assert.equal((await other.open(page.path)).status, 404);
  assert.deepEqual((await gateway.admin('GET', `/oauth/grants?client=${own.id}`)).json.data, []);
  assert.ok(appAddress(await browser.submit(page, form)).searchParams.get('code'));
});

test('the server’s cookies are of one family, HttpOnly and Lax, and on https Secure', async () => {
  const secure = await Gateway.start({ settings: { PUBLIC_URL: 'https://gate.example' } });
  try {
    const own = await registerApp(secure);
    const browser = new Browser(secure.url, 'https://gate.example');
    await browser.open(authorizationRequest(own).path);
    assert.equal(browser.setCookies.length, 4);
    for (const cookie of browser.setCookies) {
      assert.match(
        cookie,
        /^__Secure-tollgate_(consent|resume)(\.sig)?=[^;]+; path=\/oauth\/(consent|authorize)\/[^;]+;/,
      );
      assert.match(cookie, /; samesite=lax; secure; httponly$/);
    }
    const plain = newBrowser(gateway);
    await plain.open(authorizationRequest(client).path);
    for (const cookie of plain.setCookies) {
      assert.match(cookie, /^tollgate_(consent|resume)(\.sig)?=/);
      assert.match(cookie, /; samesite=lax; httponly$/);
      assert.doesNotMatch(cookie, /secure/i);
    }
  } finally {
    await secure.stop();
  }
});

test('pages of a public app’s own origin may ask for tokens, others and the authorization page may not', async () => {
  const { refresh: token } = await tokensFor(gateway, client, person);
  const body = new URLSearchParams({
    client_id: client.id,
    grant_type: 'refresh_token',
    refresh_token: token,
  }).toString();
  const ask = async (method: 'POST' | 'OPTIONS' | 'GET', path: string, origin: string, form?: string) => {
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'content-type': 'application/x-www-form-urlencoded',
    };
    const answer = await request(gateway.url + path, { method, headers, body: form ?? null });
    await answer.body.dump();
    return [answer.statusCode, answer.headers['access-control-allow-origin']];
  };
  assert.deepEqual(await ask('POST', '/oauth/token', 'https://evil.example', body), [400, undefined]);
  assert.deepEqual(await ask('OPTIONS', '/oauth/token', 'https://app.example'), [204, 'https://app.example']);
  assert.deepEqual(await ask('POST', '/oauth/token', 'https://app.example', body), [200, 'https://app.example']);
  const path = authorizationRequest(client).path;
  assert.deepEqual(await ask('GET', path, 'https://app.example'), [303, undefined]);
  assert.deepEqual(await ask('OPTIONS', '/oauth/authorize', 'https://app.example'), [404, undefined]);
  const metadata = '/.well-known/oauth-authorization-server';
  assert.deepEqual(await ask('GET', metadata, 'https://anywhere.example'), [200, '*']);
});

test('of several accounts the person chooses who pays, and a viewer cannot let an app spend', async () => {
  const own = await registerApp(gateway);
  const owner = await newPerson(gateway);
  await db.run(`insert into memberships (person_id, account_id, role, created_at) values ($1, $2, 'viewer', $3)`, [
    person.id,
    owner.accountId,
    gateway.clock.now(),
  ]);
  const browser = newBrowser(gateway);
  await signIn(browser, person);
  const page = await openAuthorization(browser, authorizationRequest(own).path);
  assert.doesNotMatch(page.text, new RegExp(owner.accountId));
  const tried = await browser.submit(page, { account: owner.accountId, decision: 'allow' });
  assert.equal(tried.status, 403);
  await db.run(`update memberships set role = 'member' where person_id = $1`, [person.id]);
  const both = await openAuthorization(browser, authorizationRequest(own).path);
  assert.match(both.text, new RegExp(`<option value="${owner.accountId}">`));
  appAddress(await browser.submit(both, { account: owner.accountId, decision: 'allow' }));
  const [grant] = (await gateway.admin('GET', `/oauth/grants?client=${own.id}`)).json.data;
  assert.equal(grant.account, owner.accountId);
  // The choice is remembered with the consent.
  assert.ok(appAddress(await openAuthorization(browser, authorizationRequest(own).path)).searchParams.get('code'));
});

test('a person without an account to spend of can only deny', async () => {
  const owner = await newPerson(gateway);
  await db.run(`update memberships set role = 'viewer' where person_id = $1`, [owner.id]);
  const browser = newBrowser(gateway);
  await signIn(browser, owner);
  const page = await openAuthorization(browser, authorizationRequest(client).path);
  assert.match(page.text, /None of your accounts/);
  assert.doesNotMatch(page.text, /value="allow"/);
  const denied = appAddress(await browser.submit(page, { decision: 'deny' }));
  assert.equal(denied.searchParams.get('error'), 'access_denied');
});

for (const [limit, status] of [
  ['0', 303],
  ['1000000000', 303],
  ['0.000001', 303],
  ['1000000000.000001', 200],
  ['0.0000001', 200],
  ['-1', 200],
  ['ten', 200],
] as const) {
  test(`a spend limit of ${limit} is ${status === 303 ? 'taken' : 'told to be none'}`, async () => {
    const browser = newBrowser(gateway);
    await signIn(browser, person);
    const page = await openAuthorization(browser, authorizationRequest(client, { prompt: 'consent' }).path);
    const next = await browser.submit(page, { account: person.accountId, decision: 'allow', limit, reset: 'day' });
    assert.equal(next.status, status);
    if (status === 200) assert.match(next.text, /A limit is a number of credits/);
  });
}

test('an account that is suspended gets no new tokens, and loses none: refresh works again once it is reinstated', async () => {
  const own = await newPerson(gateway);
  const tokens = await tokensFor(gateway, client, own);
  await gateway.admin('PATCH', `/accounts/${own.accountId}`, { status: 'suspended' });
  assert.equal((await refresh(gateway, client, tokens.refresh)).json.error, 'invalid_grant');
  await gateway.admin('PATCH', `/accounts/${own.accountId}`, { status: 'active' });
  assert.equal((await refresh(gateway, client, tokens.refresh)).status, 200);
});

test('a person who is disabled, or may not spend any more, has no app that refreshes', async () => {
  const own = await newPerson(gateway);
  const tokens = await tokensFor(gateway, client, own);
  await gateway.admin('PATCH', `/people/${own.id}`, { disabled: true });
  assert.equal((await refresh(gateway, client, tokens.refresh)).json.error, 'invalid_grant');
  await gateway.admin('PATCH', `/people/${own.id}`, { disabled: false });
  await db.run(`update memberships set role = 'viewer' where person_id = $1`, [own.id]);
  assert.equal((await refresh(gateway, client, tokens.refresh)).json.error, 'invalid_grant');
});

test('two processes share what was issued, and what one revokes the other refuses', async () => {
  const second = await Gateway.start({ database: gateway.database, clock: gateway.clock });
  try {
    const asked = authorizationRequest(client, { scope: 'user:credits' });
    const address = await authorize(newBrowser(gateway), person, asked);
    const answer = await redeem(second, client, asked, address);
    assert.equal(answer.status, 200, answer.text);
    assert.equal((await second.call('GET', '/v1/credits', { key: answer.json.access_token })).status, 200);
    const next = await refresh(gateway, client, answer.json.refresh_token);
    assert.equal(next.status, 200);
    assert.equal((await redeem(gateway, client, asked, address)).json.error, 'invalid_grant');
    assert.equal((await second.call('GET', '/v1/credits', { key: answer.json.access_token })).status, 401);
    assert.equal((await refresh(second, client, next.json.refresh_token)).json.error, 'invalid_grant');
  } finally {
    await second.stop();
  }
});

test('a code is used up with the tokens that it gives, or not at all; so is a refresh token', async () => {
  const asked = authorizationRequest(client);
  const address = await authorize(newBrowser(gateway), person, asked);
  await db.run("alter table oauth_records add constraint no_refresh check (kind <> 'RefreshToken') not valid");
  const failed = await redeem(gateway, client, asked, address);
  assert.deepEqual([failed.status, failed.json.error], [500, 'server_error']);
  await db.run('alter table oauth_records drop constraint no_refresh');
  const answer = await redeem(gateway, client, asked, address);
  assert.equal(answer.status, 200, answer.text);
  await db.run("alter table oauth_records add constraint no_access check (kind <> 'AccessToken') not valid");
  assert.equal((await refresh(gateway, client, answer.json.refresh_token)).status, 500);
  await db.run('alter table oauth_records drop constraint no_access');
  assert.equal((await refresh(gateway, client, answer.json.refresh_token)).status, 200);
});

test('with the database away every endpoint says so in its own shape, and goes on once it is back', async () => {
  const { refresh: token } = await tokensFor(gateway, client, person);
  const giveBack = await takeAway(gateway.database);
  const answers: Answer[] = [];
  try {
    for (const [path, form] of [
      ['/oauth/token', { grant_type: 'refresh_token', refresh_token: token }],
      ['/oauth/revoke', { token }],
      ['/oauth/device', { scope: 'user:jobs' }],
    ] as const) {
      answers.push(await post(gateway, path, client, form));
    }
    const page = await newBrowser(gateway).open(authorizationRequest(client).path);
    assert.deepEqual([page.status, /temporarily_unavailable/.test(page.text)], [503, true]);
  } finally {
    await giveBack();
  }
  for (const { status, json } of answers) assert.deepEqual([status, json.error], [503, 'temporarily_unavailable']);
  const answer = await refresh(gateway, client, token);
  assert.equal(answer.status, 200, answer.text);
});

test('no code, token, state or secret is logged, and every request leaves one line with its id', async () => {
  const own = await registerApp(gateway, { confidential: true });
  const asked = authorizationRequest(own);
  const address = await authorize(newBrowser(gateway), person, asked);
  const answer = await redeem(gateway, own, asked, address);
  await post(gateway, '/oauth/revoke', own, { token: answer.json.refresh_token });
  const text = logged.join('');
  const { access_token, refresh_token } = answer.json;
  const secrets = [
    own.secret,
    access_token,
    refresh_token,
    asked.params.state,
    asked.verifier,
    address.searchParams.get('code'),
  ];
  for (const secret of secrets) {
    assert.ok(secret);
    assert.ok(!text.includes(secret));
  }
  const lines = logged.filter((line) => line.includes(answer.headers['x-request-id'] ?? 'none'));
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /"route":"\/oauth\/token","status":200/);
});

test('the operator reads and changes what is registered of an app, and it holds at once', async () => {
  const own = await registerApp(gateway);
  const path = `/oauth/clients/${own.id}`;
  const before = (await gateway.admin('GET', path)).json;
  assert.deepEqual(
    [before.home_page, before.logo, before.device_flow, before.introspection],
    [null, null, false, false],
  );
  const change = {
    name: 'Renamed',
    redirect_uris: ['http://127.0.0.1/cb'],
    scopes: ['user:jobs'],
    home_page: 'https://app.example/',
    logo: 'https://app.example/logo.png',
    device_flow: true,
  };
  const changed = await gateway.admin('PATCH', path, change);
  assert.deepEqual(changed.json, { ...before, ...change });
  assert.deepEqual((await gateway.admin('GET', path)).json, changed.json);
  assert.deepEqual((await gateway.admin('PATCH', path, { logo: null })).json, { ...changed.json, logo: null });
  const redirect_uri = 'http://127.0.0.1:49152/cb';
  const page = await openAuthorization(
    newBrowser(gateway),
    authorizationRequest(own, { redirect_uri, scope: 'user:jobs' }).path,
  );
  assert.match(page.path, /^\/sign-in/);
  const old = await openAuthorization(newBrowser(gateway), authorizationRequest(own).path);
  assert.equal(old.status, 400);
  for (const body of [
    { introspection: true },
    { logo: 'http://app.example/logo.png' },
    { home_page: 'javascript:alert(1)' },
    { confidential: true },
  ]) {
    assert.equal((await gateway.admin('PATCH', path, body)).status, 400, JSON.stringify(body));
  }
  assert.equal((await gateway.admin('PATCH', '/oauth/clients/client_none', {})).json.error.code, 'client_not_found');
  assert.equal((await gateway.admin('GET', '/oauth/clients/client_none')).json.error.code, 'client_not_found');
});

test('one address begins so many authorizations in a minute and no more', async () => {
  const flooded = await Gateway.start();
  try {
    const own = await registerApp(flooded);
    const statuses = new Map<number, number>();
    for (let count = 0; count <= AUTHORIZATIONS_PER_ADDRESS_RPM; count++) {
      const { statusCode, body } = await request(flooded.url + authorizationRequest(own).path);
      await body.dump();
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
    }
    assert.deepEqual(Object.fromEntries(statuses), { 303: AUTHORIZATIONS_PER_ADDRESS_RPM, 429: 1 });
    const page = await newBrowser(flooded).fetch('GET', authorizationRequest(own).path);
    assert.equal(page.status, 303, 'the bucket fills with time');
  } finally {
    await flooded.stop();
  }
});

test('what PostgreSQL cannot keep is a mistake of the caller', async () => {
  const page = await openAuthorization(
    newBrowser(gateway),
    authorizationRequest({ id: 'a\0b', secret: undefined }).path,
  );
  assert.deepEqual([page.status, /invalid_client/.test(page.text)], [400, true]);
  const token = await post(gateway, '/oauth/token', { id: 'a\0b', secret: undefined }, { grant_type: 'refresh_token' });
  assert.deepEqual([token.status, token.json.error], [401, 'invalid_client']);
  const asked = authorizationRequest(client, { state: 'a\0b', prompt: 'consent' });
  const browser = newBrowser(gateway);
  await signIn(browser, person);
  const consent = await openAuthorization(browser, asked.path);
  assert.equal((await browser.submit(consent, { account: 'acct_\0', decision: 'allow' })).status, 403);
  const address = appAddress(await browser.submit(consent, { account: person.accountId, decision: 'allow' }));
  assert.equal(address.searchParams.get('state'), 'a\0b');
});

test('what is revoked is in the audit with who revoked it: the app, or the detection of re-use', async () => {
  const own = await registerApp(gateway);
  const first = await tokensFor(gateway, own, person);
  await post(gateway, '/oauth/revoke', own, { token: first.access });
  await post(gateway, '/oauth/revoke', own, { token: first.refresh });
  const second = await tokensFor(gateway, own, person);
  await refresh(gateway, own, second.refresh);
  await refresh(gateway, own, second.refresh);
  const rows = await db.rows<{ action: string; actor: string }>(
    `select action, actor from audit where target in (select id from oauth_grants where client_id = $1) order by id`,
    [own.id],
  );
  assert.deepEqual(
    rows.map(({ action, actor }) => [action, actor]),
    [
      ['consent.give', person.email],
      ['token.revoke', 'app'],
      ['consent.revoke', 'app'],
      ['consent.give', person.email],
      ['consent.revoke', 'reuse detection'],
    ],
  );
});

for (const response_mode of ['form_post', 'fragment', 'web_message', 'jwt']) {
  test(`the response mode ${response_mode} is refused by query, without a page of the library’s`, async () => {
    const asked = authorizationRequest(client, { response_mode });
    const address = appAddress(await openAuthorization(newBrowser(gateway), asked.path));
    assert.match(address.searchParams.get('error') ?? '', /^(invalid_request|unsupported_response_mode)$/);
    assert.equal(address.searchParams.get('state'), asked.params.state);
    assert.equal(address.hash, '');
  });
}

test('a scope that an app may not ask for any more is in no token from then on', async () => {
  const own = await registerApp(gateway);
  const tokens = await tokensFor(gateway, own, person, { scope: 'user:jobs user:credits' });
  await gateway.admin('PATCH', `/oauth/clients/${own.id}`, { scopes: ['user:jobs'] });
  const next = await refresh(gateway, own, tokens.refresh);
  assert.deepEqual([next.status, next.json.scope], [200, 'user:jobs']);
});

test('the library prints nothing about the runtime to the operator’s terminal', () => {
  const code = "await import('./src/oauth/index.ts')";
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', code]);
  assert.deepEqual([status, String(stdout), String(stderr)], [0, '', '']);
});
