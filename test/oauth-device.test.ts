import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDb } from '../src/db/index.ts';
import { DEVICE_CODES_RPM } from '../src/limits.ts';
import { ACCESS_TOKEN_SECONDS, DEVICE_CODE_SECONDS } from '../src/oauth/lifetimes.ts';
import type { Browser } from './support/browser.ts';
import { silentLog } from './support/database.ts';
import { type Answer, Gateway } from './support/gateway.ts';
import {
  newBrowser,
  newPerson,
  post,
  refresh,
  registerApp,
  signIn,
  type TestClient,
  type TestPerson,
  tokensFor,
} from './support/oauth.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

let gateway: Gateway;
let client: TestClient;
let person: TestPerson;
before(async () => {
  gateway = await Gateway.start();
  client = await registerApp(gateway, { name: 'Terminal', device_flow: true });
  person = await newPerson(gateway);
});
after(() => gateway.stop());

const begin = (scope = 'user:credits') => post(gateway, '/oauth/device', client, { scope });

const poll = (begun: Answer, by = client) =>
  post(gateway, '/oauth/token', by, { grant_type: DEVICE_GRANT, device_code: begun.json.device_code });

async function signedInBrowser(): Promise<Browser> {
  const browser = newBrowser(gateway);
  await signIn(browser, person);
  return browser;
}

async function decide(browser: Browser, begun: Answer, decision: 'allow' | 'deny', more = {}) {
  const page = await browser.open(`/device?user_code=${begun.json.user_code}`);
  assert.equal(page.status, 200, page.text);
  return browser.submit(page, { account: person.accountId, decision, ...more });
}

test('a program on another device waits, a person allows it, and it has tokens with the limit that was set', async () => {
  const begun = await begin();
  assert.equal(begun.status, 200, begun.text);
  assert.match(begun.json.user_code, /^[A-Z]{4}-[A-Z]{4}$/);
  assert.equal(begun.json.verification_uri, `${gateway.config.publicUrl}/device`);
  assert.equal(begun.json.expires_in, DEVICE_CODE_SECONDS);
  assert.equal((await poll(begun)).json.error, 'authorization_pending');
  const browser = newBrowser(gateway);
  const first = await browser.open(`/device?user_code=${begun.json.user_code.toLowerCase()}`);
  assert.match(first.path, /^\/sign-in\?next=/);
  const page = await browser.submit(first, { email: person.email, password: 'correct horse battery' });
  assert.match(page.text, /<h1>Terminal<\/h1>/);
  assert.match(page.text, new RegExp(`<code>${begun.json.user_code}</code>`));
  assert.match(page.text, /See this account’s balance/);
  const done = await browser.submit(page, { account: person.accountId, decision: 'allow', limit: '3', reset: 'day' });
  assert.match(done.text, /Allowed/);
  const answer = await poll(begun);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.scope, 'user:credits');
  assert.equal((await gateway.call('GET', '/v1/credits', { key: answer.json.access_token })).status, 200);
  assert.equal((await refresh(gateway, client, answer.json.refresh_token)).status, 200);
  const [grant] = (await gateway.admin('GET', `/oauth/grants?client=${client.id}`)).json.data;
  assert.deepEqual([grant.credit_limit, grant.credit_limit_reset], [3, 'day']);
});

test('parameters that the server has no use for may hold any character', async () => {
  const begun = await post(gateway, '/oauth/device', client, { scope: 'user:credits', ui_locales: '\0' });
  assert.equal(begun.status, 200, begun.text);
  await decide(await signedInBrowser(), begun, 'allow');
  assert.equal((await poll(begun)).status, 200);
});

test('a device code gives tokens once, and a second use revokes them', async () => {
  const begun = await begin();
  await decide(await signedInBrowser(), begun, 'allow');
  const first = await poll(begun);
  assert.equal(first.status, 200, first.text);
  assert.equal((await poll(begun)).json.error, 'invalid_grant');
  assert.equal((await refresh(gateway, client, first.json.refresh_token)).json.error, 'invalid_grant');
});

test('a denial is told to the device, and a code is answered once', async () => {
  const begun = await begin();
  const browser = await signedInBrowser();
  assert.match((await decide(browser, begun, 'deny')).text, /Denied/);
  assert.equal((await poll(begun)).json.error, 'access_denied');
  assert.equal((await browser.open(`/device?user_code=${begun.json.user_code}`)).status, 404);
});

