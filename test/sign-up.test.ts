import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Environment } from '../src/config.ts';
import { LINK_REQUEST_MS, SIGN_INS_PER_ADDRESS_RPM, SIGN_UP_LINK_MS } from '../src/limits.ts';
import { Browser, type Page } from './support/browser.ts';
import { Gateway } from './support/gateway.ts';
import { MailServer } from './support/mail-server.ts';
import { atEnd } from './support/postgres.ts';

const PASSWORD = 'correct horse battery';
const ADA = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };

async function startGateway(t: TestContext, settings: Environment): Promise<Gateway> {
  const gateway = await Gateway.start({ settings });
  atEnd(t, async () => {
    await gateway.assertBooksBalance();
    await gateway.stop();
  });
  return gateway;
}

async function withMail(t: TestContext, settings: Record<string, string>) {
  const mails = await MailServer.start();
  atEnd(t, () => mails.stop());
  const smtp = { SMTP_URL: `smtp://127.0.0.1:${mails.port}`, MAIL_FROM: 'gate@example.com' };
  return { mails, gateway: await startGateway(t, { ...smtp, ...settings }) };
}

const newBrowser = ({ url, config }: Gateway) => new Browser(url, config.publicUrl);

async function signUp(gateway: Gateway, fields: Record<string, string>, browser = newBrowser(gateway)): Promise<Page> {
  return browser.submit(await browser.open('/sign-up'), fields);
}

const accountsOf = async (gateway: Gateway) => (await gateway.admin('GET', '/accounts')).json.data;

test('open sign-up makes a person, an account and its credits at once, where there is no mail', async (t) => {
  const gateway = await startGateway(t, { TOLLGATE_SIGNUP: 'open', TOLLGATE_SIGNUP_CREDITS: '250' });
  const browser = newBrowser(gateway);
  assert.match((await browser.open('/sign-in')).text, /<a href="\/sign-up">/);
  assert.equal((await signUp(gateway, ADA, browser)).path, '/');
  const { json } = await browser.json('GET', '/api/console/session', undefined, '');
  assert.deepEqual([json.person.email, json.account.role], [ADA.email, 'owner']);
  const [account, ...others] = await accountsOf(gateway);
  assert.deepEqual([account.name, account.email, account.balance, others.length], ['Ada', ADA.email, 250, 0]);
  const { data } = (await gateway.admin('GET', `/accounts/${account.id}/ledger`)).json;
  assert.deepEqual([data.length, data[0].type], [1, 'grant']);
});

test('without credits to give, sign-up makes no grant', async (t) => {
  const gateway = await startGateway(t, { TOLLGATE_SIGNUP: 'open' });
  await signUp(gateway, ADA);
  const [account] = await accountsOf(gateway);
  assert.deepEqual((await gateway.admin('GET', `/accounts/${account.id}/ledger`)).json.data, []);
});

test('the same form sent twice, also at once, is one person, one account and one grant, and signs in each time', async (t) => {
  const gateway = await startGateway(t, { TOLLGATE_SIGNUP: 'open', TOLLGATE_SIGNUP_CREDITS: '250' });
  const pages = await Promise.all([1, 2, 3].map(() => signUp(gateway, ADA)));
  assert.deepEqual(
    pages.map(({ path }) => path),
    ['/', '/', '/'],
  );
  const accounts = await accountsOf(gateway);
  assert.deepEqual(
    accounts.map(({ balance }: { balance: number }) => balance),
    [250],
  );
  assert.equal((await gateway.admin('GET', '/people')).json.data.length, 1);
});

test('an email that is taken is told beside its field, changes nothing, and counts as a refused sign-in', async (t) => {
  const gateway = await startGateway(t, { TOLLGATE_SIGNUP: 'open' });
  await signUp(gateway, ADA);
  const page = await signUp(gateway, { ...ADA, email: 'ADA@example.com', password: 'another password' });
  assert.equal(page.status, 409);
  assert.match(page.text, /id="email-problem" role="alert">There is a person with this email already/);
  assert.equal((await accountsOf(gateway)).length, 1);
  assert.equal((await gateway.admin('GET', '/audit?limit=1')).json.data[0].action, 'session.refused');
});

