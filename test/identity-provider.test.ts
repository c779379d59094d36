import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { openDb } from '../src/db/index.ts';
import {
  PROVIDER_ANSWER_BYTES_MAX,
  PROVIDER_METADATA_MS,
  PROVIDER_SIGN_IN_MS,
  SIGN_INS_PER_ADDRESS_RPM,
} from '../src/limits.ts';
import { Browser, type Page } from './support/browser.ts';
import { silentLog } from './support/database.ts';
import { Gateway } from './support/gateway.ts';
import { IdentityProvider } from './support/identity-provider.ts';
import { captureLog, dumpOf } from './support/leaks.ts';

const PUBLIC_URL = 'http://127.0.0.1:18787';
const CALLBACK = `${PUBLIC_URL}/sign-in/callback`;

let provider: IdentityProvider;
let gateway: Gateway;
before(async () => {
  provider = await IdentityProvider.start({ redirectUri: CALLBACK });
  gateway = await Gateway.start({ settings: { PUBLIC_URL, ...provider.settings } });
});
after(async () => {
  await gateway.stop();
  await provider.stop();
});
// Every browser of the tests has one address, whose bucket fills with time.
beforeEach(() => gateway.clock.advance(60));

let people = 0;

/** A person whom the provider knows, and whose email is new here. */
function newIdentity(claims: Record<string, unknown> = {}): { subject: string; email: string } {
  const subject = `subject-${++people}`;
  const email = `grace-${people}@example.com`;
  provider.person = { subject, claims: { email, email_verified: true, name: 'Grace Hopper', ...claims } };
  return { subject, email };
}

/** A person whom both know by the same email. */
async function knownIdentity(claims: Record<string, unknown> = {}): Promise<{ email: string; accountId: string }> {
  const { email } = newIdentity(claims);
  const account = await gateway.admin('POST', '/accounts', { name: 'Grace', email });
  assert.equal(account.status, 200, account.text);
  return { email, accountId: account.json.id };
}

const newBrowser = (at: Gateway = gateway) => new Browser(at.url, at.config.publicUrl);

async function begin(browser: Browser, next = '/'): Promise<string> {
  const out = await browser.fetch('GET', `/sign-in/provider?next=${encodeURIComponent(next)}`);
  assert.equal(out.status, 303, out.text);
  return out.headers.location ?? '';
}

/** What the gateway answers to the return. */
async function finish(browser: Browser, back: URL): Promise<Page> {
  return browser.fetch('GET', back.pathname + back.search);
}

async function signIn(browser: Browser = newBrowser(), next = '/'): Promise<Page> {
  return finish(browser, await provider.visit(await begin(browser, next)));
}

async function rowsOf<Row extends object>(at: Gateway, sql: string, values: unknown[] = []): Promise<Row[]> {
  const db = openDb(at.database.address, silentLog);
  try {
    return await db.rows<Row>(sql, values);
  } finally {
    await db.close();
  }
}

async function refusals(at: Gateway = gateway): Promise<{ reason: string; method: string }[]> {
  const { data } = (await at.admin('GET', '/audit?limit=100')).json;
  return data
    .filter((row: { action: string }) => row.action === 'session.refused')
    .map((row: { detail: unknown }) => row.detail);
}

async function assertRefused(page: Page, browser: Browser, reason: string, at: Gateway = gateway): Promise<void> {
  assert.equal(page.status, 401, page.text);
  assert.match(page.headers['content-type'] ?? '', /text\/html/);
  assert.match(page.text, /sign_in_refused · req_\w+/);
  assert.ok(!browser.cookies.has('tollgate_session'));
  assert.equal((await refusals(at))[0]?.reason, reason);
  assert.equal((await refusals(at))[0]?.method, 'identity_provider');
}

// biome-ignore lint/suspicious/noExplicitAny: a body of the admin routes
async function personOf(email: string, at: Gateway = gateway): Promise<any> {
  const { data } = (await at.admin('GET', '/people?limit=100')).json;
  return data.find((person: { email: string }) => person.email === email);
}

async function withGateway(settings: Record<string, string>, work: (at: Gateway) => Promise<void>): Promise<void> {
  const at = await Gateway.start({ settings: { PUBLIC_URL, ...provider.settings, ...settings } });
  try {
    await work(at);
  } finally {
    await at.stop();
  }
}

