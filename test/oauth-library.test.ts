import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { fetch } from 'undici';
import { Gateway } from './support/gateway.ts';
import { authorize, CALLBACK, newBrowser, newPerson, registerApp, signIn } from './support/oauth.ts';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());

/** The deployment's public address is not the port that a test listens on. */
const fetchHere = (url: string, init: object) =>
  fetch(url.replace(gateway.config.publicUrl, gateway.url), init) as unknown as Promise<Response>;

const options = { [oauth.allowInsecureRequests]: true, [oauth.customFetch]: fetchHere };

test('R-114, R-126, R-131: a public and a confidential app of a common library: metadata, code, refresh, revocation', async () => {
  const person = await newPerson(gateway);
  const issuer = new URL(gateway.config.publicUrl);
  const discovered = await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' });
  const as = await oauth.processDiscoveryResponse(issuer, discovered);
  for (const confidential of [false, true]) {
    const registered = await registerApp(gateway, { confidential });
    const client: oauth.Client = { client_id: registered.id };
    const proof = registered.secret === undefined ? oauth.None() : oauth.ClientSecretBasic(registered.secret);
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const params = {
      response_type: 'code',
      client_id: registered.id,
      redirect_uri: CALLBACK,
      scope: 'user:credits',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    const path = `/oauth/authorize?${new URLSearchParams(params).toString()}`;
    const address = await authorize(newBrowser(gateway), person, { verifier, params, path });
    const answered = oauth.validateAuthResponse(as, client, address, state);
    const first = await oauth.processAuthorizationCodeResponse(
      as,
      client,
      await oauth.authorizationCodeGrantRequest(as, client, proof, answered, CALLBACK, verifier, options),
    );
    assert.equal(first.scope, 'user:credits');
    const next = await oauth.processRefreshTokenResponse(
      as,
      client,
      await oauth.refreshTokenGrantRequest(as, client, proof, first.refresh_token ?? '', options),
    );
    assert.equal((await gateway.call('GET', '/v1/credits', { key: next.access_token })).status, 200);
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(as, client, proof, next.refresh_token ?? '', options),
    );
    assert.equal((await gateway.call('GET', '/v1/credits', { key: next.access_token })).status, 401);
  }
});

test('R-114, R-126: an app of another common library: discovery, code, refresh, a device, introspection, revocation', async () => {
  const person = await newPerson(gateway);
  const registered = await registerApp(gateway, { confidential: true, device_flow: true, introspection: true });
  const config = await openid.discovery(
    new URL(gateway.config.publicUrl),
    registered.id,
    undefined,
    openid.ClientSecretPost(registered.secret),
    {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
      [openid.customFetch]: fetchHere,
    },
  );
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'user:credits',
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const asked = { verifier, params: {}, path: url.pathname + url.search };
  const address = await authorize(newBrowser(gateway), person, asked);
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  const first = await openid.authorizationCodeGrant(config, address, checks);
  const next = await openid.refreshTokenGrant(config, first.refresh_token ?? '');
  assert.equal((await gateway.call('GET', '/v1/credits', { key: next.access_token })).status, 200);
  const told = await openid.tokenIntrospection(config, next.access_token);
  assert.deepEqual([told.active, told.client_id], [true, registered.id]);
  await openid.tokenRevocation(config, next.access_token);
  assert.equal((await openid.tokenIntrospection(config, next.access_token)).active, false);

  const device = await openid.initiateDeviceAuthorization(config, { scope: 'user:credits' });
  const browser = newBrowser(gateway);
  await signIn(browser, person);
  const { pathname, search } = new URL(device.verification_uri_complete ?? '');
  await browser.submit(await browser.open(pathname + search), { account: person.accountId, decision: 'allow' });
  // The library waits for the interval before it first asks.
  const tokens = await openid.pollDeviceAuthorizationGrant(config, { ...device, interval: 0 });
  assert.equal((await gateway.call('GET', '/v1/credits', { key: tokens.access_token })).status, 200);
});
