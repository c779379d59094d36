import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { Secret } from '../src/config.ts';
import { LINK_REQUEST_MS, LINK_REQUESTS_PER_ADDRESS_RPM, MAILS_WAITING_MAX, PASSWORD_LINK_MS } from '../src/limits.ts';
import { Mailer, type Message } from '../src/mail/index.ts';
import { Browser } from './support/browser.ts';
import { selfSigned } from './support/certificate.ts';
import { Gateway } from './support/gateway.ts';
import { MailServer } from './support/mail-server.ts';
import { atEnd, workFolder } from './support/postgres.ts';
import { freePort, ownDatabase, Program } from './support/program.ts';

const FROM = 'Gate <gate@example.com>';
const PASSWORD = 'correct horse battery';

let mails: MailServer;
let gateway: Gateway;
const logged: string[] = [];
before(async () => {
  mails = await MailServer.start();
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const settings = { SMTP_URL: `smtp://127.0.0.1:${mails.port}`, MAIL_FROM: FROM, TOLLGATE_SIGNUP: 'open' };
  gateway = await Gateway.start({ log, settings });
});
after(async () => {
  await gateway.stop();
  await mails.stop();
});

const newBrowser = () => new Browser(gateway.url, gateway.config.publicUrl);
let people = 0;

async function newPerson(): Promise<{ email: string; id: string; accountId: string }> {
  const email = `ada-${++people}@example.com`;
  const account = await gateway.admin('POST', '/accounts', { name: 'Ada', email, password: PASSWORD });
  const { data } = (await gateway.admin('GET', '/people?limit=100')).json;
  gateway.clock.advance(60);
  return { email, id: data.find((one: { email: string }) => one.email === email).id, accountId: account.json.id };
}

async function forgot(email: string): Promise<string> {
  const browser = newBrowser();
  const page = await browser.submit(await browser.open('/forgot-password'), { email });
  return `${page.status} ${page.text.replaceAll(email, 'EMAIL')}`;
}

test('an invitation and a password link go to their address, in plain text and as a page, and are answered too', async () => {
  const { accountId, id, email } = await newPerson();
  const to = `eve-${people}@example.com`;
  const invited = await gateway.admin('POST', `/accounts/${accountId}/invitations`, { email: to, role: 'viewer' });
  const mail = await mails.to(to);
  assert.equal(mail.from, 'gate@example.com');
  assert.match(mail.headers, /^From: Gate <gate@example\.com>/m);
  assert.match(mail.headers, /^Subject: You are invited to Tollgate/m);
  assert.match(mail.text, /invited you to an account as viewer\./);
  assert.ok(mail.html.includes(`href="${invited.json.url}"`), mail.html);
  assert.equal(mail.link, new URL(invited.json.url).pathname);
  const operator = `root-${people}@example.com`;
  await gateway.admin('POST', '/operators', { email: operator, operator_role: 'auditor' });
  assert.match((await mails.to(operator)).text, /invited you to run this gateway as auditor\./);
  const link = await gateway.admin('POST', `/people/${id}/password-link`);
  assert.equal((await mails.to(email)).link, new URL(link.json.url).pathname);
});

test('an owner’s invitation is mailed as well', async () => {
  const { email } = await newPerson();
  const browser = newBrowser();
  await browser.submit(await browser.open('/sign-in'), { email, password: PASSWORD });
  const to = `kim-${people}@example.com`;
  await browser.json('POST', '/api/console/invitations', { email: to, role: 'member' }, await browser.csrf());
  assert.match((await mails.to(to)).text, new RegExp(`${email} invited you to an account as member`));
});