async function signInAt(at: Gateway, browser: Browser = newBrowser(at)): Promise<Page> {
  at.clock.advance(60);
  return finish(browser, await provider.visit(await begin(browser)));
}

test('R-522: a visitor is told the identity provider’s name, and the page that leads there', async () => {
  const { json } = await gateway.call('GET', '/api/console/site');
  const { name, url } = json.identity_provider;
  assert.equal(name, gateway.config.oidc?.name);
  assert.equal((await newBrowser().fetch('GET', new URL(url).pathname)).status, 303);
});

test('a person signs in by the identity provider, and the subject is bound on first use', async () => {
  const { email, accountId } = await knownIdentity();
  const browser = newBrowser();
  const page = await browser.open('/sign-in?next=/%3Fa=1');
  assert.match(page.text, /href="\/sign-in\/provider\?next=%2F%3Fa%3D1">Continue with single sign-on</);
  const answer = await signIn(browser);
  assert.equal(answer.status, 303);
  const home = await browser.open('/account');
  assert.match(home.text, new RegExp(email));
  assert.match(home.text, new RegExp(accountId));
  const [session] = await rowsOf<{ method: string }>(
    gateway,
    'select method from sessions s join people p on p.id = s.person_id where p.email = $1',
    [email],
  );
  assert.equal(session?.method, 'identity_provider');
  // From now on the email does not matter, verified or not.
  provider.person = { ...provider.person, claims: { email: 'other@example.com' } };
  const again = newBrowser();
  assert.equal((await signIn(again)).status, 303);
  assert.match((await again.open('/account')).text, new RegExp(email));
});

test('the request has PKCE by S256, state and nonce, and no secret of the sign-in is in an address but the state', async () => {
  newIdentity();
  const browser = newBrowser();
  const { searchParams: sent } = new URL(await begin(browser));
  assert.equal(sent.get('response_type'), 'code');
  assert.equal(sent.get('code_challenge_method'), 'S256');
  assert.equal(sent.get('redirect_uri'), CALLBACK);
  assert.equal(sent.get('scope'), 'openid email profile');
  for (const name of ['state', 'nonce', 'code_challenge']) assert.match(sent.get(name) ?? '', /^[\w-]{43}$/);
  const cookie = browser.cookies.get('tollgate_sign_in') ?? '';
  for (const value of sent.values()) assert.ok(!Buffer.from(cookie, 'base64').toString('latin1').includes(value));
});

test('without the settings there is no button and no route', async () => {
  const plain = await Gateway.start();
  try {
    const browser = newBrowser(plain);
    assert.doesNotMatch((await browser.open('/sign-in')).text, /provider/);
    assert.equal((await browser.fetch('GET', '/sign-in/provider')).status, 404);
    assert.equal((await browser.fetch('GET', '/sign-in/callback')).status, 404);
  } finally {
    await plain.stop();
  }
});

test('an email that the provider has not verified matches no one and makes no one', async () => {
  for (const claims of [{ email_verified: false }, { email_verified: 'true' }, { email_verified: undefined }]) {
    const { email } = await knownIdentity(claims);
    const browser = newBrowser();
    await assertRefused(await signIn(browser), browser, 'email_unverified');
    assert.equal((await personOf(email)).last_sign_in_at, null);
    gateway.clock.advance(60);
  }
  await withGateway({ OIDC_SIGNUP: 'create' }, async (at) => {
    const { email } = newIdentity({ email_verified: false });
    const browser = newBrowser(at);
    await assertRefused(await signInAt(at, browser), browser, 'email_unverified', at);
    assert.equal(await personOf(email, at), undefined);
  });
});

test('an unknown person is refused where people are matched, and nothing is made', async () => {
  const { email } = newIdentity();
  const browser = newBrowser();
  const page = await signIn(browser);
  await assertRefused(page, browser, 'unknown_person');
  assert.match(page.text, /Ask an operator for an invitation/);
  assert.equal(await personOf(email), undefined);
});

