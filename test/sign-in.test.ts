import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDb } from '../src/db/index.ts';
import {
  SESSION_IDLE_MS_MAX,
  SESSION_MS_MAX,
  SIGN_INS_PER_ADDRESS_RPM,
  SIGN_INS_PER_EMAIL_RPM,
} from '../src/limits.ts';
import { hashPassword } from '../src/people/password.ts';
import { Browser } from './support/browser.ts';
import { silentLog } from './support/database.ts';
import { Gateway } from './support/gateway.ts';
import { atEnd } from './support/postgres.ts';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());

const newBrowser = () => new Browser(gateway.url, gateway.config.publicUrl);

let people = 0;

/** Whose id an operator needs to do something with them. */
async function personId(email: string): Promise<string> {
  const { data } = (await gateway.admin('GET', '/people?limit=100')).json;
  return data.find((person: { email: string }) => person.email === email).id;
}

async function newPerson(
  password = 'correct horse battery',
): Promise<{ email: string; password: string; accountId: string }> {
  const email = `ada-${++people}@example.com`;
  const account = await gateway.admin('POST', '/accounts', { name: `Ada ${people}`, email, password });
  assert.equal(account.status, 200, account.text);
  // Every person comes from the one address of the tests, whose bucket fills with time.
  gateway.clock.advance(60);
  return { email, password, accountId: account.json.id };
}

test('a person signs in with email and password, and sees who is signed in', async () => {
  const { email, password } = await newPerson();
  const browser = newBrowser();
  const first = await browser.open('/account');
  assert.equal(first.path, '/sign-in?next=/account');
  const home = await browser.submit(first, { email: email.toUpperCase(), password });
  assert.equal(home.path, '/account');
  assert.match(home.text, new RegExp(email));
  assert.match(home.text, /this one/);
});

test('the cookie is HttpOnly, Lax, for the whole site, and on https Secure with the __Host- prefix', async () => {
  const { email, password } = await newPerson();
  const browser = newBrowser();
  await browser.submit(await browser.open('/sign-in'), { email, password });
  assert.match(
    browser.setCookies.at(-1) ?? '',
    /^tollgate_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/,
  );
  const secure = await Gateway.start({ settings: { PUBLIC_URL: 'https://gate.example' } });
  try {
    await secure.admin('POST', '/accounts', { name: 'Bob', email: 'bob@example.com', password });
    const other = new Browser(secure.url, 'https://gate.example');
    await other.submit(await other.open('/sign-in'), { email: 'bob@example.com', password });
    assert.match(
      other.setCookies.at(-1) ?? '',
      /^__Host-tollgate_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=\d+$/,
    );
  } finally {
    await secure.stop();
  }
});

test('a wrong password, an unknown email and a person without a password are one answer', async () => {
  const { email } = await newPerson();
  await gateway.admin('POST', '/accounts', { name: 'No password', email: `none-${email}` });
  const texts = new Set<string>();
  for (const tried of [email, `none-${email}`, 'nobody@example.com']) {
    const browser = newBrowser();
    const page = await browser.submit(await browser.open('/sign-in'), { email: tried, password: 'wrong password' });
    assert.equal(page.status, 401);
    assert.deepEqual(browser.setCookies, []);
    texts.add(page.text.replaceAll(tried, 'EMAIL'));
  }
  assert.equal(texts.size, 1);
});

test('guesses at one email are refused after the allowance of a minute, also with the right password', async () => {
  const { email, password } = await newPerson();
  const statuses: number[] = [];
  for (let guess = 0; guess <= SIGN_INS_PER_EMAIL_RPM; guess++) {
    const browser = newBrowser();
    statuses.push((await browser.submit(await browser.open('/sign-in'), { email, password: 'wrong password' })).status);
  }
  assert.deepEqual(statuses, [...Array(SIGN_INS_PER_EMAIL_RPM).fill(401), 429]);
  const browser = newBrowser();
  assert.equal((await browser.submit(await browser.open('/sign-in'), { email, password })).status, 429);
  gateway.clock.advance(60);
  assert.equal((await browser.submit(await browser.open('/sign-in'), { email, password })).path, '/');
});

test('guesses from one address at many emails are refused after the allowance of a minute', async () => {
  gateway.clock.advance(60);
  const statuses: number[] = [];
  for (let guess = 0; guess <= SIGN_INS_PER_ADDRESS_RPM; guess++) {
    const browser = newBrowser();
    const email = `guess-${guess}@example.com`;
    statuses.push((await browser.submit(await browser.open('/sign-in'), { email, password: 'wrong password' })).status);
  }
  assert.deepEqual(statuses, [...Array(SIGN_INS_PER_ADDRESS_RPM).fill(401), 429]);
});

