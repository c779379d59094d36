import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import * as openid from 'openid-client';
import { request } from 'undici';
import { CONSENT_SECONDS } from '../src/oauth/lifetimes.ts';
import type { Browser, Page } from './support/browser.ts';
import { Gateway } from './support/gateway.ts';
import { appAddress, authorize, CALLBACK, newPerson, openAuthorization, redeem, signIn } from './support/oauth.ts';
import { assertToldToApp, assertToldToPerson, attackRows, type Row, type Scene } from './support/oauth-attacks.ts';

// RFC 9700, the authorization endpoint and the person's pages: each row is one way to get a code that was not allowed, to
// have it sent elsewhere, or to decide in a person's place.

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());

const LOOPBACK = 'http://127.0.0.1:7777/back';
const NATIVE = { redirect_uris: [LOOPBACK, 'http://[::1]:7777/back', 'http://localhost:7777/back'] };

/** Addresses that look like the registered one. None is ever gone to, not even with an error. */
const lookalikes: readonly Row[] = [
  ['another host', 'https://evil.example/callback'],
  ['a host that begins alike', 'https://app.example.evil.example/callback'],
  ['a host that ends alike', 'https://evilapp.example/callback'],
  ['a subdomain', 'https://www.app.example/callback'],
  ['userinfo that looks like the host', 'https://app.example@evil.example/callback'],
  ['userinfo before the right host', 'https://evil@app.example/callback'],
  ['a backslash', 'https://app.example\\@evil.example/callback'],
  ['a fragment', `${CALLBACK}#evil`],
  ['an empty fragment', `${CALLBACK}#`],
  ['a query', `${CALLBACK}?next=https://evil.example`],
  ['a path below', `${CALLBACK}/evil`],
  ['a path that goes up', 'https://app.example/callback/../evil'],
  ['an escaped path that goes up', 'https://app.example/callback/%2e%2e/evil'],
  ['a slash at the end', `${CALLBACK}/`],
  ['another case', 'https://app.example/Callback'],
  ['another case of the host', 'https://APP.example/callback'],
  ['a port', 'https://app.example:8443/callback'],
  ['its own port', 'https://app.example:443/callback'],
  ['plain http', 'http://app.example/callback'],
  ['a script', 'javascript:alert(1)//https://app.example/callback'],
  ['data', 'data:text/html,https://app.example/callback'],
  ['a tab', 'https://app.example/\tcallback'],
  ['a line break', 'https://app.example/callback\r\nSet-Cookie: a=b'],
  ['a loopback address', LOOPBACK],
  ['nothing', ''],
].map(
  ([what, redirect_uri]): Row => [
    `a redirect address with ${what}`,
    async (scene) => assertToldToPerson(await scene.open({ redirect_uri })),
  ],
);