test('a device code lives ten minutes', async () => {
  const begun = await begin();
  const browser = await signedInBrowser();
  gateway.clock.advance(DEVICE_CODE_SECONDS);
  assert.equal((await browser.open(`/device?user_code=${begun.json.user_code}`)).status, 404);
  assert.ok(['expired_token', 'invalid_grant'].includes((await poll(begun)).json.error));
});

test('another app has no use for a device code, and an app without the flow gets none', async () => {
  const begun = await begin();
  await decide(await signedInBrowser(), begun, 'allow');
  const other = await registerApp(gateway, { device_flow: true });
  assert.equal((await poll(begun, other)).json.error, 'invalid_grant');
  const without = await registerApp(gateway);
  const refused = await post(gateway, '/oauth/device', without, { scope: 'user:credits' });
  assert.deepEqual([refused.status, refused.json.error], [400, 'invalid_request']);
  assert.equal((await poll(begun, without)).json.error, 'invalid_request');
});

test('a form without the token of the session decides nothing', async () => {
  const begun = await begin();
  const browser = await signedInBrowser();
  const form = { user_code: begun.json.user_code, account: person.accountId, decision: 'allow' };
  assert.equal((await browser.fetch('POST', '/device', form)).status, 403);
  const page = await browser.open('/device');
  assert.match(page.text, /Connect a device/);
  const csrf = await browser.csrf();
  const foreign = { origin: 'https://evil.example' };
  assert.equal((await browser.fetch('POST', '/device', { ...form, csrf }, foreign)).status, 403);
  assert.equal((await poll(begun)).json.error, 'authorization_pending');
});

test('codes are not tried in numbers', async () => {
  const browser = newBrowser(gateway);
  const guesser = await newPerson(gateway);
  await signIn(browser, guesser);
  const statuses: number[] = [];
  for (let guess = 0; guess <= DEVICE_CODES_RPM; guess++) {
    statuses.push((await browser.open(`/device?user_code=BCDF-GHJ${'KLMNPQRSTVWXZ'[guess]}`)).status);
  }
  assert.deepEqual(statuses, [...Array(DEVICE_CODES_RPM).fill(404), 429]);
});

test('only its digest is stored of either code', async () => {
  const begun = await begin();
  const db = openDb(gateway.database.address, silentLog);
  const stored = JSON.stringify(await db.rows('select payload from oauth_records'));
  await db.close();
  assert.ok(!stored.includes(begun.json.device_code));
  assert.ok(!stored.includes(begun.json.user_code.replace('-', '')));
});

test('a confidential app that is registered for it asks what its own tokens are worth, and no other’s', async () => {
  const fields = { confidential: true, introspection: true };
  const own = await registerApp(gateway, fields);
  const tokens = await tokensFor(gateway, own, person, { scope: 'user:credits user:jobs' });
  const introspect = async (by: TestClient, token: string) =>
    (await post(gateway, '/oauth/introspect', by, { token })).json;
  const told = await introspect(own, tokens.access);
  assert.equal(told.active, true);
  assert.equal(told.scope, 'user:credits user:jobs');
  assert.deepEqual([told.client_id, told.sub, told.token_type], [own.id, person.id, 'Bearer']);
  assert.equal(told.exp - told.iat, ACCESS_TOKEN_SECONDS);
  assert.ok(Math.abs(told.iat - gateway.clock.nowMs() / 1000) <= 2);
  assert.equal((await introspect(own, tokens.refresh)).active, true);
  assert.deepEqual(await introspect(own, 'oat_unknown'), { active: false });
  assert.deepEqual(await introspect(await registerApp(gateway, fields), tokens.access), { active: false });
  const without = await registerApp(gateway, { confidential: true });
  const others = await tokensFor(gateway, without, person);
  assert.deepEqual(await introspect(without, others.access), { active: false });
  gateway.clock.advance(ACCESS_TOKEN_SECONDS);
  assert.deepEqual(await introspect(own, tokens.access), { active: false });
  const open = await gateway.admin('POST', '/oauth/clients', {
    name: 'Open',
    redirect_uris: ['https://app.example/callback'],
    scopes: ['user:jobs'],
    introspection: true,
  });
  assert.deepEqual([open.status, open.json.error.param], [400, 'introspection']);
});
