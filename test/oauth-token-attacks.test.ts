import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { ACCESS_TOKEN_SECONDS, AUTHORIZATION_CODE_SECONDS, REFRESH_TOKEN_SECONDS } from '../src/oauth/lifetimes.ts';
import { Gateway } from './support/gateway.ts';
import { captureLog, dumpOf } from './support/leaks.ts';
import { CALLBACK, post, redeem, refresh, registerApp, type TestClient } from './support/oauth.ts';
import { assertError, attackRows, type Row, Scene } from './support/oauth-attacks.ts';

// RFC 9700, the token endpoint and what it gives: each row is one way in which a code, token or secret is misused.

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());

/** A code is redeemed by the right app after the attack: it was not used up by it. */
async function assertStillRedeemable(scene: Scene, asked: Parameters<typeof redeem>[2], address: URL): Promise<void> {
  const answer = await redeem(scene.gateway, scene.app, asked, address);
  assert.equal(answer.status, 200, answer.text);
  scene.alive.push(answer.json.access_token);
}

const codes: readonly Row[] = [
  [
    'a code replayed revokes the tokens that it gave',
    async (scene) => {
      const { asked, address } = await scene.code();
      const { json } = await redeem(gateway, scene.app, asked, address);
      assert.equal((await gateway.call('GET', '/v1/credits', { key: json.access_token })).status, 200);
      assertError(await redeem(gateway, scene.app, asked, address), 'invalid_grant');
      assertError(await refresh(gateway, scene.app, json.refresh_token), 'invalid_grant');
      scene.dead.push(json.access_token);
    },
  ],
  [
    'a code replayed after its refresh revokes the newer tokens too',
    async (scene) => {
      const { asked, address } = await scene.code();
      const { json: first } = await redeem(gateway, scene.app, asked, address);
      const { json: second } = await refresh(gateway, scene.app, first.refresh_token);
      assertError(await redeem(gateway, scene.app, asked, address), 'invalid_grant');
      assertError(await refresh(gateway, scene.app, second.refresh_token), 'invalid_grant');
      scene.dead.push(first.access_token, second.access_token);
    },
  ],
  [
    'a code used by eight requests at once gives tokens to one at most, and they are revoked',
    async (scene) => {
      const { asked, address } = await scene.code();
      const answers = await Promise.all(Array.from({ length: 8 }, () => redeem(gateway, scene.app, asked, address)));
      const given = answers.filter(({ status }) => status === 200);
      assert.equal(given.length, 1);
      for (const answer of answers) if (answer.status !== 200) assertError(answer, 'invalid_grant');
      scene.dead.push(...given.map(({ json }) => json.access_token));
    },
  ],
  [
    'a code of another app',
    async (scene) => {
      const { asked, address } = await scene.code();
      assertError(await redeem(gateway, scene.other, asked, address), 'invalid_grant');
      await assertStillRedeemable(scene, asked, address);
    },
  ],
  [
    'a code with another redirect address than it was asked with',
    async (scene) =>
      assertError(await scene.redeemWith({ redirect_uri: 'https://app.example/other' }), 'invalid_grant'),
    { redirect_uris: [CALLBACK, 'https://app.example/other'] },
  ],
  [
    'a code without the redirect address it was asked with',
    async (scene) => assertError(await scene.redeemWith({ redirect_uri: undefined }), 'invalid_request'),
  ],
  [
    'a code a second after its minute',
    async (scene) => {
      const { asked, address } = await scene.code();
      gateway.clock.advance(AUTHORIZATION_CODE_SECONDS);
      assertError(await redeem(gateway, scene.app, asked, address), 'invalid_grant');
    },
  ],
  [
    'a code that was never given',
    async (scene) => assertError(await scene.redeemWith({ code: 'x'.repeat(43) }), 'invalid_grant'),
  ],
  [
    'a code whose grant was revoked before it was redeemed',
    async (scene) => {
      const { asked, address } = await scene.code();
      await gateway.admin('DELETE', `/oauth/grants/${await scene.grantId()}`);
      assertError(await redeem(gateway, scene.app, asked, address), 'invalid_grant');
    },
  ],
  [
    'a code whose person was disabled before it was redeemed',
    async (scene) => {
      const { asked, address } = await scene.code();
      await gateway.admin('PATCH', `/people/${scene.person.id}`, { disabled: true });
      assertError(await redeem(gateway, scene.app, asked, address), 'invalid_grant');
    },
  ],
];

