import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { checkNode, judgeClock, judgeDisk } from '../src/cli/check-machine.ts';
import { Commands } from './support/commands.ts';
import { keyed, sandbox } from './support/documents.ts';
import { usedFolder } from './support/first-start.ts';
import { atEnd, serversBelow, workFolder } from './support/postgres.ts';
import { type Ended, freePort, ownDatabase, Program, runCommand } from './support/program.ts';

const commands = new Commands();
after(() => commands.stop());

const examine = (t: TestContext, settings: Record<string, string>): Promise<Ended> =>
  commands.run(['doctor'], workFolder(t), settings);

/** The lines of the checks that found a problem, each with its advice. */
function problems({ out }: Ended): readonly string[] {
  return [...out.matchAll(/^problem {2}(.*\n {9}.*)$/gm)].map(([, text = '']) => text);
}

test('doctor finds nothing wrong with a running gateway, and disturbs it as little as a stopped one', async (t) => {
  const folder = await usedFolder(t);
  const program = await Program.start(t, { TOLLGATE_DATA: folder });
  const running = await runCommand(t, ['doctor'], { TOLLGATE_DATA: folder });
  assert.deepEqual([running.code, running.err], [0, ''], running.out);
  for (const check of ['node', 'settings', 'configuration', 'data folder', 'disk', 'database', 'migrations', 'clock']) {
    assert.match(running.out, new RegExp(`^(ok|warning) +${check}: `, 'm'));
  }
  assert.match(running.out, /^ok +object store: .* takes, gives and deletes$/m);
  assert.match(running.out, /^ok +upstream sandbox: needs no connection$/m);
  assert.match(running.out, /\nNo problem was found\.\n$/);
  assert.equal((await program.get('/healthz')).status, 200);
  await program.kill('SIGTERM');
  const stopped = await runCommand(t, ['doctor'], { TOLLGATE_DATA: folder });
  assert.equal(stopped.code, 0, stopped.out);
  assert.match(stopped.out, /^ok +database: PostgreSQL \d+\.\d+ answers$/m);
  assert.deepEqual(serversBelow(folder), []);
});

test('doctor before the first start finds nothing wrong and makes nothing', async (t) => {
  const folder = join(workFolder(t), 'data');
  const { code, out } = await examine(t, { TOLLGATE_DATA: folder });
  assert.equal(code, 0, out);
  assert.match(out, /^ok +database: the first start makes it$/m);
  assert.ok(!existsSync(folder));
});

test('doctor tells every bad setting', async (t) => {
  const found = await examine(t, { PORT: 'eighty', TOLLGATE_SECRET: 'hush' });
  assert.equal(found.code, 1);
  assert.equal(problems(found).filter((text) => text.startsWith('settings: ')).length, 2, found.out);
  assert.match(found.out, /\n2 problems were found\.\n$/);
  assert.doesNotMatch(found.out, /hush/);
});

test('doctor tells what is wrong with the configuration file', async (t) => {
  const path = join(workFolder(t), 'gate.yaml');
  writeFileSync(path, 'upstreams: [{ id: a }]\nmodels: []');
  const found = await examine(t, { TOLLGATE_DATA: join(workFolder(t), 'data'), TOLLGATE_CONFIG: path });
  assert.equal(found.code, 1);
  assert.match(found.out, /^problem +configuration: [\s\S]*upstreams\[0\]\.vendor/m);
});

test('doctor tells folders and secrets that other users can read, with the command that closes them', async (t) => {
  const folder = await usedFolder(t);
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'secret'), 0o644);
  const found = await examine(t, { TOLLGATE_DATA: folder });
  assert.equal(found.code, 1);
  assert.deepEqual(problems(found), [
    `data folder: ${folder} is open to other users (mode 0755)\n         Run: chmod 700 ${folder}`,
    `data folder: ${folder}/secret is open to other users (mode 0644)\n         Run: chmod 600 ${folder}/secret`,
  ]);
  assert.equal(statSync(folder).mode & 0o777, 0o755, 'it is looked at and left alone');
});

test('doctor tells a data folder that is a file, and one whose restore was broken off', async (t) => {
  const folder = workFolder(t);
  writeFileSync(join(folder, 'file'), '');
  assert.match(
    (await examine(t, { TOLLGATE_DATA: join(folder, 'file') })).out,
    /^problem +data folder: .* is no folder$/m,
  );
  mkdirSync(join(folder, 'data'), { mode: 0o700 });
  writeFileSync(join(folder, 'data', 'restore-unfinished'), '');
  const found = await examine(t, { TOLLGATE_DATA: join(folder, 'data') });
  assert.match(found.out, /^problem +data folder: A restore into .* was broken off\n +Delete the folder/m);
});

test('doctor tells a database that cannot be reached, without its password', async (t) => {
  const DATABASE_URL = `postgres://gate:hush@127.0.0.1:${await freePort()}/gate`;
  const found = await examine(t, { ...(await ownDatabase(t)), DATABASE_URL });
  assert.equal(found.code, 1);
  assert.match(found.out, /^problem +database: The database is not available: connect ECONNREFUSED/m);
  assert.doesNotMatch(found.out, /hush/);
});

