import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Browser } from './support/browser.ts';
import { usedFolder } from './support/first-start.ts';
import { Program } from './support/program.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
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
  assert.match((await browser.submit(page, {})).text, /demo@tollgate\.localhost · operator/);
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
  const env = { PATH: process.env.PATH, TOLLGATE_DATA: folder, PUBLIC_URL };
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
