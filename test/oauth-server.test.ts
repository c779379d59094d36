import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { type Db, openDb } from '../src/db/index.ts';
import { AUTHORIZATION_CODE_SECONDS, CONSENT_SECONDS, REFRESH_TOKEN_SECONDS } from '../src/oauth/lifetimes.ts';
import { silentLog } from './support/database.ts';
import { Gateway } from './support/gateway.ts';
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

let gateway: Gateway;
let db: Db;
let client: TestClient;
let person: TestPerson;
before(async () => {
  gateway = await Gateway.start();
  db = openDb(gateway.database.address, silentLog);
  client = await registerApp(gateway);
  person = await newPerson(gateway);
});
after(async () => {
  await db.close();
  await gateway.stop();
});

test('R-126, R-130, R-131: a person signs in, allows an app, and the app has tokens', async () => {
  const asked = authorizationRequest(client, { state: 'st/ä +&=%' });
  const address = await authorize(newBrowser(gateway), person, asked);
  assert.equal(address.origin + address.pathname, CALLBACK);
  assert.equal(address.searchParams.get('state'), 'st/ä +&=%');
  assert.equal(address.searchParams.get('iss'), gateway.config.publicUrl);
  const answer = await redeem(gateway, client, asked, address);
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.json.access_token, /^oat_[0-9A-Za-z]{54}$/);
  assert.match(answer.json.refresh_token, /^ort_[0-9A-Za-z]{54}$/);
  assert.deepEqual(
    [answer.json.token_type, answer.json.expires_in, answer.json.scope],
    ['Bearer', 3600, 'user:inference:image'],
  );
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.match(answer.headers['x-request-id'] ?? '', /^req_/);
});

test('R-130: of codes and tokens only digests are stored', async () => {
  const asked = authorizationRequest(client);
  const address = await authorize(newBrowser(gateway), person, asked);
  const code = address.searchParams.get('code') ?? '';
  const { json } = await redeem(gateway, client, asked, address);
  const rows = await db.rows('select payload::text from oauth_records');
  const stored = JSON.stringify(rows);
  for (const secret of [code, json.access_token, json.refresh_token]) {
    assert.ok(secret.length > 20);
    assert.ok(!stored.includes(secret));
  }
});

test('R-129: a code works once: a second use is refused and revokes what the first one gave', async () => {
  const asked = authorizationRequest(client);
  const address = await authorize(newBrowser(gateway), person, asked);
  const first = await redeem(gateway, client, asked, address);
  const second = await redeem(gateway, client, asked, address);
  assert.deepEqual([first.status, second.status, second.json.error], [200, 400, 'invalid_grant']);
  const next = await refresh(gateway, client, first.json.refresh_token);
  assert.deepEqual([next.status, next.json.error], [400, 'invalid_grant']);
});

test('R-129: of two uses of a code at once one has tokens, and both are revoked', async () => {
  const asked = authorizationRequest(client);
  const address = await authorize(newBrowser(gateway), person, asked);
  const answers = await Promise.all([1, 2].map(() => redeem(gateway, client, asked, address)));
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [200, 400],
  );
  const won = answers.find(({ status }) => status === 200);
  assert.equal((await refresh(gateway, client, won?.json.refresh_token)).json.error, 'invalid_grant');
});

test('R-129: a code lives 60 seconds', async () => {
  for (const [seconds, status] of [
    [AUTHORIZATION_CODE_SECONDS - 1, 200],
    [AUTHORIZATION_CODE_SECONDS, 400],
  ] as const) {
    const asked = authorizationRequest(client);
    const address = await authorize(newBrowser(gateway), person, asked);
    gateway.clock.advance(seconds);
    assert.equal((await redeem(gateway, client, asked, address)).status, status);
  }
});

test('R-130: a refresh token rotates, and the use of an old one revokes the whole grant', async () => {
  const first = await tokensFor(gateway, client, person);
  const second = await refresh(gateway, client, first.refresh);
  assert.equal(second.status, 200, second.text);
  assert.notEqual(second.json.refresh_token, first.refresh);
  const third = await refresh(gateway, client, second.json.refresh_token);
  assert.equal(third.status, 200);
  assert.equal((await refresh(gateway, client, first.refresh)).json.error, 'invalid_grant');
  assert.equal((await refresh(gateway, client, third.json.refresh_token)).json.error, 'invalid_grant');
});

