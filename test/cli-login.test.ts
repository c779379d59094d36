import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, type TestContext, test } from 'node:test';
import type { Environment } from '../src/config.ts';
import { MAIN } from './support/command-line.ts';
import { BARE_ENVIRONMENT } from './support/environment.ts';
import { ADMIN_TOKEN, Gateway } from './support/gateway.ts';
import { newBrowser, newPerson, registerApp, signIn, type TestPerson } from './support/oauth.ts';
import { workFolder } from './support/postgres.ts';
import type { Ended } from './support/program.ts';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());

/** A user's folder with the program's profiles in it. */
class Home {
  readonly folder: string;

  constructor(t: TestContext) {
    this.folder = workFolder(t);
  }

  get file(): string {
    return join(this.folder, 'tollgate', 'profiles.json');
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into what is stored
  get stored(): any {
    return JSON.parse(readFileSync(this.file, 'utf8'));
  }

  async run(
    args: readonly string[],
    more: { input?: string; settings?: Environment; onError?: (told: string) => void } = {},
  ): Promise<Ended> {
    const env = { ...BARE_ENVIRONMENT, XDG_CONFIG_HOME: this.folder, ...more.settings };
    const child = spawn(process.execPath, [MAIN, ...args], { cwd: this.folder, env });
    let err = '';
    child.stderr.on('data', (piece: Buffer) => {
      err += String(piece);
      more.onError?.(err);
    });
    child.stdin.end(more.input ?? '');
    const [out] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return { code: child.exitCode, out, err };
  }
}

/** Allows or denies the code that a login shows, once, in a browser of its own. */
function decision(person: TestPerson, choice: 'allow' | 'deny') {
  let decided: Promise<void> | undefined;
  const decide = async (code: string) => {
    const browser = newBrowser(gateway);
    await signIn(browser, person);
    const page = await browser.open(`/device?user_code=${code}`);
    await browser.submit(page, { account: person.accountId, decision: choice });
  };
  return {
    onError: (told: string) => {
      const [, code] = /allow the code ([A-Z]{4}-[A-Z]{4})\./.exec(told) ?? [];
      if (code !== undefined) decided ??= decide(code);
    },
    done: () => decided,
  };
}

test('a key is tried, stored for its address with mode 600, used without any variable, and forgotten', async (t) => {
  const home = new Home(t);
  const { key } = await gateway.newCaller();
  const login = await home.run(['login', '--url', `${gateway.url}/`], { input: `${key}\n` });
  assert.equal(login.code, 0, login.err);
  assert.ok(!login.out.includes(key));
  assert.equal(statSync(home.file).mode & 0o777, 0o600);
  assert.equal(statSync(join(home.folder, 'tollgate')).mode & 0o777, 0o700);
  assert.deepEqual(home.stored, { current: gateway.url, profiles: { [gateway.url]: { key } } });
  const used = await home.run(['credits']);
  assert.equal(used.code, 0, used.err);
  assert.equal((await home.run(['logout'])).code, 0);
  assert.deepEqual(home.stored, { profiles: {} });
});

test('a key that is refused is not stored', async (t) => {
  const home = new Home(t);
  const { code, err } = await home.run(['login', '--url', gateway.url], { input: 'sk-tg1-wrong' });
  assert.equal(code, 3);
  assert.match(err, /invalid_api_key/);
  assert.ok(!existsSync(home.file));
  assert.equal((await home.run(['login', '--url', gateway.url])).code, 2);
});

test('the admin token is stored beside the key of the same address', async (t) => {
  const home = new Home(t);
  const { key } = await gateway.newCaller();
  await home.run(['login', '--url', gateway.url], { input: key });
  const { code, err } = await home.run(['login', '--admin'], { input: ADMIN_TOKEN });
  assert.equal(code, 0, err);
  assert.deepEqual(home.stored.profiles[gateway.url], { key, admin_token: ADMIN_TOKEN });
  assert.equal((await home.run(['account', 'list', '--json'])).code, 0);
  assert.equal((await home.run(['login', '--admin'], { input: 'wrong' })).code, 3);
});

test('a device login is allowed in a browser; its token is refreshed before its end, and revoked by a logout', async (t) => {
  const home = new Home(t);
  const person = await newPerson(gateway);
  const client = await registerApp(gateway, { device_flow: true });
  const scope = 'user:credits user:jobs';
  const browser = decision(person, 'allow');
  const login = await home.run(['login', '--url', gateway.url, '--client', client.id, '--scope', scope], browser);
  await browser.done();
  assert.equal(login.code, 0, login.err);
  const { tokens } = home.stored.profiles[gateway.url];
  assert.equal(tokens.client_id, client.id);
  assert.equal((await home.run(['credits'])).code, 0);
  assert.equal((await home.run(['models'])).code, 0);
  assert.deepEqual(home.stored.profiles[gateway.url].tokens, tokens);
  // Two commands at once find a token that is about to end: one refreshes it, the other takes what the first has stored.
  writeFileSync(
    home.file,
    JSON.stringify({ current: gateway.url, profiles: { [gateway.url]: { tokens: { ...tokens, expires_at: 0 } } } }),
  );
  const both = await Promise.all([home.run(['credits']), home.run(['jobs'])]);
  assert.deepEqual(
    both.map(({ code }) => code),
    [0, 0],
    both.map(({ err }) => err).join(),
  );
  const renewed = home.stored.profiles[gateway.url].tokens;
  assert.notEqual(renewed.refresh_token, tokens.refresh_token);
  assert.equal((await gateway.call('GET', '/v1/credits', { key: renewed.access_token })).status, 200);
  assert.equal((await home.run(['logout'])).code, 0);
  assert.equal((await gateway.call('GET', '/v1/credits', { key: renewed.access_token })).status, 401);
});

test('a device login that is denied, or of an app that may not, is refused by name', async (t) => {
  const home = new Home(t);
  const person = await newPerson(gateway);
  const client = await registerApp(gateway, { device_flow: true });
  const browser = decision(person, 'deny');
  const args = ['login', '--url', gateway.url, '--scope', 'user:credits', '--client'];
  const denied = await home.run([...args, client.id], browser);
  await browser.done();
  assert.equal(denied.code, 3);
  assert.match(denied.err, /denied in the browser/);
  const without = await registerApp(gateway);
  assert.equal((await home.run([...args, without.id])).code, 3);
  assert.ok(!existsSync(home.file));
});

test('a login whose grant has ended says how to log in again', async (t) => {
  const home = new Home(t);
  const { id } = await registerApp(gateway, { device_flow: true });
  const { key } = await gateway.newCaller();
  await home.run(['login', '--url', gateway.url], { input: key });
  const tokens = { access_token: 'oat_gone', refresh_token: 'ort_gone', expires_at: 0, client_id: id };
  writeFileSync(home.file, JSON.stringify({ current: gateway.url, profiles: { [gateway.url]: { tokens } } }));
  const { code, err } = await home.run(['credits']);
  assert.equal(code, 3);
  assert.match(err, /has ended \(invalid_grant\)\. Run "tollgate login --url /);
});
