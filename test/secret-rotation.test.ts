import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createDatabase } from './support/database.ts';
import { imageModel, keyed, sandbox } from './support/documents.ts';
import { Gateway } from './support/gateway.ts';
import { atEnd, workFolder } from './support/postgres.ts';
import { ownDatabase, Program, runCommand } from './support/program.ts';
import { keysInForce, ROOT_SECRET } from './support/stored-secrets.ts';

const OLD = 'the-secret-that-is-replaced-0123456789abcdef';
const ROTATING = { TOLLGATE_SECRET: ROOT_SECRET, TOLLGATE_SECRET_PREVIOUS: OLD };
const KEYED = { upstreams: [keyed('u', 'key-of-u'), sandbox('home')], models: [imageModel('m', ['home'])] };

/** Gateways one after the other on one database and its folder of media. */
async function site(t: TestContext) {
  const database = await createDatabase();
  atEnd(t, () => database.drop());
  const start = async (settings: Record<string, string>) => {
    const gateway = await Gateway.start({ database, settings });
    atEnd(t, () => gateway.stop());
    return gateway;
  };
  return { database, start };
}

test('a gateway with TOLLGATE_SECRET_PREVIOUS opens the upstream secrets that the old secret sealed', async (t) => {
  const { start } = await site(t);
  const old = await start({ TOLLGATE_SECRET: OLD });
  await old.putConfig(KEYED);
  await old.stop();
  await assert.rejects(start({ TOLLGATE_SECRET: ROOT_SECRET }), /sealed with another TOLLGATE_SECRET.*_PREVIOUS/);
  const rotating = await start(ROTATING);
  const { data } = (await rotating.admin('GET', '/upstreams')).json;
  assert.deepEqual(
    data.map((upstream: { id: string; has_secret: boolean }) => [upstream.id, upstream.has_secret]),
    [
      ['u', true],
      ['home', false],
    ],
  );
});

test('what is applied during a rotation is sealed with the new secret, kept keys included', async (t) => {
  const { start, database } = await site(t);
  const old = await start({ TOLLGATE_SECRET: OLD });
  await old.putConfig(KEYED);
  await old.stop();
  const rotating = await start(ROTATING);
  await rotating.admin('PATCH', '/upstreams/u', { enabled: false });
  assert.deepEqual(await keysInForce(database), { u: 'key-of-u' });
});

test('links that the old secret signed hold during a rotation, and end without it', async (t) => {
  const { start } = await site(t);
  const old = await start({ TOLLGATE_SECRET: OLD });
  const { key } = await old.newCaller();
  const form = `--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(form), PNG, Buffer.from('\r\n--b--\r\n')]);
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const stored = await old.call('POST', '/v1/files', { key, headers, raw: body });
  assert.equal(stored.status, 200, stored.text);
  const link = new URL(stored.json.url);
  const path = link.pathname + link.search;
  assert.equal((await old.call('GET', path)).status, 200);
  await old.stop();
  const rotating = await start(ROTATING);
  assert.equal((await rotating.call('GET', path)).status, 200);
  assert.notEqual((await rotating.call('GET', `${path.slice(0, -1)}${path.endsWith('A') ? 'B' : 'A'}`)).status, 200);
  await rotating.stop();
  const rotated = await start({ TOLLGATE_SECRET: ROOT_SECRET });
  assert.notEqual((await rotated.call('GET', path)).status, 200);
});

test('a rotation alone does not put the file in force over what the operator has changed since', async (t) => {
  const { start } = await site(t);
  const path = join(workFolder(t), 'gate.yaml');
  writeFileSync(path, JSON.stringify(KEYED));
  const old = await start({ TOLLGATE_SECRET: OLD, TOLLGATE_CONFIG: path });
  await old.admin('PATCH', '/upstreams/home', { enabled: false });
  await old.stop();
  const rotating = await start({ ...ROTATING, TOLLGATE_CONFIG: path });
  assert.equal((await rotating.admin('GET', '/config')).json.upstreams[1].enabled, false);
  assert.equal((await rotating.admin('PUT', '/config', KEYED)).json.version, 3);
});

test('secrets reseal moves everything over while the gateway runs; then the old secret is needed no more', async (t) => {
  const settings: Record<string, string> = { ...(await ownDatabase(t)), TOLLGATE_SECRET: OLD };
  const path = join(workFolder(t), 'gate.yaml');
  writeFileSync(path, JSON.stringify(KEYED));
  const admin = (program: Program, method: string, route: string, body?: unknown) =>
    program.call(method, `/api/admin${route}`, { key: settings.TOLLGATE_ADMIN_TOKEN, body });
  const old = await Program.start(t, { ...settings, TOLLGATE_CONFIG: path });
  assert.equal((await admin(old, 'PATCH', '/upstreams/home', { enabled: false })).status, 200);
  await old.kill('SIGTERM');

  const rotating = await Program.start(t, { ...settings, ...ROTATING });
  const command = () => runCommand(t, ['secrets', 'reseal'], { ...settings, ...ROTATING });
  assert.deepEqual(await command(), { code: 0, out: 'Resealed 2 of 2 stored configurations.\n', err: '' });
  assert.deepEqual(await command(), { code: 0, out: 'Resealed 0 of 2 stored configurations.\n', err: '' });
  assert.equal((await admin(rotating, 'PATCH', '/upstreams/u', { enabled: false })).status, 200);
  const { data } = (await admin(rotating, 'GET', '/audit?limit=5')).json;
  assert.ok(data.some((change: { action: string }) => change.action === 'secrets.reseal'));
  await rotating.kill('SIGTERM');

  const rotated = await Program.start(t, { ...settings, TOLLGATE_SECRET: ROOT_SECRET, TOLLGATE_CONFIG: path });
  const { json } = await admin(rotated, 'GET', '/config');
  assert.deepEqual(
    json.upstreams.map(({ enabled }: { enabled: boolean }) => enabled),
    [false, false],
  );
});

test('secrets reseal leaves what neither secret opens as it is, says so, and fails', async (t) => {
  const settings: Record<string, string> = { ...(await ownDatabase(t)), TOLLGATE_SECRET: OLD };
  const old = await Program.start(t, settings);
  const put = await old.call('PUT', '/api/admin/config', { key: settings.TOLLGATE_ADMIN_TOKEN, body: KEYED });
  assert.equal(put.status, 200, put.text);
  const others = { TOLLGATE_SECRET: ROOT_SECRET, TOLLGATE_SECRET_PREVIOUS: 'neither-of-them-0123456789abcdefghij' };
  const { code, out, err } = await runCommand(t, ['secrets', 'reseal'], { ...settings, ...others });
  assert.deepEqual([code, out], [1, 'Resealed 0 of 2 stored configurations.\n']);
  assert.match(err, /^1 of them open with neither .*: version 2\.\n$/);
  await old.kill('SIGTERM');
  await Program.start(t, settings);
});

test('two admin tokens are valid at once, and nothing but the two', async (t) => {
  const tokens = ['the-admin-token-of-today', 'the-admin-token-of-tomorrow'];
  const { start } = await site(t);
  const gateway = await start({ TOLLGATE_ADMIN_TOKEN: tokens.join(',') });
  const status = async (key: string) => (await gateway.call('GET', '/api/admin/accounts', { key })).status;
  for (const token of tokens) assert.equal(await status(token), 200);
  for (const token of [tokens.join(','), '', `${tokens[0]},`, tokens[0]?.slice(0, -1) ?? '', 'x'.repeat(16)]) {
    assert.notEqual(await status(token), 200, token);
  }
});

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