const pkce: readonly Row[] = [
  [
    'a code with a wrong verifier',
    async (scene) => assertError(await scene.redeemWith({ code_verifier: 'x'.repeat(43) }), 'invalid_grant'),
  ],
  [
    'a code without its verifier',
    async (scene) => assertError(await scene.redeemWith({ code_verifier: undefined }), 'invalid_grant'),
  ],
  [
    'a code with an empty verifier',
    async (scene) => assertError(await scene.redeemWith({ code_verifier: '' }), 'invalid_grant'),
  ],
  [
    'a code with its challenge as the verifier, as if it had been asked for plain',
    async (scene) => {
      const { asked, address } = await scene.code();
      const downgraded = { ...asked, verifier: asked.params.code_challenge ?? '' };
      assertError(await redeem(gateway, scene.app, downgraded, address), 'invalid_grant');
    },
  ],
  [
    'a code with the verifier of another request of the same app',
    async (scene) => {
      const [one, another] = [await scene.code(), await scene.code()];
      assertError(await redeem(gateway, scene.app, one.asked, another.address), 'invalid_grant');
    },
  ],
  [
    'a confidential app is not excused from its verifier by its secret',
    async (scene) => assertError(await scene.redeemWith({ code_verifier: undefined }), 'invalid_grant'),
    { confidential: true },
  ],
];

const refreshes: readonly Row[] = [
  [
    'a refresh token replayed revokes the grant',
    async (scene) => {
      const first = await scene.tokens();
      const { json: second } = await refresh(gateway, scene.app, first.refresh);
      assertError(await refresh(gateway, scene.app, first.refresh), 'invalid_grant');
      assertError(await refresh(gateway, scene.app, second.refresh_token), 'invalid_grant');
      scene.dead.push(first.access, second.access_token);
    },
  ],
  [
    'a refresh token replayed days later revokes the grant',
    async (scene) => {
      const first = await scene.tokens();
      const { json: second } = await refresh(gateway, scene.app, first.refresh);
      gateway.clock.advance(REFRESH_TOKEN_SECONDS - 1);
      const { json: third } = await refresh(gateway, scene.app, second.refresh_token);
      assertError(await refresh(gateway, scene.app, first.refresh), 'invalid_grant');
      assertError(await refresh(gateway, scene.app, third.refresh_token), 'invalid_grant');
      scene.dead.push(third.access_token);
    },
  ],
  [
    'a refresh token used by eight requests at once gives tokens to one at most, and they are revoked',
    async (scene) => {
      const { access, refresh: token } = await scene.tokens();
      const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(gateway, scene.app, token)));
      const given = answers.filter(({ status }) => status === 200);
      assert.equal(given.length, 1);
      scene.dead.push(access, ...given.map(({ json }) => json.access_token));
    },
  ],
  [
    'a refresh token at another app',
    async (scene) => {
      const { access, refresh: token } = await scene.tokens();
      assertError(await refresh(gateway, scene.other, token), 'invalid_grant');
      scene.alive.push(access);
    },
  ],
  [
    'a refresh that asks for more than was allowed',
    async (scene) => {
      const { refresh: token } = await scene.tokens();
      assertError(await refresh(gateway, scene.app, token, { scope: 'user:credits user:jobs' }), 'invalid_scope');
      const { json } = await refresh(gateway, scene.app, token);
      assert.equal(json.scope, 'user:credits');
      const jobs = await gateway.call('GET', '/v1/jobs', { key: json.access_token });
      assert.equal(jobs.json.error.code, 'insufficient_scope');
    },
  ],
  [
    'a refresh token a second after its month',
    async (scene) => {
      const { access, refresh: token } = await scene.tokens();
      gateway.clock.advance(REFRESH_TOKEN_SECONDS);
      assertError(await refresh(gateway, scene.app, token), 'invalid_grant');
      scene.dead.push(access);
    },
  ],
  [
    'an access token in the place of a refresh token',
    async (scene) => {
      const { access } = await scene.tokens();
      assertError(await refresh(gateway, scene.app, access), 'invalid_grant');
      scene.alive.push(access);
    },
  ],
  [
    'a revoked grant',
    async (scene) => {
      const { access, refresh: token } = await scene.tokens();
      await gateway.admin('DELETE', `/oauth/grants/${await scene.grantId()}`);
      assertError(await refresh(gateway, scene.app, token), 'invalid_grant');
      scene.dead.push(access);
    },
  ],
  [
    'an app that was removed',
    async (scene) => {
      const { access, refresh: token } = await scene.tokens();
      await gateway.admin('DELETE', `/oauth/clients/${scene.app.id}`);
      assertError(await refresh(gateway, scene.app, token), 'invalid_client', 401);
      scene.dead.push(access);
    },
  ],
  [
    'a disabled person',
    async (scene) => {
      const { access, refresh: token } = await scene.tokens();
      await gateway.admin('PATCH', `/people/${scene.person.id}`, { disabled: true });
      assertError(await refresh(gateway, scene.app, token), 'invalid_grant');
      scene.dead.push(access);
    },
  ],
];