test('an unknown person is made with an account of their own where that is allowed', async () => {
  await withGateway({ OIDC_SIGNUP: 'create' }, async (at) => {
    const { email } = newIdentity({ name: 'Grace\u202e Hopper\n' });
    const browser = newBrowser(at);
    assert.equal((await signInAt(at, browser)).status, 303);
    const home = await browser.open('/account');
    assert.match(home.text, /<h1>Grace Hopper<\/h1>/);
    assert.match(home.text, /acct_\w+[\s\S]*owner/);
    const accounts = (await at.admin('GET', '/accounts')).json.data;
    assert.deepEqual(accounts.find((account: { email: string }) => account.email === email).groups, ['default']);
    const actions = (await at.admin('GET', '/audit')).json.data.map((row: { action: string }) => row.action);
    for (const action of ['person.create', 'account.create', 'person.bind', 'session.start'])
      assert.ok(actions.includes(action), action);
    await at.assertBooksBalance();
  });
});

test('two first sign-ins at once make one person with one account', async () => {
  await withGateway({ OIDC_SIGNUP: 'create' }, async (at) => {
    const { email } = newIdentity();
    const browsers = Array.from({ length: 4 }, () => newBrowser(at));
    const backs = await Promise.all(browsers.map(async (browser) => provider.visit(await begin(browser))));
    const answers = await Promise.all(
      browsers.map((browser, index) => finish(browser, backs[index] ?? new URL(CALLBACK))),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [303, 303, 303, 303],
    );
    const count = `select (select count(*) from people where email = $1)::int as people,
      (select count(*) from accounts where email = $1)::int as accounts`;
    assert.deepEqual(await rowsOf(at, count, [email]), [{ people: 1, accounts: 1 }]);
  });
});

test('a disabled person is refused, bound or not', async () => {
  const { email } = await knownIdentity();
  const { id } = await personOf(email);
  await gateway.admin('PATCH', `/people/${id}`, { disabled: true });
  const browser = newBrowser();
  await assertRefused(await signIn(browser), browser, 'disabled');
  await gateway.admin('PATCH', `/people/${id}`, { disabled: false });
  assert.equal((await signIn()).status, 303);
  await gateway.admin('PATCH', `/people/${id}`, { disabled: true });
  const other = newBrowser();
  await assertRefused(await signIn(other), other, 'disabled');
});

test('an email that changes hands at the provider does not take over its first owner', async () => {
  const { email } = await knownIdentity();
  assert.equal((await signIn()).status, 303);
  provider.person = { subject: 'newcomer', claims: { email: email.toUpperCase(), email_verified: true } };
  const browser = newBrowser();
  await assertRefused(await signIn(browser), browser, 'bound_elsewhere');
});

test('a return without the cookie, from another browser, or with another state is refused', async () => {
  await knownIdentity();
  const browser = newBrowser();
  const back = await provider.visit(await begin(browser));
  const stranger = newBrowser();
  await assertRefused(await finish(stranger, back), stranger, 'not_begun_here');
  const other = newBrowser();
  await begin(other);
  await assertRefused(await finish(other, back), other, 'not_begun_here');
  const forger = newBrowser();
  forger.cookies.set('tollgate_sign_in', Buffer.from('{"state":"x"}').toString('base64'));
  await assertRefused(await finish(forger, back), forger, 'not_begun_here');
  const bare = newBrowser();
  await begin(bare);
  await assertRefused(await finish(bare, new URL(CALLBACK)), bare, 'not_begun_here');
  assert.equal((await finish(browser, back)).status, 303);
});

test('a return that is replayed with its cookie is refused, also by another process, without asking the provider', async () => {
  await knownIdentity();
  const browser = newBrowser();
  const back = await provider.visit(await begin(browser));
  const cookie = browser.cookies.get('tollgate_sign_in') ?? '';
  const second = await Gateway.start({
    settings: { PUBLIC_URL, ...provider.settings },
    database: gateway.database,
    clock: gateway.clock,
  });
  try {
    // Begun at one process, finished at the other.
    const there = newBrowser(second);
    there.cookies.set('tollgate_sign_in', cookie);
    assert.equal((await finish(there, back)).status, 303);
    assert.ok(!there.cookies.has('tollgate_sign_in'));
    const asked = provider.requests.length;
    for (const at of [gateway, second]) {
      const replayer = newBrowser(at);
      replayer.cookies.set('tollgate_sign_in', cookie);
      await assertRefused(await finish(replayer, back), replayer, 'not_begun_here');
    }
    assert.equal(provider.requests.length, asked);
  } finally {
    await second.stop();
  }
});