test('R-130: a refresh token lives 30 days from when it was given', async () => {
  const { refresh: token } = await tokensFor(gateway, client, person);
  gateway.clock.advance(REFRESH_TOKEN_SECONDS - 1);
  const next = await refresh(gateway, client, token);
  assert.equal(next.status, 200, next.text);
  gateway.clock.advance(REFRESH_TOKEN_SECONDS);
  assert.equal((await refresh(gateway, client, next.json.refresh_token)).json.error, 'invalid_grant');
});

test('a refresh may narrow the scopes and not widen them', async () => {
  const { refresh: token } = await tokensFor(gateway, client, person, { scope: 'user:inference:image user:jobs' });
  const narrow = await refresh(gateway, client, token, { scope: 'user:jobs' });
  assert.deepEqual([narrow.status, narrow.json.scope], [200, 'user:jobs']);
  const wide = await refresh(gateway, client, narrow.json.refresh_token, { scope: 'user:jobs user:credits' });
  assert.deepEqual([wide.status, wide.json.error], [400, 'invalid_scope']);
  const same = await refresh(gateway, client, narrow.json.refresh_token);
  assert.equal(same.json.scope, 'user:inference:image user:jobs');
});

test('consent is remembered for the same or fewer scopes, and asked for again with what is new', async () => {
  const own = await registerApp(gateway, { name: 'Remembered' });
  const browser = newBrowser(gateway);
  await signIn(browser, person);
  await tokensFor(gateway, own, person, { scope: 'user:inference:image user:jobs', browser });
  for (const scope of ['user:inference:image user:jobs', 'user:jobs']) {
    const page = await openAuthorization(browser, authorizationRequest(own, { scope }).path);
    assert.ok(appAddress(page).searchParams.get('code'));
  }
  const more = await openAuthorization(browser, authorizationRequest(own, { scope: 'user:jobs user:credits' }).path);
  assert.match(more.path, /^\/oauth\/consent\//);
  assert.match(more.text, /See this account’s balance[^<]*<strong>new<\/strong>/);
  assert.doesNotMatch(more.text, /See this account’s jobs[^<]*<strong>new/);
  const again = await openAuthorization(browser, authorizationRequest(own, { prompt: 'consent' }).path);
  assert.match(again.path, /^\/oauth\/consent\//);
});

test('a person who signs in on the way and has allowed the app before is sent straight back', async () => {
  await tokensFor(gateway, client, person);
  const browser = newBrowser(gateway);
  const page = await browser.open(authorizationRequest(client).path);
  const next = await browser.submit(page, { email: person.email, password: 'correct horse battery' });
  // Not by a redirect: the form of the sign-in page may lead nowhere but here.
  assert.equal(next.status, 200);
  assert.match(next.headers.refresh ?? '', /^0; url=\/oauth\/authorize\//);
});

test('R-131: a denial is told to the app, with state and issuer', async () => {
  const own = await registerApp(gateway);
  const asked = authorizationRequest(own);
  const { searchParams } = await authorize(newBrowser(gateway), person, asked, { decision: 'deny' });
  assert.equal(searchParams.get('error'), 'access_denied');
  assert.equal(searchParams.get('state'), asked.params.state);
  assert.equal(searchParams.get('iss'), gateway.config.publicUrl);
  assert.equal(searchParams.get('code'), null);
});

test('prompt=none asks for nothing: login_required without a session, consent_required without consent', async () => {
  const own = await registerApp(gateway);
  const browser = newBrowser(gateway);
  const asked = authorizationRequest(own, { prompt: 'none' });
  for (const error of ['login_required', 'consent_required']) {
    if (error === 'consent_required') await signIn(browser, person);
    const { searchParams } = appAddress(await openAuthorization(browser, asked.path));
    assert.deepEqual(
      [searchParams.get('error'), searchParams.get('state'), searchParams.get('iss')],
      [error, asked.params.state, gateway.config.publicUrl],
    );
  }
});

test('a person who signs out is asked to sign in again', async () => {
  const browser = newBrowser(gateway);
  await tokensFor(gateway, client, person, { browser });
  assert.ok(appAddress(await openAuthorization(browser, authorizationRequest(client).path)).searchParams.get('code'));
  await browser.submit(await browser.open('/account'), {});
  const page = await openAuthorization(browser, authorizationRequest(client).path);
  assert.match(page.path, /^\/sign-in\?next=/);
});

test('another person at the same browser is asked for an own consent', async () => {
  const other = await newPerson(gateway);
  const browser = newBrowser(gateway);
  await tokensFor(gateway, client, person, { browser });
  const begun = await openAuthorization(browser, authorizationRequest(client, { prompt: 'consent' }).path);
  await browser.submit(await browser.open('/account'), {});
  await signIn(browser, other);
  // The page that was open belongs to a session that has ended, and the authorization is begun anew.
  const page = await browser.open(begun.path);
  assert.notEqual(page.path, begun.path);
  assert.match(page.text, new RegExp(other.email));
  const allowed = appAddress(await browser.submit(page, { account: other.accountId, decision: 'allow' }));
  assert.ok(allowed.searchParams.get('code'));
});

test('prompt=login has the person sign in anew, also with a session', async () => {
  const browser = newBrowser(gateway);
  await tokensFor(gateway, client, person, { browser });
  gateway.clock.advance(60);
  const page = await openAuthorization(browser, authorizationRequest(client, { prompt: 'login' }).path);
  assert.match(page.path, /^\/sign-in\?again=1&next=/);
  const next = await browser.submit(page, { email: person.email, password: 'correct horse battery' });
  assert.ok(appAddress(next).searchParams.get('code'));
});

test('a confidential app proves itself by its secret, in either place', async () => {
  const own = await registerApp(gateway, { confidential: true });
  const { refresh: token } = await tokensFor(gateway, own, person);
  const form = { grant_type: 'refresh_token', refresh_token: token };
  const without = await post(gateway, '/oauth/token', { id: own.id, secret: undefined }, form);
  assert.deepEqual([without.status, without.json.error], [401, 'invalid_client']);
  const wrong = await post(gateway, '/oauth/token', { id: own.id, secret: 'ocs_wrong' }, form);
  assert.deepEqual([wrong.status, wrong.json.error], [401, 'invalid_client']);
  const inForm = { ...form, client_secret: own.secret ?? '' };
  const answer = await post(gateway, '/oauth/token', { id: own.id, secret: undefined }, inForm);
  assert.equal(answer.status, 200, answer.text);
});

test('revocation of a refresh token ends the grant, of an access token that token alone', async () => {
  const tokens = await tokensFor(gateway, client, person);
  const one = await post(gateway, '/oauth/revoke', client, { token: tokens.access });
  assert.equal(one.status, 200);
  const next = await refresh(gateway, client, tokens.refresh);
  assert.equal(next.status, 200, next.text);
  const other = await registerApp(gateway);
  await post(gateway, '/oauth/revoke', other, { token: next.json.refresh_token });
  const again = await refresh(gateway, client, next.json.refresh_token);
  assert.equal(again.status, 200, 'another app revokes nothing');
  assert.equal((await post(gateway, '/oauth/revoke', client, { token: again.json.refresh_token })).status, 200);
  assert.equal((await refresh(gateway, client, again.json.refresh_token)).json.error, 'invalid_grant');
  assert.equal((await post(gateway, '/oauth/revoke', client, { token: 'unknown' })).status, 200);
});

test('an app that was removed is gone at once, with every grant to it', async () => {
  const own = await registerApp(gateway);
  const { refresh: token } = await tokensFor(gateway, own, person);
  assert.equal((await gateway.admin('DELETE', `/oauth/clients/${own.id}`)).status, 200);
  const answer = await refresh(gateway, own, token);
  assert.deepEqual([answer.status, answer.json.error], [401, 'invalid_client']);
  const page = await openAuthorization(newBrowser(gateway), authorizationRequest(own).path);
  assert.equal(page.status, 400);
  assert.match(page.text, /invalid_client/);
  assert.equal((await gateway.admin('DELETE', `/oauth/clients/${own.id}`)).status, 404);
});

test('R-121, R-126: there is no registration, user info or key set, and the metadata says what there is', async () => {
  for (const path of [
    '/reg',
    '/oauth/register',
    '/me',
    '/jwks',
    '/session/end/confirm',
    '/.well-known/openid-configuration',
  ]) {
    for (const method of ['GET', 'POST'] as const) {
      const { statusCode, body } = await request(gateway.url + path, { method });
      await body.dump();
      assert.equal(statusCode, 404, path);
    }
  }
  const answer = await request(`${gateway.url}/.well-known/oauth-authorization-server`);
  assert.equal(answer.headers['access-control-allow-origin'], '*');
  const at = (path: string) => `${gateway.config.publicUrl}/oauth/${path}`;
  const metadata = (await answer.body.json()) as Record<string, unknown>;
  assert.equal(metadata.issuer, gateway.config.publicUrl);
  assert.equal(metadata.authorization_endpoint, at('authorize'));
  assert.equal(metadata.token_endpoint, at('token'));
  assert.equal(metadata.revocation_endpoint, at('revoke'));
  assert.equal(metadata.registration_endpoint, undefined);
  assert.deepEqual(metadata.code_challenge_methods_supported, ['S256']);
  assert.equal(metadata.authorization_response_iss_parameter_supported, true);
});

test('R-114, R-115: the token opens /v1 with its scopes, until the operator revokes the grant', async () => {
  const own = await registerApp(gateway, { name: 'Reader' });
  const { access } = await tokensFor(gateway, own, person, { scope: 'user:credits' });
  assert.equal((await gateway.call('GET', '/v1/credits', { key: access })).status, 200);
  assert.equal((await gateway.call('GET', '/v1/jobs', { key: access })).json.error.code, 'insufficient_scope');
  const { data } = (await gateway.admin('GET', `/oauth/grants?client=${own.id}`)).json;
  assert.equal(data.length, 1);
  const [grant] = data;
  assert.match(grant.id, /^oag_/);
  assert.deepEqual(grant.client, { id: own.id, name: 'Reader', home_page: null });
  assert.deepEqual([grant.account, grant.person.email], [person.accountId, person.email]);
  assert.deepEqual([grant.scopes, grant.credit_limit, grant.credits_used], [['user:credits'], null, 0]);
  assert.equal((await gateway.admin('DELETE', `/oauth/grants/${grant.id}`)).status, 200);
  assert.equal((await gateway.call('GET', '/v1/credits', { key: access })).json.error.code, 'invalid_api_key');
  assert.equal((await gateway.admin('DELETE', `/oauth/grants/${grant.id}`)).json.error.code, 'grant_not_found');
  assert.deepEqual((await gateway.admin('GET', `/oauth/grants?client=${own.id}`)).json.data, []);
});

test('consent with a spend limit is kept on the grant, and every step is in the audit', async () => {
  const own = await registerApp(gateway);
  const consent = { limit: '2.5', reset: 'week' };
  await tokensFor(gateway, own, person, { consent });
  const [grant] = (await gateway.admin('GET', `/oauth/grants?client=${own.id}`)).json.data;
  assert.deepEqual([grant.credit_limit, grant.credit_limit_reset], [2.5, 'week']);
  await gateway.admin('DELETE', `/oauth/grants/${grant.id}`);
  const audit = (await gateway.admin('GET', '/audit?limit=10')).json.data;
  const steps = audit.filter(({ target }: { target: string }) => target === grant.id);
  assert.deepEqual(
    steps.map(({ action, actor }: { action: string; actor: string }) => [action, actor]),
    [
      ['consent.revoke', 'operator'],
      ['consent.give', person.email],
    ],
  );
  assert.deepEqual(steps[1].detail.credit_limit, 2.5);
});

test('what has expired is forgotten by a duty', async () => {
  const moved = await Gateway.start({ settings: { TOLLGATE_TEST_CLOCK: '1' } });
  const rows = openDb(moved.database.address, silentLog);
  try {
    const own = await registerApp(moved);
    const page = await openAuthorization(newBrowser(moved), authorizationRequest(own).path);
    assert.match(page.path, /^\/sign-in/);
    assert.equal((await rows.rows('select from oauth_records')).length, 1);
    await moved.admin('POST', '/clock', { advance_seconds: CONSENT_SECONDS + 1 });
    assert.equal((await rows.rows('select from oauth_records')).length, 0);
  } finally {
    await rows.close();
    await moved.stop();
  }
});