const tokens: readonly Row[] = [
  [
    'a suspended account',
    async (scene) => {
      const { access, refresh: token } = await scene.tokens();
      await gateway.admin('PATCH', `/accounts/${scene.person.accountId}`, { status: 'suspended' });
      const refused = await gateway.call('GET', '/v1/credits', { key: access });
      assert.equal(refused.json.error.code, 'account_disabled');
      const next = await refresh(gateway, scene.app, token);
      scene.dead.push(access, ...(next.status === 200 ? [next.json.access_token] : []));
    },
  ],
  [
    'an access token at the second of its end',
    async (scene) => {
      const { access } = await scene.tokens();
      gateway.clock.advance(ACCESS_TOKEN_SECONDS - 1);
      assert.equal((await gateway.call('GET', '/v1/credits', { key: access })).status, 200);
      gateway.clock.advance(1);
      scene.dead.push(access);
    },
  ],
  [
    'an access token in the query or the form',
    async (scene) => {
      const { access } = await scene.tokens();
      for (const query of [`access_token=${access}`, `key=${access}`, `token=${access}`]) {
        assert.equal((await gateway.call('GET', `/v1/credits?${query}`)).status, 401, query);
      }
      const answer = await request(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `access_token=${access}`,
      });
      await answer.body.dump();
      assert.equal(answer.statusCode, 401);
      scene.alive.push(access);
    },
  ],
  [
    'a refresh token, a code or a client’s secret as an access token',
    async (scene) => {
      const { refresh: token } = await scene.tokens();
      const { address } = await scene.code();
      scene.dead.push(token, address.searchParams.get('code') ?? '', scene.app.secret ?? '');
    },
    { confidential: true },
  ],
  [
    'revocation and introspection by another app',
    async (scene) => {
      const { access, refresh: token } = await scene.tokens();
      for (const stolen of [access, token]) {
        await post(gateway, '/oauth/revoke', scene.other, { token: stolen });
        const answer = await post(gateway, '/oauth/introspect', scene.other, { token: stolen });
        assert.notEqual(answer.json?.active, true, answer.text);
      }
      scene.alive.push(access);
    },
  ],
];