test('who forgot a password is mailed a link that works once, ends other sessions and dies with the next one', async () => {
  const { email } = await newPerson();
  const elsewhere = newBrowser();
  await elsewhere.submit(await elsewhere.open('/sign-in'), { email, password: PASSWORD });
  await forgot(email.toUpperCase());
  const first = await mails.to(email);
  gateway.clock.advance(LINK_REQUEST_MS / 1000);
  await forgot(email);
  const second = await mails.to(email, 2);
  const browser = newBrowser();
  assert.equal((await browser.open(first.link)).status, 404);
  const page = await browser.open(second.link);
  assert.equal((await browser.submit(page, { password: 'a new and longer one' })).path, '/');
  assert.equal((await elsewhere.open('/account')).path, '/sign-in?next=/account');
  assert.equal((await newBrowser().open(second.link)).status, 404);
});

test('a mailed link expires, to the second', async () => {
  const { email } = await newPerson();
  await forgot(email);
  const { link } = await mails.to(email);
  gateway.clock.advance(PASSWORD_LINK_MS / 1000 - 1);
  assert.equal((await newBrowser().open(link)).status, 200);
  gateway.clock.advance(1);
  assert.equal((await newBrowser().open(link)).status, 404);
});

test('a link that waits does not outlive a password changed by its person', async () => {
  const { email } = await newPerson();
  await forgot(email);
  const { link } = await mails.to(email);
  const browser = newBrowser();
  await browser.submit(await browser.open('/sign-in'), { email, password: PASSWORD });
  const page = await browser.open('/password');
  const wrong = await browser.submit(page, { current_password: 'not the password', password: 'another password' });
  assert.equal(wrong.status, 401);
  assert.match(wrong.text, /id="current_password-problem" role="alert">The current password is wrong\./);
  assert.match(
    (await browser.submit(page, { current_password: PASSWORD, password: 'short' })).text,
    /id="password-problem"/,
  );
  assert.equal((await browser.submit(page, { current_password: PASSWORD, password: 'another password' })).path, '/');
  assert.equal((await newBrowser().open(link)).status, 404);
});

test('a known, an unknown and a disabled address are one answer, and only the known one is sent anything', async () => {
  const [known, disabled, last] = [await newPerson(), await newPerson(), await newPerson()];
  await gateway.admin('PATCH', `/people/${disabled.id}`, { disabled: true });
  const answers = [await forgot(known.email), await forgot('nobody@example.com'), await forgot(disabled.email)];
  assert.deepEqual(new Set(answers).size, 1);
  // The queue is in order: what is behind the others has come when they have not.
  await forgot(last.email);
  await mails.to(last.email);
  await mails.to(known.email);
  assert.ok(!mails.mails.some(({ to }) => to === 'nobody@example.com' || to === disabled.email));
});

test('one address is mailed one link in a quarter of an hour', async () => {
  const [person, other] = [await newPerson(), await newPerson()];
  await forgot(person.email);
  await mails.to(person.email);
  gateway.clock.advance(LINK_REQUEST_MS / 1000 - 1);
  await forgot(person.email);
  await forgot(other.email);
  await mails.to(other.email);
  assert.equal(mails.mails.filter(({ to }) => to === person.email).length, 1);
});

test('requests for links from one address are refused after the allowance of a minute, known or not', async () => {
  gateway.clock.advance(60);
  const statuses: string[] = [];
  for (let number = 0; number <= LINK_REQUESTS_PER_ADDRESS_RPM; number++) {
    statuses.push((await forgot(`guess-${number}@example.com`)).slice(0, 3));
  }
  assert.deepEqual(statuses, [...Array<string>(LINK_REQUESTS_PER_ADDRESS_RPM).fill('200'), '429']);
});

test('neither a link nor its secret reaches the log', () => {
  assert.ok(mails.mails.length > 0);
  for (const { link } of mails.mails.filter((mail) => mail.link !== '')) {
    const secret = link.slice('/link/'.length);
    assert.ok(!logged.some((line) => line.includes(secret)));
  }
});

