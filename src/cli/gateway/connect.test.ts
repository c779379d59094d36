import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Environment } from '../../config.ts';
import { connect, connectOperator } from './connect.ts';
import { Profiles } from './profiles.ts';

const STORED = 'https://stored.example';

async function home(t: TestContext): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-home-'));
  t.after(() => rmSync(folder, { recursive: true }));
  await new Profiles({ XDG_CONFIG_HOME: folder }).save(STORED, { key: 'stored' });
  return folder;
}

const invocation = (environment: Environment, url?: string) => ({
  operands: [],
  options: url === undefined ? {} : { url },
  environment,
  signal: new AbortController().signal,
});

const CASES: readonly (readonly [environment: Environment, url: string | undefined, address: string])[] = [
  [{}, undefined, STORED],
  [{}, 'http://other.example/', 'http://other.example'],
  [{ TOLLGATE_URL: 'http://set.example' }, undefined, 'http://set.example'],
  [{ TOLLGATE_URL: 'http://set.example' }, 'http://other.example', 'http://other.example'],
  [{ TOLLGATE_KEY: 'sk' }, undefined, 'http://127.0.0.1:8787'],
  [{ TOLLGATE_KEY: 'sk', TOLLGATE_URL: 'http://set.example' }, undefined, 'http://set.example'],
];

for (const [environment, url, address] of CASES) {
  test(`with ${JSON.stringify(environment)} and --url ${url ?? 'unset'} a command goes to ${address}`, async (t) => {
    assert.equal(connect(invocation({ ...environment, XDG_CONFIG_HOME: await home(t) }, url)).address, address);
  });
}

test('an admin token from the environment never goes to the address of a stored login', async (t) => {
  const XDG_CONFIG_HOME = await home(t);
  assert.equal(connectOperator(invocation({ XDG_CONFIG_HOME })).address, STORED);
  const set = invocation({ XDG_CONFIG_HOME, TOLLGATE_ADMIN_TOKEN: 'token' });
  assert.equal(connectOperator(set).address, 'http://127.0.0.1:8787');
});

test('the admin token of a data folder goes to this machine alone', async (t) => {
  const XDG_CONFIG_HOME = await home(t);
  const elsewhere = connectOperator(invocation({ XDG_CONFIG_HOME, TOLLGATE_DATA: XDG_CONFIG_HOME }));
  await assert.rejects(elsewhere.get('/api/admin/overview'), /There is no admin token for https:\/\/stored/);
});

for (const url of ['nowhere', 'ftp://x.example', '']) {
  test(`"${url}" is refused as an address`, () => {
    assert.throws(() => connect(invocation({}, url)), /is no address/);
  });
}