const proofs: readonly Row[] = [
  ...(
    [
      ['a wrong secret', ({ app }) => ({ id: app.id, secret: 'ocs_wrong' })],
      ['no secret', ({ app }) => ({ id: app.id, secret: undefined })],
      [
        'the digest of its secret',
        ({ app }) => ({
          id: app.id,
          secret: createHash('sha256')
            .update(app.secret ?? '')
            .digest('hex'),
        }),
      ],
    ] as readonly [string, (scene: Scene) => TestClient][]
  ).map(
    ([name, client]): Row => [
      `a confidential app with ${name}`,
      async (scene) => assertError(await scene.redeemWith({}, client(scene)), 'invalid_client', 401),
      { confidential: true },
    ],
  ),
  [
    'a confidential app with an empty secret',
    async (scene) => assertError(await scene.redeemWith({}, { id: scene.app.id, secret: '' }), 'invalid_request'),
    { confidential: true },
  ],
  [
    'a confidential app with the secret of another',
    async (scene) => {
      const { secret } = await registerApp(gateway, { confidential: true });
      assertError(await scene.redeemWith({}, { id: scene.app.id, secret }), 'invalid_client', 401);
    },
    { confidential: true },
  ],
  [
    'one app in the header and another in the form',
    async (scene) => {
      const { secret } = scene.app;
      const answer = await scene.redeemWith({ client_id: scene.other.id }, { id: scene.app.id, secret });
      assert.ok([400, 401].includes(answer.status), answer.text);
      assert.equal(answer.json.access_token, undefined);
    },
    { confidential: true },
  ],
  [
    'a public app that brings a secret',
    async (scene) => {
      const answer = await scene.redeemWith({ client_id: scene.app.id, client_secret: 'x' });
      assertError(answer, 'invalid_client', 401);
      assertError(await scene.redeemWith({}, { id: scene.app.id, secret: 'x' }), 'invalid_client', 401);
    },
  ],
  ...['password', 'client_credentials', 'implicit', 'urn:ietf:params:oauth:grant-type:device_code', ''].map(
    (grant): Row => [
      `the grant type ${grant || 'of no name'}`,
      async (scene) => {
        const answer = await scene.redeemWith({
          grant_type: grant,
          username: 'a',
          password: 'b',
          scope: 'user:credits',
        });
        assert.equal(answer.status, 400, answer.text);
        assert.equal(answer.json.access_token, undefined);
      },
    ],
  ),
  [
    'a token request with a parameter twice',
    async (scene) => {
      const { asked, address } = await scene.code();
      const form = new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: scene.app.id,
        code: address.searchParams.get('code') ?? '',
        redirect_uri: CALLBACK,
        code_verifier: 'x'.repeat(43),
      });
      form.append('code_verifier', asked.verifier);
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const answer = await request(`${gateway.url}/oauth/token`, { method: 'POST', headers, body: form.toString() });
      assert.equal(answer.statusCode, 400);
      assert.doesNotMatch(await answer.body.text(), /access_token/);
    },
  ],
  [
    'a token request whose parameters are in the query',
    async (scene) => {
      const { asked, address } = await scene.code();
      const code = address.searchParams.get('code') ?? '';
      const query = new URLSearchParams({ grant_type: 'authorization_code', client_id: scene.app.id, code });
      query.set('redirect_uri', CALLBACK);
      query.set('code_verifier', asked.verifier);
      const answer = await request(`${gateway.url}/oauth/token?${query.toString()}`, { method: 'POST' });
      assert.equal(answer.statusCode, 400);
      assert.doesNotMatch(await answer.body.text(), /access_token/);
      await assertStillRedeemable(scene, asked, address);
    },
  ],
];

attackRows(() => gateway, [...codes, ...pkce, ...refreshes, ...tokens, ...proofs]);

test('codes, tokens and clients’ secrets are neither in the log nor in the database', async () => {
  const captured = captureLog();
  const at = await Gateway.start({ log: captured.log });
  try {
    const scene = await Scene.set(at, { confidential: true });
    const { asked, address } = await scene.code();
    const { json: first } = await redeem(at, scene.app, asked, address);
    const { json: second } = await refresh(at, scene.app, first.refresh_token);
    await at.call('GET', '/v1/credits', { key: second.access_token });
    await redeem(at, scene.app, asked, address);
    await refresh(at, scene.app, first.refresh_token);
    await redeem(at, { id: scene.app.id, secret: 'a-wrong-secret-of-the-app' }, asked, address);
    const secrets = [
      address.searchParams.get('code'),
      first.access_token,
      first.refresh_token,
      second.access_token,
      second.refresh_token,
      scene.app.secret,
      asked.verifier,
      'a-wrong-secret-of-the-app',
    ];
    const all = captured.text() + (await dumpOf(at.database));
    assert.match(all, /oauth\/token/);
    for (const secret of secrets) {
      assert.ok(typeof secret === 'string' && secret.length > 20);
      assert.ok(!all.includes(secret), secret);
      assert.ok(!all.includes(Buffer.from(secret).toString('hex')), secret);
    }
  } finally {
    await at.stop();
  }
});