test('a sign-in ends the session that the browser had, and a planted cookie opens nothing', async () => {
  const { email, password } = await newPerson();
  const browser = newBrowser();
  browser.cookies.set('tollgate_session', 'A'.repeat(43));
  await browser.submit(await browser.open('/sign-in'), { email, password });
  const first = browser.cookies.get('tollgate_session');
  assert.notEqual(first, 'A'.repeat(43));
  const link = await browser.fetch('POST', '/sign-in', { email, password });
  assert.equal(link.status, 303);
  const old = newBrowser();
  old.cookies.set('tollgate_session', first ?? '');
  assert.equal((await old.open('/account')).path, '/sign-in?next=/account');
});

test('signing out ends the session on the server, and needs the token of the page', async () => {
  const { email, password } = await newPerson();
  const browser = newBrowser();
  await browser.submit(await browser.open('/sign-in'), { email, password });
  const home = await browser.open('/account');
  const cookie = browser.cookies.get('tollgate_session') ?? '';
  assert.equal((await browser.fetch('POST', '/sign-out', { csrf: 'x'.repeat(43) })).status, 403);
  assert.equal((await browser.submit(home, {})).path, '/sign-in');
  browser.cookies.set('tollgate_session', cookie);
  assert.equal((await browser.open('/account')).path, '/sign-in?next=/account');
});

for (const [name, headers] of [
  ['another origin', { origin: 'https://evil.example' }],
  ['no origin at all, from another site', { origin: '', 'sec-fetch-site': 'cross-site' }],
] as const) {
  test(`a form that comes from ${name} is refused before it is read`, async () => {
    const { email, password } = await newPerson();
    const answer = await newBrowser().fetch('POST', '/sign-in', { email, password }, headers);
    assert.equal(answer.status, 403);
    assert.match(answer.text, /csrf_refused/);
  });
}

for (const [next, path] of [
  ['/oauth/authorize?x=1', '/oauth/authorize?x=1'],
  ['//evil.example/', '/'],
  ['/\\evil.example', '/'],
  ['https://evil.example/', '/'],
  ['javascript:alert(1)', '/'],
] as const) {
  test(`after a sign-in with next=${next} the browser goes to ${path}`, async () => {
    const { email, password } = await newPerson();
    const answer = await newBrowser().fetch('POST', '/sign-in', { email, password, next });
    assert.deepEqual([answer.status, answer.headers.location], [303, path]);
  });
}

test('a session ends when it is idle for too long, and at its end however busy it is', async () => {
  const { email, password } = await newPerson();
  const browser = newBrowser();
  await browser.submit(await browser.open('/sign-in'), { email, password });
  gateway.clock.advance(SESSION_IDLE_MS_MAX / 1000 - 1);
  assert.equal((await browser.open('/account')).path, '/account');
  gateway.clock.advance(SESSION_IDLE_MS_MAX / 1000);
  assert.equal((await browser.open('/account')).path, '/sign-in?next=/account');

  const busy = newBrowser();
  await busy.submit(await busy.open('/sign-in'), { email, password });
  const days = SESSION_MS_MAX / 86_400_000;
  for (let day = 1; day < days; day++) {
    gateway.clock.advance(86_400);
    assert.equal((await busy.open('/account')).path, '/account', `day ${day}`);
  }
  gateway.clock.advance(86_400);
  assert.equal((await busy.open('/account')).path, '/sign-in?next=/account');
});

test('pages may not be framed, load nothing and keep nothing in caches', async () => {
  const { headers } = await newBrowser().open('/sign-in');
  assert.match(headers['content-security-policy'] ?? '', /default-src 'none'.*frame-ancestors 'none'/);
  assert.equal(headers['x-frame-options'], 'DENY');
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['referrer-policy'], 'same-origin');
});

test('neither a key nor a session of no operator opens an operator route, and an auditor only reads', async () => {
  const { email, password } = await newPerson();
  const browser = newBrowser();
  await browser.submit(await browser.open('/sign-in'), { email, password });
  assert.equal((await browser.fetch('GET', '/api/admin/accounts')).status, 404);
  const id = await personId(email);
  const setRole = (role: string | null) => gateway.admin('PATCH', `/people/${id}`, { operator_role: role });
  await setRole('auditor');
  assert.equal((await browser.fetch('GET', '/api/admin/accounts')).status, 200);
  const change = await browser.json('POST', '/api/admin/accounts', { name: 'x' }, await browser.csrf());
  assert.deepEqual([change.status, change.json.error.code], [403, 'insufficient_role']);
  await setRole('operator');
  assert.equal((await browser.json('POST', '/api/admin/accounts', { name: 'x' }, '')).json.error.code, 'csrf_refused');
  assert.equal((await browser.json('POST', '/api/admin/accounts', { name: 'x' }, await browser.csrf())).status, 200);
  const audit = await gateway.admin('GET', '/audit?limit=1');
  assert.equal(audit.json.data[0].actor, email);
});