test('a sign-in may take ten minutes, and not a moment more', async () => {
  await knownIdentity();
  const [early, late] = [newBrowser(), newBrowser()];
  const lateBack = await provider.visit(await begin(late));
  const earlyBack = await provider.visit(await begin(early));
  gateway.clock.advance(PROVIDER_SIGN_IN_MS / 1000 - 0.001);
  assert.equal((await finish(early, earlyBack)).status, 303);
  gateway.clock.advance(0.001);
  await assertRefused(await finish(late, lateBack), late, 'not_begun_here');
});

test('a wrong nonce, a wrong issuer, a wrong code and a refusal of the provider are no proof', async () => {
  await knownIdentity();
  const tampered: ((url: URL) => void)[] = [
    (url) => url.searchParams.set('iss', 'https://evil.example'),
    (url) => url.searchParams.delete('iss'),
    (url) => url.searchParams.set('code', 'x'.repeat(43)),
    (url) => url.searchParams.append('code', 'y'),
    (url) => url.searchParams.delete('code'),
    (url) => {
      url.searchParams.delete('code');
      url.searchParams.set('error', 'access_denied');
      url.searchParams.set('error_description', 'words-of-the-provider');
    },
  ];
  for (const tamper of tampered) {
    const browser = newBrowser();
    const back = await provider.visit(await begin(browser));
    tamper(back);
    const page = await finish(browser, back);
    await assertRefused(page, browser, 'no_proof');
    assert.doesNotMatch(page.text, /words-of-the-provider|evil/);
  }
  const browser = newBrowser();
  const out = new URL(await begin(browser));
  out.searchParams.set('nonce', 'another-nonce-than-the-one-of-this-browser');
  await assertRefused(await finish(browser, await provider.visit(out.href)), browser, 'no_proof');
});

test('a provider that is down gives a page with 503, at either end, and the next try works when it is up again', async () => {
  await knownIdentity();
  // What it says of itself is older than may be used, so it is asked again.
  gateway.clock.advance(PROVIDER_METADATA_MS / 1000);
  await provider.stop();
  const browser = newBrowser();
  const away = await browser.fetch('GET', '/sign-in/provider');
  assert.equal(away.status, 503);
  assert.match(away.headers['content-type'] ?? '', /text\/html/);
  assert.match(away.text, /cannot be reached at the moment[\s\S]*sign_in_unavailable · req_\w+/);
  await provider.startAgain();
  const back = await provider.visit(await begin(browser));
  await provider.stop();
  assert.equal((await finish(browser, back)).status, 503);
  await provider.startAgain();
  assert.equal((await signIn(browser)).status, 303);
});