test('what is wrong with a sign-up stands beside its field, and what was typed is kept but the password', async (t) => {
  const gateway = await startGateway(t, { TOLLGATE_SIGNUP: 'open' });
  const { text } = await signUp(gateway, { email: 'a"b', name: 'A\u0000da', password: 'short pass'.slice(0, 9) });
  for (const field of ['email', 'name', 'password'])
    assert.match(text, new RegExp(`<input id="${field}"[^>]*aria-invalid="true"[^>]*>.*id="${field}-problem"`));
  assert.match(text, /value="a&quot;b"/);
  assert.ok(!text.includes('short pas'));
  assert.deepEqual(await accountsOf(gateway), []);
});

test('a form that comes back has its focus on the first field with a problem, and no hint beside it', async (t) => {
  const gateway = await startGateway(t, { TOLLGATE_SIGNUP: 'open' });
  const { text } = await signUp(gateway, { ...ADA, password: 'short' });
  assert.deepEqual(
    [...text.matchAll(/<input id="(\w+)"[^>]* autofocus/g)].map(([, id]) => id),
    ['password'],
  );
  assert.match(text, /aria-describedby="password-problem"/);
  assert.match(text, /<html lang="en">[\s\S]*<title>Sign up · Tollgate<\/title>/);
});

test('sign-ups from one address are refused after the allowance of a minute', async (t) => {
  const gateway = await startGateway(t, { TOLLGATE_SIGNUP: 'open' });
  const statuses: number[] = [];
  for (let number = 0; number <= SIGN_INS_PER_ADDRESS_RPM; number++) {
    const form = { ...ADA, email: `ada-${number}@example.com` };
    statuses.push((await newBrowser(gateway).fetch('POST', '/sign-up', form)).status);
  }
  assert.deepEqual(statuses, [...Array<number>(SIGN_INS_PER_ADDRESS_RPM).fill(303), 429]);
});

test('with mail, sign-up begins with a link that proves the address, and it works once', async (t) => {
  const { mails, gateway } = await withMail(t, { TOLLGATE_SIGNUP: 'open', TOLLGATE_SIGNUP_CREDITS: '250' });
  assert.match((await signUp(gateway, { email: ADA.email })).text, /Look into your mail/);
  const { link, text } = await mails.to(ADA.email);
  assert.match(text, /If it was not you, do nothing: no account is made\./);
  assert.deepEqual(await accountsOf(gateway), []);
  const browser = newBrowser(gateway);
  const page = await browser.open(link);
  // Looking at it is no use of it: programs preview links.
  await browser.open(link);
  assert.match((await browser.submit(page, { name: '', password: PASSWORD })).text, /id="name-problem"/);
  const send = () => browser.fetch('POST', link, { name: 'Ada', password: PASSWORD });
  const statuses = (await Promise.all([send(), send()])).map(({ status }) => status);
  assert.deepEqual(
    statuses.sort((a, b) => a - b),
    [303, 404],
  );
  assert.match((await browser.open('/account')).text, /ada@example\.com/);
  const accounts = await accountsOf(gateway);
  assert.deepEqual(
    accounts.map(({ name, balance }: { name: string; balance: number }) => [name, balance]),
    [['Ada', 250]],
  );
});

test('with mail, an address that can sign in is answered as any other, and mailed a link that sets its password', async (t) => {
  const { mails, gateway } = await withMail(t, { TOLLGATE_SIGNUP: 'open' });
  await gateway.admin('POST', '/accounts', ADA);
  const answer = async (email: string) => (await signUp(gateway, { email })).text.replaceAll(email, 'EMAIL');
  assert.equal(await answer(ADA.email), await answer('eve@example.com'));
  const mail = await mails.to(ADA.email);
  assert.match(mail.headers, /^Subject: You can sign in to Tollgate/m);
  assert.match((await newBrowser(gateway).open(mail.link)).text, /Choose a password/);
  assert.equal((await accountsOf(gateway)).length, 1);
});