test('a link that sets a password works once, ends other sessions and signs in', async () => {
  const { email, password } = await newPerson();
  const before = newBrowser();
  await before.submit(await before.open('/sign-in'), { email, password });
  const id = await personId(email);
  const { url } = (await gateway.admin('POST', `/people/${id}/password-link`)).json;
  const path = new URL(url).pathname;
  const browser = newBrowser();
  const page = await browser.open(path);
  assert.equal((await browser.submit(page, { password: 'short' })).status, 200);
  assert.equal((await browser.submit(page, { password: 'a new and longer one' })).path, '/');
  assert.equal((await before.open('/account')).path, '/sign-in?next=/account');
  assert.equal((await newBrowser().open(path)).status, 404);
  const again = newBrowser();
  assert.equal((await again.submit(await again.open('/sign-in'), { email, password })).status, 401);
  const ok = await again.submit(await again.open('/sign-in'), { email, password: 'a new and longer one' });
  assert.equal(ok.path, '/');
});

test('an invitation makes a person with a role in the account; a known person accepts it signed in', async () => {
  const { accountId } = await newPerson();
  const invited = { email: `eve-${people}@example.com`, role: 'viewer' };
  const { url } = (await gateway.admin('POST', `/accounts/${accountId}/invitations`, invited)).json;
  const browser = newBrowser();
  const page = await browser.open(new URL(url).pathname);
  await browser.submit(page, { name: 'Eve', password: 'a password for eve' });
  const home = await browser.open('/account');
  assert.match(home.text, /viewer/);
  assert.match(home.text, new RegExp(accountId));

  const other = await newPerson();
  const second = (
    await gateway.admin('POST', `/accounts/${other.accountId}/invitations`, { ...invited, role: 'owner' })
  ).json;
  const stranger = newBrowser();
  assert.match((await stranger.open(new URL(second.url).pathname)).text, /Sign in as that person/);
  await browser.submit(await browser.open(new URL(second.url).pathname), {});
  assert.match((await browser.open('/account')).text, new RegExp(`${other.accountId}[\\s\\S]*owner`));
});

test('an invitation makes an operator', async () => {
  const { url } = (await gateway.admin('POST', '/operators', { email: 'root@example.com', operator_role: 'operator' }))
    .json;
  const browser = newBrowser();
  await browser.submit(await browser.open(new URL(url).pathname), { name: 'Root', password: 'a password for root' });
  assert.equal((await browser.fetch('GET', '/api/admin/accounts')).status, 200);
});

test('a disabled person is signed out everywhere and cannot sign in', async () => {
  const { email, password } = await newPerson();
  const browser = newBrowser();
  await browser.submit(await browser.open('/sign-in'), { email, password });
  const id = await personId(email);
  assert.equal((await gateway.admin('PATCH', `/people/${id}`, { disabled: true })).json.disabled, true);
  assert.equal((await browser.open('/account')).path, '/sign-in?next=/account');
  assert.equal((await browser.submit(await browser.open('/sign-in'), { email, password })).status, 401);
});

test('a password that was stored at another cost is stored anew at the next sign-in, and opens as before', async (t) => {
  const { email, password } = await newPerson();
  const db = openDb(gateway.database.address, silentLog);
  atEnd(t, () => db.close());
  const cheap = await hashPassword(password, { memoryKib: 64, passes: 1, parallelism: 1 });
  await db.run('update people set verifier = $2 where email = $1', [email, cheap]);
  const stored = async () =>
    (await db.rows<{ verifier: string }>('select verifier from people where email = $1', [email]))[0]?.verifier ?? '';
  const signIn = async (given: string) => {
    const browser = newBrowser();
    return (await browser.submit(await browser.open('/sign-in'), { email, password: given })).path;
  };
  assert.equal(await signIn('a wrong password'), '/sign-in');
  assert.equal(await stored(), cheap);
  assert.equal(await signIn(password), '/');
  const raised = await stored();
  assert.match(raised, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.equal(await signIn(password), '/');
  assert.equal(await stored(), raised);
});

test('an email that no database could hold is refused as any unknown one', async () => {
  gateway.clock.advance(60);
  for (const email of ['a\u0000@example.com', '\ud800@example.com']) {
    const answer = await newBrowser().fetch('POST', '/sign-in', { email, password: 'some password' });
    assert.equal(answer.status, 401);
  }
});