for (const [name, status, body] of [
  ['answers more than a mebibyte', 200, `{"x":"${'x'.repeat(PROVIDER_ANSWER_BYTES_MAX)}"}`],
  ['fails', 500, '{}'],
  ['says to be another', 200, '{"issuer":"https://evil.example","authorization_endpoint":"https://evil.example/a"}'],
] as const) {
  test(`a provider that ${name} is not used`, async () => {
    const strange = createServer((_request, answer) => {
      answer.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
    await new Promise<void>((resolve) => strange.listen(0, '127.0.0.1', resolve));
    const OIDC_ISSUER = `http://127.0.0.1:${(strange.address() as AddressInfo).port}`;
    try {
      await withGateway({ OIDC_ISSUER }, async (at) => {
        assert.equal((await newBrowser(at).fetch('GET', '/sign-in/provider')).status, 503);
      });
    } finally {
      strange.closeAllConnections();
      strange.close();
    }
  });
}

test('a provider that tells email and groups at its userinfo endpoint, or takes the secret in the body, will do', async () => {
  for (const options of [{ atUserinfoOnly: true }, { authMethod: 'client_secret_post' as const }]) {
    const other = await IdentityProvider.start({ redirectUri: CALLBACK, ...options });
    try {
      await withGateway({ ...other.settings, OIDC_SIGNUP: 'create', OIDC_GROUPS: 'admins=operator' }, async (at) => {
        other.person = { subject: 'ida', claims: { email: 'ida@example.com', email_verified: true, groups: 'admins' } };
        const browser = newBrowser(at);
        assert.equal((await finish(browser, await other.visit(await begin(browser)))).status, 303);
        assert.equal((await browser.fetch('GET', '/api/admin/accounts')).status, 200);
      });
    } finally {
      await other.stop();
    }
  }
});

test('the cookie of a sign-in under way is HttpOnly and Lax, and on https Secure with the __Host- prefix', async () => {
  const browser = newBrowser();
  await begin(browser);
  assert.match(
    browser.setCookies[0] ?? '',
    /^tollgate_sign_in=[\w+/=]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
  );
  const https = 'https://gate.example';
  const other = await IdentityProvider.start({ redirectUri: `${https}/sign-in/callback` });
  try {
    await withGateway({ ...other.settings, PUBLIC_URL: https, OIDC_SIGNUP: 'create' }, async (at) => {
      other.person = { subject: 'ida', claims: { email: 'ida@example.com', email_verified: true } };
      const secure = newBrowser(at);
      const back = await other.visit(await begin(secure));
      assert.equal(back.origin, https);
      assert.equal((await finish(secure, back)).status, 303);
      const [kept, cleared, session] = secure.setCookies;
      assert.match(kept ?? '', /^__Host-tollgate_sign_in=\S+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/);
      assert.match(cleared ?? '', /^__Host-tollgate_sign_in=; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=0$/);
      assert.match(session ?? '', /^__Host-tollgate_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; /);
    });
  } finally {
    await other.stop();
  }
});

test('a sign-in leads to a path of this site and to no other site', async () => {
  await knownIdentity();
  const paths: [next: string, leadsTo: string][] = [
    ['/?tab=keys', '/?tab=keys'],
    ['https://evil.example/', '/'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/a\nSet-Cookie: x=y', '/'],
    ['javascript:alert(1)', '/'],
    ['', '/'],
  ];
  for (const [next, leadsTo] of paths) {
    const page = await signIn(newBrowser(), next);
    assert.equal(page.headers.location, leadsTo, next);
  }
});

test('a sign-in ends the session that the browser had', async () => {
  await knownIdentity();
  const browser = newBrowser();
  await signIn(browser);
  const first = browser.cookies.get('tollgate_session') ?? '';
  await signIn(browser);
  const old = newBrowser();
  old.cookies.set('tollgate_session', first);
  assert.equal((await old.open('/account')).path, '/sign-in?next=/account');
});

test('an address begins and ends as many sign-ins as its allowance has, and not one more', async () => {
  const statuses: number[] = [];
  for (let count = 0; count <= 2 * SIGN_INS_PER_ADDRESS_RPM; count++) {
    statuses.push(
      (await newBrowser().fetch('GET', count % 2 === 0 ? '/sign-in/callback' : '/sign-in/provider')).status,
    );
  }
  const expected = Array.from({ length: 2 * SIGN_INS_PER_ADDRESS_RPM }, (_, count) => (count % 2 === 0 ? 401 : 303));
  assert.deepEqual(statuses, [...expected, 429]);
});

test('neither codes, states, cookies nor the client’s secret are in the log or the database', async () => {
  const captured = captureLog();
  const settings = { PUBLIC_URL, ...provider.settings, OIDC_SIGNUP: 'create' };
  const at = await Gateway.start({ settings, log: captured.log });
  try {
    newIdentity();
    const browser = newBrowser(at);
    const back = await provider.visit(await begin(browser));
    const attempt = browser.cookies.get('tollgate_sign_in');
    const { searchParams: sent } = back;
    assert.equal((await finish(browser, back)).status, 303);
    const all = captured.text() + (await dumpOf(at.database));
    assert.match(all, /\/sign-in\/callback/);
    const { OIDC_CLIENT_SECRET } = provider.settings;
    const session = browser.cookies.get('tollgate_session');
    for (const secret of [sent.get('code'), sent.get('state'), OIDC_CLIENT_SECRET, attempt, session])
      assert.ok(!all.includes(secret ?? 'sign-in'), secret ?? 'none');
  } finally {
    await at.stop();
  }
});