const redirects: readonly Row[] = [
  ['no redirect address', async (scene) => assertToldToPerson(await scene.open({ redirect_uri: undefined }))],
  [
    'the redirect address of another app',
    async (scene) => assertToldToPerson(await scene.open({ redirect_uri: CALLBACK })),
    { redirect_uris: ['https://another.example/callback'] },
  ],
  [
    'a program on the person’s machine has whatever port is free',
    async (scene) => {
      for (const redirect_uri of [
        'http://127.0.0.1:51004/back',
        'http://[::1]:51004/back',
        'http://localhost:51004/back',
      ]) {
        const { asked, address } = await scene.code({ redirect_uri });
        assert.equal(address.origin + address.pathname, redirect_uri);
        scene.alive.push((await redeem(gateway, scene.app, asked, address)).json.access_token);
      }
    },
    NATIVE,
  ],
  ...[
    ['another path', 'http://127.0.0.1:51004/evil'],
    ['another loopback address', 'http://127.0.0.2:7777/back'],
    ['a host name that is not localhost', 'http://localhost.example:51004/back'],
    ['userinfo', 'http://127.0.0.1:51004@evil.example/back'],
    ['https', 'https://127.0.0.1:51004/back'],
    ['a port that is none', 'http://127.0.0.1:510040/back'],
    ['a number for an address', 'http://2130706433:51004/back'],
  ].map(
    ([what, redirect_uri]): Row => [
      `a program on the person’s machine with ${what}`,
      async (scene) => assertToldToPerson(await scene.open({ redirect_uri })),
      NATIVE,
    ],
  ),
  [
    'another loopback port for an app with a secret, which is no program on the person’s machine',
    async (scene) => assertToldToPerson(await scene.open({ redirect_uri: 'http://127.0.0.1:51004/back' })),
    { ...NATIVE, confidential: true },
  ],
  [
    'an app that is not registered',
    async (scene) => assertToldToPerson(await scene.open({ client_id: 'client_none' })),
  ],
  [
    'an app that was removed while the person was asked',
    async (scene) => {
      const { browser, page } = await asked(scene);
      await gateway.admin('DELETE', `/oauth/clients/${scene.app.id}`);
      const answer = await browser.submit(page, { account: scene.person.accountId, decision: 'allow' });
      assert.equal(answer.status, 404);
    },
  ],
  [
    'a sign-in on the way that leads to another site',
    async (scene) => {
      for (const next of ['https://evil.example', '//evil.example', '/\\evil.example']) {
        const browser = scene.browser();
        const page = await browser.open(`/sign-in?next=${encodeURIComponent(next)}`);
        const answer = await browser.submit(page, { email: scene.person.email, password: 'correct horse battery' });
        assert.equal(answer.path, '/');
      }
    },
  ],
];