test('doctor tells a database of a newer release, and one that is to be migrated yet', async (t) => {
  const settings = await ownDatabase(t);
  const add = (number: number, needs: string) =>
    run(t, settings, `insert into migrations (number, name, digest, needs) values (${number}, 'later', '', ${needs})`);
  await add(9998, 'null');
  assert.match(
    (await examine(t, settings)).out,
    /^ok +migrations: all \d+ were applied, and later of a newer release/m,
  );
  await add(9999, `'999.0.0'`);
  assert.match(
    (await examine(t, settings)).out,
    /^problem +migrations: this release does not know later\n +Start the release that made it\./m,
  );
  await run(t, settings, 'delete from migrations where number > 10');
  const pending = await examine(t, settings);
  assert.match(pending.out, /^warning +migrations: \d+ of \d+ are not applied yet\n +The next start/m);
});

test('doctor tells that stored secrets do not open with this root secret', async (t) => {
  const settings = await ownDatabase(t);
  const path = join(workFolder(t), 'gate.yaml');
  writeFileSync(path, JSON.stringify({ upstreams: [keyed('u', 'key-of-u', { enabled: false })], models: [] }));
  const program = await Program.start(t, { ...settings, TOLLGATE_CONFIG: path });
  await program.kill('SIGTERM');
  const found = await examine(t, { ...settings, TOLLGATE_SECRET: 'another-root-secret-of-32-characters-or-more' });
  assert.match(found.out, /^problem +sealed secrets: .*sealed with another TOLLGATE_SECRET/m);
});

test('doctor tells an object store that does not work: a folder, and a bucket', async (t) => {
  const folder = await usedFolder(t);
  rmSync(join(folder, 'objects'), { recursive: true });
  writeFileSync(join(folder, 'objects'), '');
  assert.match((await examine(t, { TOLLGATE_DATA: folder })).out, /^problem +object store: .*objects does not work: /m);
  const bucket = {
    S3_BUCKET: 'media',
    S3_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'hush',
  };
  const found = await examine(t, { ...(await ownDatabase(t)), ...bucket });
  assert.match(found.out, /^problem +object store: the bucket media does not work: /m);
  assert.doesNotMatch(found.out, /hush/);
});

test('doctor connects to every enabled upstream, sends it nothing, and tells which cannot be reached', async (t) => {
  let heard = 0;
  const server = createServer((socket) =>
    socket.on('data', (chunk) => (heard += chunk.length)).on('error', () => undefined),
  );
  atEnd(t, () => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const path = join(workFolder(t), 'gate.yaml');
  const closed = await freePort();
  const upstreams = [
    keyed('near', 'key-of-near', { base_url: `http://127.0.0.1:${port}` }),
    keyed('closed', 'key-of-closed', { base_url: `http://127.0.0.1:${closed}` }),
    keyed('off', 'key-of-off', { base_url: `http://127.0.0.1:${closed}`, enabled: false }),
    sandbox('home'),
  ];
  writeFileSync(path, JSON.stringify({ upstreams, models: [] }));
  const found = await examine(t, { TOLLGATE_DATA: join(workFolder(t), 'data'), TOLLGATE_CONFIG: path });
  assert.equal(found.code, 1);
  assert.match(found.out, /^ok +upstream near: http:\/\/127\.0\.0\.1:\d+ answers$/m);
  assert.match(found.out, /^problem +upstream closed: .* cannot be reached: connect ECONNREFUSED/m);
  assert.doesNotMatch(found.out, /upstream off|key-of/);
  assert.equal(heard, 0);
});

test('doctor tells an upstream that speaks no TLS where TLS is asked for', async (t) => {
  const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n').on('error', () => undefined));
  atEnd(t, () => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const base_url = `https://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const path = join(workFolder(t), 'gate.yaml');
  writeFileSync(path, JSON.stringify({ upstreams: [keyed('plain', 'key-of-plain', { base_url })], models: [] }));
  const found = await examine(t, { TOLLGATE_DATA: join(workFolder(t), 'data'), TOLLGATE_CONFIG: path });
  assert.match(found.out, /^problem +upstream plain: .* cannot be reached: /m);
});

test('an old Node, a full disk and a clock that is off are problems; a disk that fills is a warning', () => {
  const MIB = 1024 * 1024;
  const states = [
    checkNode('23.11.0'),
    checkNode('24.0.0'),
    judgeDisk('data', 64 * MIB - 1),
    judgeDisk('data', 64 * MIB),
    judgeDisk('data', 1024 * MIB),
    judgeClock(2_000),
    judgeClock(2_001),
    judgeClock(-2_001),
  ].map(({ state }) => state);
  assert.deepEqual(states, ['problem', 'ok', 'problem', 'warning', 'ok', 'ok', 'problem', 'problem']);
  assert.match(judgeClock(-9_000).text, /^9\.0 s behind the database's$/);
});

async function run(t: TestContext, settings: Record<string, string>, statement: string): Promise<void> {
  const client = new Client({ connectionString: settings.DATABASE_URL });
  await client.connect();
  atEnd(t, () => client.end().catch(() => undefined));
  await client.query(statement);
  await client.end();
}