test('a mail server that is down fails no request, and the log tells neither link nor address', async (t) => {
  const lines: string[] = [];
  const told = Promise.withResolvers<void>();
  const log = pino(
    { level: 'trace' },
    {
      write: (line: string) => {
        lines.push(line);
        if (line.includes('a mail was not sent')) told.resolve();
      },
    },
  );
  const settings = { SMTP_URL: `smtp://127.0.0.1:${await freePort()}`, MAIL_FROM: FROM };
  const down = await Gateway.start({ log, settings });
  atEnd(t, () => down.stop());
  const invited = await down.admin('POST', '/operators', { email: 'eve@example.com', operator_role: 'operator' });
  assert.equal(invited.status, 200);
  await told.promise;
  const line = lines.find((one) => one.includes('a mail was not sent')) ?? '';
  const { mail, code } = JSON.parse(line);
  assert.deepEqual([mail, code], ['invitation', 'ESOCKET']);
  assert.ok(!line.includes('eve@') && !line.includes('/link/'), line);
  const browser = new Browser(down.url, down.config.publicUrl);
  const link = await browser.open(new URL(invited.json.url).pathname);
  await browser.submit(link, { name: 'Eve', password: PASSWORD });
  assert.match((await browser.open('/account')).text, /eve@example\.com · operator/);
});

for (const scheme of ['smtps', 'smtp'] as const) {
  test(`${scheme}:// with a password sends it over an encrypted connection alone`, async (t) => {
    const certificate = selfSigned('localhost');
    const server = await MailServer.start({
      secure: scheme === 'smtps',
      ...certificate,
      authOptional: false,
      onAuth: ({ username, password }, session, callback) => {
        assert.ok(session.secure);
        if (username !== 'gate' || password !== 'p@ss word') callback(new Error('wrong'));
        else callback(null, { user: username });
      },
    });
    atEnd(t, () => server.stop());
    const file = join(workFolder(t), 'ca.pem');
    writeFileSync(file, certificate.cert);
    const program = await Program.start(t, {
      ...(await ownDatabase(t)),
      SMTP_URL: `${scheme}://gate:p%40ss%20word@localhost:${server.port}`,
      MAIL_FROM: FROM,
      NODE_EXTRA_CA_CERTS: file,
    });
    const body = { email: 'eve@example.com', operator_role: 'operator' };
    await program.call('POST', '/api/admin/operators', { key: 'admin-token-of-the-tests', body });
    const { secure, user } = await server.to('eve@example.com');
    assert.deepEqual([secure, user], [true, 'gate']);
  });
}

test('a password is not sent to a server that does not encrypt', async (t) => {
  const server = await MailServer.start({ allowInsecureAuth: true, onAuth: () => assert.fail('sent in the clear') });
  atEnd(t, () => server.stop());
  const code = await codeOfOneMail(`smtp://gate:secret@127.0.0.1:${server.port}`);
  assert.match(code, /ETLS|EENCRYPTION|ESOCKET/);
  assert.deepEqual(server.mails, []);
});

test('a mail server that says nothing is given up', async (t) => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  atEnd(t, () => silent.close());
  assert.match(await codeOfOneMail(`smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`, 50), /ETIMEDOUT/);
});

test('no more mails wait than the bound says', async () => {
  const refused: number[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void refused.push(JSON.parse(line).waiting) });
  const mailer = await Mailer.open({ url: new Secret('smtp://127.0.0.1:1'), from: FROM }, log);
  const gate = Promise.withResolvers<undefined>();
  for (let number = 0; refused.length === 0; number++) {
    assert.ok(number <= MAILS_WAITING_MAX + 10);
    mailer.post('test', () => gate.promise);
  }
  assert.deepEqual(refused, [MAILS_WAITING_MAX]);
  gate.resolve(undefined);
  await mailer.close();
});

const MESSAGE: Message = { to: 'eve@example.com', subject: 'Test', text: 'Test', html: '<p>Test' };

/** Of a mail that is not sent. */
async function codeOfOneMail(url: string, timeoutMs?: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const log = pino({ level: 'warn' }, { write: (line: string) => resolve(JSON.parse(line).code) });
  const mailer = await Mailer.open({ url: new Secret(url), from: FROM }, log, timeoutMs);
  mailer.post('test', () => MESSAGE);
  const code = await promise;
  await mailer.close();
  return code;
}