/** Told to the app, since it is the app's own request that is wrong. */
const requests: readonly Row[] = (
  [
    ['no code challenge', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['a challenge by plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a challenge whose method is left to the default, plain', { code_challenge_method: undefined }, 'invalid_request'],
    ['a method without a challenge', { code_challenge: undefined }, 'invalid_request'],
    ['a challenge that is no digest', { code_challenge: 'short' }, 'invalid_request'],
    ['response_type=token', { response_type: 'token' }, 'invalid_request'],
    ['response_type=code token', { response_type: 'code token' }, 'invalid_request'],
    ['response_type=id_token', { response_type: 'id_token' }, 'invalid_request'],
    ['response_type=none', { response_type: 'none' }, 'unsupported_response_type'],
    ['no response_type', { response_type: undefined }, 'invalid_request'],
    ['response_mode=fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['response_mode=form_post', { response_mode: 'form_post' }, 'invalid_request'],
    ['response_mode=web_message', { response_mode: 'web_message' }, 'unsupported_response_mode'],
    ['a scope that the app is not registered for', { scope: 'user:credits user:files' }, 'invalid_scope'],
    ['a scope that is none', { scope: 'user:credits user:admin' }, 'invalid_scope'],
    ['no scope', { scope: undefined }, 'invalid_scope'],
    ['prompt=none without a session', { prompt: 'none' }, 'login_required'],
    ['prompt=none with another prompt', { prompt: 'none login' }, 'invalid_request'],
  ] as const
).map(
  ([what, params, error]): Row => [
    `a request with ${what}`,
    async (scene) => {
      const wrong = scene.request(params);
      const page = await openAuthorization(scene.browser(), wrong.path);
      assertToldToApp(page, error, wrong, gateway.config.publicUrl);
    },
  ],
);

const states: readonly Row[] = [
  ...['\r\nSet-Cookie: a=b', '"><script>', 'ä ☃ 😀', '&code=evil&iss=evil', '%00%0d%0a', `${'x'.repeat(2000)}`].map(
    (state): Row => [
      `a state of odd bytes comes back as it was: ${JSON.stringify(state).slice(0, 30)}`,
      async (scene) => {
        const { address } = await scene.code({ state });
        assert.deepEqual(address.searchParams.getAll('state'), [state]);
        assert.equal(address.searchParams.getAll('code').length, 1);
        assert.deepEqual(address.searchParams.getAll('iss'), [gateway.config.publicUrl]);
      },
    ],
  ),
  ...['client_id', 'redirect_uri', 'scope', 'state', 'code_challenge'].map(
    (name): Row => [
      `a request with ${name} twice`,
      async (scene) => {
        const { path } = scene.request();
        const browser = scene.browser();
        const page = await openAuthorization(browser, `${path}&${name}=${encodeURIComponent('https://evil.example')}`);
        const goesTo = page.headers.location ?? CALLBACK;
        assert.ok(goesTo.startsWith(CALLBACK), goesTo);
        assert.doesNotMatch(goesTo, /[?&]code=/);
        assert.ok(page.status === 400 || goesTo.includes('error=invalid_request'), `${page.status} ${goesTo}`);
      },
    ],
  ),
  ...['request', 'request_uri', 'registration', 'id_token_hint'].map(
    (name): Row => [
      `a request with ${name}, which could carry another request`,
      async (scene) => {
        const value =
          name === 'request_uri' ? 'https://evil.example/r' : 'eyJhbGciOiJub25lIn0.eyJzY29wZSI6ImFkbWluIn0.';
        const page = await scene.open({ [name]: value });
        // Refused to the app, or passed over and the person asked as ever; never gone to.
        const goesTo = page.headers.location ?? '';
        assert.ok(goesTo === '' || goesTo.startsWith(`${CALLBACK}?error=`), goesTo);
      },
    ],
  ),
  [
    'the answer of another issuer at the app',
    async (scene) => {
      const { asked: sent, address } = await scene.code();
      assert.equal(address.searchParams.get('iss'), gateway.config.publicUrl);
      address.searchParams.set('iss', 'https://evil.example');
      const { body } = await request(`${gateway.url}/.well-known/oauth-authorization-server`);
      const metadata = (await body.json()) as openid.ServerMetadata;
      const configuration = new openid.Configuration(metadata, scene.app.id, undefined, openid.None());
      const checks = { expectedState: sent.params.state ?? '', pkceCodeVerifier: sent.verifier };
      await assert.rejects(openid.authorizationCodeGrant(configuration, address, checks), ({ cause }: Error) =>
        String(cause).includes('unexpected "iss"'),
      );
    },
  ],
];

/** The page on which the person decides, not decided yet. */
async function asked(scene: Scene, browser: Browser = scene.browser()): Promise<{ browser: Browser; page: Page }> {
  await signIn(browser, scene.person);
  const page = await openAuthorization(browser, scene.request().path);
  assert.match(page.path, /^\/oauth\/consent\//);
  return { browser, page };
}

const allow = (scene: Scene, more: Record<string, string> = {}) => ({
  account: scene.person.accountId,
  decision: 'allow',
  ...more,
});

const csrfOf = ({ text }: Page) => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';

async function assertNotAllowed(scene: Scene): Promise<void> {
  const { data } = (await gateway.admin('GET', `/oauth/grants?client=${scene.app.id}`)).json;
  assert.deepEqual(data, []);
}

const decisions: readonly Row[] = [
  ...['', 'x'.repeat(43)].map(
    (csrf): Row => [
      `consent with ${csrf === '' ? 'no' : 'a wrong'} token against forgery`,
      async (scene) => {
        const { browser, page } = await asked(scene);
        assert.equal((await browser.submit(page, allow(scene, { csrf }))).status, 403);
        await assertNotAllowed(scene);
      },
    ],
  ),
  [
    'consent with the token of another person’s session',
    async (scene) => {
      const { browser, page } = await asked(scene);
      const attacker = scene.browser();
      await signIn(attacker, await newPerson(gateway));
      const csrf = csrfOf(await attacker.open('/account'));
      assert.ok(csrf.length > 20);
      assert.equal((await browser.submit(page, allow(scene, { csrf }))).status, 403);
      await assertNotAllowed(scene);
    },
  ],
  ...(
    [
      ['another origin', { origin: 'https://evil.example' }],
      ['an origin that is hidden', { origin: 'null' }],
      ['another site without an origin', { origin: '', 'sec-fetch-site': 'cross-site' }],
    ] as const
  ).map(
    ([what, headers]): Row => [
      `consent sent by a page of ${what}`,
      async (scene) => {
        const { browser, page } = await asked(scene);
        const answer = await browser.fetch('POST', page.path, allow(scene, { csrf: csrfOf(page) }), headers);
        assert.equal(answer.status, 403);
        await assertNotAllowed(scene);
      },
    ],
  ),
  [
    'consent by a GET',
    async (scene) => {
      const { browser, page } = await asked(scene);
      const query = new URLSearchParams(allow(scene, { csrf: csrfOf(page) })).toString();
      assert.equal((await browser.open(`${page.path}?${query}`)).status, 200);
      await assertNotAllowed(scene);
    },
  ],
  [
    'consent in another browser of the same person',
    async (scene) => {
      const { page } = await asked(scene);
      const other = scene.browser();
      await signIn(other, scene.person);
      const csrf = csrfOf(await other.open('/account'));
      assert.equal((await other.open(page.path)).status, 404);
      assert.equal((await other.fetch('POST', page.path, allow(scene, { csrf }))).status, 404);
      await assertNotAllowed(scene);
    },
  ],
  [
    'consent to an authorization that an attacker began, planted as a cookie',
    async (scene) => {
      const attacker = scene.browser();
      const begun = await openAuthorization(attacker, scene.request().path);
      const path = new URLSearchParams(begun.path.replace(/^[^?]*/, '')).get('next') ?? '';
      const victim = scene.browser();
      await signIn(victim, scene.person);
      const uid = path.split('/').at(-1) ?? '';
      victim.cookies.set('tollgate_consent', uid);
      victim.cookies.set('tollgate_consent.sig', 'A'.repeat(27));
      assert.equal((await victim.open(path)).status, 404);
      await assertNotAllowed(scene);
    },
  ],
  [
    'consent that pays with another’s account',
    async (scene) => {
      const { browser, page } = await asked(scene);
      const { accountId } = await newPerson(gateway);
      const answer = await browser.submit(page, allow(scene, { account: accountId }));
      assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status}`);
      await assertNotAllowed(scene);
    },
  ],
  [
    'consent with fields that would widen it',
    async (scene) => {
      const { browser, page } = await asked(scene);
      const more = { scope: 'user:credits user:jobs', scopes: 'user:jobs', redirect_uri: 'https://evil.example' };
      const address = appAddress(await browser.submit(page, allow(scene, more)));
      assert.equal(address.origin + address.pathname, CALLBACK);
      const { data } = (await gateway.admin('GET', `/oauth/grants?client=${scene.app.id}`)).json;
      assert.deepEqual(data[0].scopes, ['user:credits']);
    },
  ],
  [
    'consent after the hour in which it was asked for',
    async (scene) => {
      const { browser, page } = await asked(scene);
      gateway.clock.advance(CONSENT_SECONDS);
      assert.equal((await browser.submit(page, allow(scene))).status, 404);
      await assertNotAllowed(scene);
    },
  ],
  [
    'consent that is sent a second time gives no second code',
    async (scene) => {
      const { browser, page } = await asked(scene);
      assert.ok(appAddress(await browser.submit(page, allow(scene))).searchParams.get('code'));
      assert.equal((await browser.submit(page, allow(scene))).status, 404);
    },
  ],
  [
    'an authorization resumed without a decision',
    async (scene) => {
      const { browser, page } = await asked(scene);
      const answer = await browser.open(page.path.replace('/oauth/consent/', '/oauth/authorize/'));
      assert.equal(answer.headers.location, undefined);
      await assertNotAllowed(scene);
    },
  ],
  [
    'an authorization decided in one browser and resumed in another',
    async (scene) => {
      const { browser, page } = await asked(scene);
      const form = allow(scene, { csrf: csrfOf(page) });
      const { location = '' } = (await browser.fetch('POST', page.path, form)).headers;
      assert.match(location, /^\/oauth\/authorize\//);
      const answer = await scene.browser().open(location);
      assert.equal(answer.status, 400);
      assert.equal(answer.headers.location, undefined);
    },
  ],
  [
    'an authorization decided by one person and resumed by the next at the browser',
    async (scene) => {
      const { browser, page } = await asked(scene);
      const form = allow(scene, { csrf: csrfOf(page) });
      const { location = '' } = (await browser.fetch('POST', page.path, form)).headers;
      browser.cookies.delete('tollgate_session');
      await signIn(browser, await newPerson(gateway));
      const answer = await browser.open(location);
      assert.doesNotMatch(answer.headers.location ?? '', /[?&]code=/);
    },
  ],
];

const browsers: readonly Row[] = [
  [
    'a frame around the pages where people decide',
    async (scene) => {
      const { page } = await asked(scene);
      const refused = await scene.open({ redirect_uri: 'https://evil.example' });
      const signInPage = await scene.open({});
      for (const { headers } of [page, refused, signInPage]) {
        assert.equal(headers['x-frame-options'], 'DENY');
        assert.match(headers['content-security-policy'] ?? '', /frame-ancestors 'none'/);
        assert.match(headers['content-security-policy'] ?? '', /default-src 'none'/);
        assert.equal(headers['referrer-policy'], 'same-origin');
        assert.equal(headers['cache-control'], 'no-store');
      }
    },
  ],
  [
    'the name of an app that is markup',
    async (scene) => {
      const { page } = await asked(scene);
      assert.doesNotMatch(page.text, /<script|<img src=x/);
      assert.match(page.text, /&lt;script&gt;/);
    },
    { name: '<script>alert(1)</script><img src=x>' },
  ],
  [
    'a session that was planted before the sign-in',
    async (scene) => {
      const browser = scene.browser();
      const planted = 'A'.repeat(43);
      browser.cookies.set('tollgate_session', planted);
      await authorize(browser, scene.person, scene.request());
      assert.notEqual(browser.cookies.get('tollgate_session'), planted);
      const attacker = scene.browser();
      attacker.cookies.set('tollgate_session', planted);
      assert.match((await openAuthorization(attacker, scene.request().path)).path, /^\/sign-in/);
    },
  ],
  [
    'cookies that scripts and other sites could use',
    async (scene) => {
      const browser = scene.browser();
      await authorize(browser, scene.person, scene.request());
      assert.ok(browser.setCookies.length >= 3);
      for (const cookie of browser.setCookies) {
        assert.match(cookie, /; ?httponly/i);
        assert.match(cookie, /; ?samesite=lax/i);
        assert.doesNotMatch(cookie, /; ?domain=/i);
      }
    },
  ],
  [
    'a redirect that repeats the form, with the password in it, at the app',
    async (scene) => {
      const { browser, page } = await asked(scene);
      const answer = await browser.submit(page, allow(scene));
      // 307 and 308 would send the form again.
      assert.ok([302, 303].includes(answer.status));
    },
  ],
  ...['/oauth/register', '/oauth/reg', '/reg', '/register', '/connect/register'].map(
    (path): Row => [
      `registration by an app itself at ${path}`,
      async () => {
        const body = JSON.stringify({ redirect_uris: ['https://evil.example'] });
        const headers = { 'content-type': 'application/json' };
        const answer = await request(gateway.url + path, { method: 'POST', headers, body });
        await answer.body.dump();
        assert.equal(answer.statusCode, 404);
      },
    ],
  ),
];

attackRows(() => gateway, [...lookalikes, ...redirects, ...requests, ...states, ...decisions, ...browsers]);