test('a link to sign up expires, and is not mailed twice in a quarter of an hour', async (t) => {
  const { mails, gateway } = await withMail(t, { TOLLGATE_SIGNUP: 'open' });
  await signUp(gateway, { email: ADA.email });
  const { link } = await mails.to(ADA.email);
  gateway.clock.advance(LINK_REQUEST_MS / 1000 - 1);
  await signUp(gateway, { email: ADA.email });
  await signUp(gateway, { email: 'eve@example.com' });
  await mails.to('eve@example.com');
  assert.equal(mails.mails.filter(({ to }) => to === ADA.email).length, 1);
  gateway.clock.advance((SIGN_UP_LINK_MS - LINK_REQUEST_MS) / 1000);
  assert.equal((await newBrowser(gateway).open(link)).status, 200);
  gateway.clock.advance(1);
  assert.equal((await newBrowser(gateway).open(link)).status, 404);
});

for (const mode of ['invite', 'closed']) {
  test(`with sign-up ${mode}, no one signs up unasked, and no page leads there`, async (t) => {
    const gateway = await startGateway(t, { TOLLGATE_SIGNUP: mode });
    const browser = newBrowser(gateway);
    assert.doesNotMatch((await browser.open('/sign-in')).text, /sign-up/);
    assert.deepEqual(
      [(await browser.open('/sign-up')).status, (await browser.fetch('POST', '/sign-up', ADA)).status],
      [403, 403],
    );
    assert.deepEqual(await accountsOf(gateway), []);
  });
}

test('with sign-up closed, invitations are neither made nor accepted, and operators make accounts with their owners', async (t) => {
  const gateway = await startGateway(t, { TOLLGATE_SIGNUP: 'closed' });
  const inviting = await Gateway.start({ database: gateway.database, clock: gateway.clock });
  atEnd(t, () => inviting.stop());
  const account = (await gateway.admin('POST', '/accounts', { name: 'Ada', email: ADA.email })).json;
  const invited = { email: 'eve@example.com', role: 'member' };
  const { url } = (await inviting.admin('POST', `/accounts/${account.id}/invitations`, invited)).json;
  const { pathname } = new URL(url);
  assert.equal((await newBrowser(gateway).open(pathname)).status, 403);
  const join = { name: 'Eve', password: PASSWORD };
  assert.equal((await newBrowser(gateway).fetch('POST', pathname, join)).status, 403);
  for (const [path, body] of [
    [`/accounts/${account.id}/invitations`, invited],
    ['/operators', { email: 'eve@example.com', operator_role: 'operator' }],
  ] as const) {
    const refused = await gateway.admin('POST', path, body);
    assert.deepEqual([refused.status, refused.json.error.code], [403, 'sign_up_closed']);
  }

  const [{ id }] = (await gateway.admin('GET', '/people')).json.data;
  const made = (await gateway.admin('POST', `/people/${id}/password-link`)).json;
  const browser = newBrowser(gateway);
  await browser.submit(await browser.open(new URL(made.url).pathname), { password: PASSWORD });
  const refused = await browser.json('POST', '/api/console/invitations', invited, await browser.csrf());
  assert.deepEqual([refused.status, refused.json.error.code], [403, 'sign_up_closed']);
  // What was refused there is not used up.
  const eve = newBrowser(inviting);
  assert.equal((await eve.submit(await eve.open(pathname), join)).path, '/');
});

test('without mail, who forgot a password is told to ask an operator', async (t) => {
  const gateway = await startGateway(t, {});
  const browser = newBrowser(gateway);
  assert.match((await browser.open('/sign-in')).text, /<a href="\/forgot-password">/);
  assert.match((await browser.open('/forgot-password')).text, /Ask an operator/);
  assert.match((await browser.fetch('POST', '/forgot-password', { email: ADA.email })).text, /Ask an operator/);
});

test('an account keeps its last owner, who accepts an invitation to a lower role', async (t) => {
  const gateway = await startGateway(t, {});
  const { id: accountId } = (await gateway.admin('POST', '/accounts', ADA)).json;
  const browser = newBrowser(gateway);
  await browser.submit(await browser.open('/sign-in'), ADA);
  const invited = { email: ADA.email, role: 'viewer' };
  const { url } = (await gateway.admin('POST', `/accounts/${accountId}/invitations`, invited)).json;
  await browser.submit(await browser.open(new URL(url).pathname), {});
  assert.equal((await browser.json('GET', '/api/console/session', undefined, '')).json.account.role, 'owner');
});
