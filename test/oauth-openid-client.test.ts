import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as openid from 'openid-client';
import { fetch } from 'undici';
import { Gateway } from './support/gateway.ts';
import { IdentityProvider } from './support/identity-provider.ts';
import {
  appAddress,
  authorizationRequest,
  authorize,
  CALLBACK,
  newBrowser,
  newPerson,
  redeem,
  registerApp,
  type TestClient,
} from './support/oauth.ts';

const PUBLIC_URL = 'http://127.0.0.1:18787';

let provider: IdentityProvider;
let gateway: Gateway;
before(async () => {
  provider = await IdentityProvider.start({ redirectUri: `${PUBLIC_URL}/sign-in/callback` });
  gateway = await Gateway.start({ settings: { PUBLIC_URL, ...provider.settings, OIDC_SIGNUP: 'create' } });
});
after(async () => {
  await gateway.stop();
  await provider.stop();
});

/** An app that knows the deployment's address, its own id, and its secret if it has one. */
async function discover({ id, secret }: TestClient): Promise<openid.Configuration> {
  const proof = secret === undefined ? openid.None() : openid.ClientSecretBasic(secret);
  return openid.discovery(new URL(PUBLIC_URL), id, undefined, proof, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
    // The deployment's public address is not the port that a test listens on.
    [openid.customFetch]: (url: string, options: object) => fetch(url.replace(PUBLIC_URL, gateway.url), options),
  });
}

for (const confidential of [false, true]) {
  const kind = confidential ? 'confidential' : 'public';
  test(`a ${kind} app on openid-client: discovery, code, call, refresh, revocation (R-114, R-126, R-131)`, async () => {
    const registered = await registerApp(gateway, { confidential });
    const person = await newPerson(gateway);
    const configuration = await discover(registered);
    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: CALLBACK,
      scope: 'user:credits',
      state,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const asked = { verifier, params: Object.fromEntries(url.searchParams), path: url.pathname + url.search };
    const address = await authorize(newBrowser(gateway), person, asked);
    const checks = { expectedState: state, pkceCodeVerifier: verifier };
    const first = await openid.authorizationCodeGrant(configuration, address, checks);
    assert.deepEqual([first.token_type, first.scope, first.expires_in], ['bearer', 'user:credits', 3600]);
    const credits = new URL(`${PUBLIC_URL}/v1/credits`);
    const answer = await openid.fetchProtectedResource(configuration, first.access_token, credits, 'GET');
    assert.equal(answer.status, 200);
    const next = await openid.refreshTokenGrant(configuration, first.refresh_token ?? '');
    assert.notEqual(next.refresh_token, first.refresh_token);
    await openid.tokenRevocation(configuration, next.refresh_token ?? '');
    for (const key of [first.access_token, next.access_token])
      assert.equal((await gateway.call('GET', '/v1/credits', { key })).status, 401);
    await assert.rejects(openid.refreshTokenGrant(configuration, next.refresh_token ?? ''), { error: 'invalid_grant' });
    await gateway.assertBooksBalance();
  });
}

test('a person who signs in by the identity provider on the way comes back to the app’s question', async () => {
  provider.person = { subject: 'ida', claims: { email: 'ida@example.com', email_verified: true, name: 'Ida' } };
  const app = await registerApp(gateway);
  const asked = authorizationRequest(app, { scope: 'user:credits' });
  const browser = newBrowser(gateway);
  const signInPage = await browser.open(asked.path);
  const [, out = ''] = /href="(\/sign-in\/provider[^"]*)"/.exec(signInPage.text) ?? [];
  const back = await provider.visit((await browser.fetch('GET', out)).headers.location ?? '');
  const question = await browser.open(back.pathname + back.search);
  assert.match(question.path, /^\/oauth\/consent\//);
  assert.match(question.text, /asks to use Tollgate as ida@example.com/);
  const address = appAddress(await browser.submit(question, { decision: 'allow' }));
  const { json } = await redeem(gateway, app, asked, address);
  assert.equal((await gateway.call('GET', '/v1/credits', { key: json.access_token })).status, 200);
});
