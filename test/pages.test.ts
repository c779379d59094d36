import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Gateway } from './support/gateway.ts';
import { newBrowser, newPerson, registerApp, signIn, tokensFor } from './support/oauth.ts';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());

async function signedInBrowser() {
  const person = await newPerson(gateway);
  const browser = newBrowser(gateway);
  await signIn(browser, person);
  return { person, browser };
}

test('a key is made on its page, shown once, works, and is deleted there', async () => {
  const { browser } = await signedInBrowser();
  const made = await browser.submit(await browser.open('/keys'), { name: 'laptop <1>' });
  const key = /<code class="secret">(sk-tg1-\w+)<\/code>/.exec(made.text)?.[1] ?? '';
  assert.equal((await gateway.call('GET', '/v1/models', { key })).status, 200);
  const again = await browser.open('/keys');
  assert.match(again.text, /laptop &lt;1&gt;/);
  assert.ok(!again.text.includes(key));
  const action = /action="(\/keys\/key_\w+\/delete)"/.exec(again.text)?.[1] ?? '';
  const csrf = await browser.csrf();
  assert.equal((await browser.fetch('POST', action, { csrf: 'forged' })).status, 403);
  assert.equal((await gateway.call('GET', '/v1/models', { key })).status, 200);
  assert.equal((await browser.fetch('POST', action, { csrf })).headers.location, '/keys');
  assert.equal((await gateway.call('GET', '/v1/models', { key })).status, 401);
  assert.equal((await browser.fetch('POST', '/keys', { csrf, name: ' ' })).status, 400);
});

test('a key of another account is not deleted, and a person without a session is led to sign in and back', async () => {
  const { browser } = await signedInBrowser();
  const other = await gateway.newCaller();
  const page = await browser.fetch('POST', `/keys/${other.keyId}/delete`, { csrf: await browser.csrf() });
  assert.equal(page.status, 404);
  assert.equal((await gateway.call('GET', '/v1/models', { key: other.key })).status, 200);
  for (const path of ['/keys', '/apps']) {
    assert.equal((await newBrowser(gateway).fetch('GET', path)).headers.location, `/sign-in?next=${path}`);
  }
});

test('R-132: an app that was allowed is listed with its limit, and revoked on the page', async () => {
  const { person, browser } = await signedInBrowser();
  assert.match((await browser.open('/apps')).text, /No app may act/);
  const client = await registerApp(gateway);
  const consent = { limit: '25', reset: 'week' };
  const { access } = await tokensFor(gateway, client, person, { browser, scope: 'user:credits', consent });
  assert.equal((await gateway.call('GET', '/v1/credits', { key: access })).status, 200);
  const page = await browser.open('/apps');
  assert.match(page.text, /Sketchbook[\s\S]*of 25 per week/);
  assert.equal((await browser.submit(page, {})).path, '/apps');
  assert.equal((await gateway.call('GET', '/v1/credits', { key: access })).status, 401);
});
