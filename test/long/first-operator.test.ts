import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Browser } from '../support/browser.ts';
import { createDatabase } from '../support/database.ts';
import { BARE_ENVIRONMENT } from '../support/environment.ts';
import { usedFolder } from '../support/first-start.ts';
import { Gateway } from '../support/gateway.ts';
import { atEnd, workFolder } from '../support/postgres.ts';
import { ownDatabase, Program } from '../support/program.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const PUBLIC_URL = 'http://gate.example';

const linkIn = (text: string) => new URL(/^ *(http:\S+\/link\/\S+)$/m.exec(text)?.[1] ?? '').pathname;

test('a start prints a link that signs in the demo operator once, until a password is set', async (t) => {
  const folder = await usedFolder(t);
  const settings = { TOLLGATE_DATA: folder, PUBLIC_URL };
  const program = await Program.start(t, settings);
  const path = linkIn(program.told);
  const browser = new Browser(program.url, PUBLIC_URL);
  const page = await browser.open(path);
  // Looking at it is no use of it: programs preview links.
  await browser.open(path);
  assert.equal((await browser.submit(page, {})).path, '/');
  assert.match((await browser.open('/account')).text, /demo@tollgate\.localhost · operator/);
  assert.equal((await browser.open(path)).status, 404);
  const { json } = await browser.json('GET', '/api/console/session', undefined, '');
  assert.equal(json.account.name, 'demo');
  assert.equal((await browser.fetch('GET', '/api/admin/accounts')).status, 200);

  const { id } = json.person;
  const made = await browser.json('POST', `/api/admin/people/${id}/password-link`, undefined, json.csrf_token);
  await browser.submit(await browser.open(new URL(made.json.url).pathname), { password: 'a real password' });
  await program.kill('SIGTERM');
  assert.doesNotMatch((await Program.start(t, settings)).told, /\/link\//);
});

test('tollgate admin create makes an operator, beside a gateway that runs, and again with a new link', async (t) => {
  const folder = await usedFolder(t);
  const program = await Program.start(t, { TOLLGATE_DATA: folder, PUBLIC_URL });
  const env = { ...BARE_ENVIRONMENT, TOLLGATE_DATA: folder, PUBLIC_URL };
  const create = async (email: string) =>
    (await promisify(execFile)(process.execPath, [MAIN, 'admin', 'create', email], { env })).stdout;
  const first = linkIn(await create('root@example.com'));
  const second = linkIn(await create('ROOT@example.com'));
  const browser = new Browser(program.url, PUBLIC_URL);
  assert.equal((await browser.open(first)).status, 404);
  await browser.submit(await browser.open(second), { password: 'a password for root' });
  assert.equal((await browser.fetch('GET', '/api/admin/accounts')).status, 200);
  await assert.rejects(create('nobody'), /nobody is not an email address/);
});

const PASSWORD = 'a password of the first operator';

function firstOperator(t: TestContext, email: string, password = PASSWORD): Record<string, string> {
  const file = join(workFolder(t), 'password');
  writeFileSync(file, `${password}\n`);
  return { TOLLGATE_INIT_OPERATOR_EMAIL: email, TOLLGATE_INIT_OPERATOR_PASSWORD_FILE: file, LOG_LEVEL: 'trace' };
}

async function signIn(url: string, origin: string, email: string, password: string): Promise<Browser> {
  const browser = new Browser(url, origin);
  await browser.submit(await browser.open('/sign-in'), { email, password });
  return browser;
}

test('R-526: the settings name the first operator, who owns the demo account and needs no printed link', async (t) => {
  const folder = join(workFolder(t), 'data');
  const settings = { TOLLGATE_DATA: folder, PUBLIC_URL, ...firstOperator(t, 'root@example.com') };
  const program = await Program.start(t, settings);
  assert.doesNotMatch(program.told, /\/link\//);
  const browser = await signIn(program.url, PUBLIC_URL, 'root@example.com', PASSWORD);
  assert.equal((await browser.fetch('GET', '/api/admin/accounts')).status, 200);
  assert.equal((await browser.json('GET', '/api/console/session', undefined, '')).json.account.name, 'demo');
  const { data } = (await browser.json('GET', '/api/admin/audit?limit=100', undefined, '')).json;
  const made = data.filter(({ action }: { action: string }) => action === 'person.create');
  assert.deepEqual(
    made.map(({ actor, detail }: { actor: string; detail: object }) => [actor, detail]),
    [['settings', { email: 'root@example.com', operator_role: 'operator' }]],
  );
  await program.kill('SIGTERM');
  assert.ok(![program.told, ...program.logged, JSON.stringify(data)].some((text) => text.includes(PASSWORD)));
});

test('several processes that start at once make one first operator, and later starts change nothing', async (t) => {
  const database = await createDatabase();
  atEnd(t, () => database.drop());
  const start = async (email: string, password?: string) => {
    const gateway = await Gateway.start({ database, settings: firstOperator(t, email, password) });
    atEnd(t, () => gateway.stop());
    return gateway;
  };
  const starts = await Promise.allSettled([0, 1, 2].map((number) => start(`root-${number}@example.com`)));
  const [gateway] = starts.map((one) => (one.status === 'fulfilled' ? one.value : assert.fail(one.reason)));
  assert.ok(gateway);
  const people = async () => (await gateway.admin('GET', '/people')).json.data;
  const [{ email }, ...others] = await people();
  assert.deepEqual(others, []);
  const changed = await start(email, 'another password');
  assert.equal((await people()).length, 1);
  const browser = await signIn(changed.url, changed.config.publicUrl, email, 'another password');
  assert.equal((await browser.fetch('GET', '/api/admin/accounts')).status, 401);
  const own = await signIn(changed.url, changed.config.publicUrl, email, PASSWORD);
  assert.equal((await own.fetch('GET', '/api/admin/accounts')).status, 200);
});

test('a person who is there already is not made the first operator, and keeps the password', async (t) => {
  const database = await createDatabase();
  atEnd(t, () => database.drop());
  const before = await Gateway.start({ database });
  atEnd(t, () => before.stop());
  const owner = { name: 'Ada', email: 'ada@example.com', password: 'the password of ada' };
  assert.equal((await before.admin('POST', '/accounts', owner)).status, 200);
  const gateway = await Gateway.start({ database, settings: firstOperator(t, 'ADA@example.com') });
  atEnd(t, () => gateway.stop());
  const browser = await signIn(gateway.url, gateway.config.publicUrl, owner.email, owner.password);
  assert.equal((await browser.fetch('GET', '/api/console/session')).status, 200);
  assert.equal((await browser.fetch('GET', '/api/admin/accounts')).status, 404);
});

test('docs/people.md makes an operator by a command that works as it stands there', async (t) => {
  const document = readFileSync(new URL('../../docs/people.md', import.meta.url), 'utf8');
  const command = /^bin\/tollgate\.mjs admin create \S+$/m.exec(document)?.[0];
  assert.ok(command);
  const env = { ...BARE_ENVIRONMENT, PUBLIC_URL, ...(await ownDatabase(t)) };
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { env, cwd });
  const gateway = await Program.start(t, { ...env });
  assert.match((await new Browser(gateway.url, PUBLIC_URL).open(linkIn(stdout))).text, /for you@example\.com/);
});
