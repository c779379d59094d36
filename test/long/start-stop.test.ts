import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { createDatabase } from '../support/database.ts';
import { DatabaseLink } from '../support/database-link.ts';
import { canMount, fillDisk, smallDisk } from '../support/disk.ts';
import { imageModel, sandbox } from '../support/documents.ts';
import { copyUsed, firstStart, usedFolder } from '../support/first-start.ts';
import { ADMIN_TOKEN, type Answer } from '../support/gateway.ts';
import { atEnd, IS_ROOT, STRANGER, serverPid, serversBelow, until, workFolder } from '../support/postgres.ts';
import { adminToken, freePort, ownDatabase, Program, SERVE_WITHOUT_FLAGS } from '../support/program.ts';
import { assertPlain, begunRequest, untilStopping } from '../support/start-stop.ts';

test('R-526: a first start makes secrets of its own that only its user can read', async (t) => {
  const folder = await usedFolder(t);
  assert.equal(statSync(folder).mode & 0o077 & ~0o010, 0);
  for (const name of ['admin-token', 'secret']) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
  assert.match(adminToken(folder), /^[0-9A-Za-z]{48}$/);
});

test('a later start prints no key and keeps everything', async (t) => {
  const folder = await usedFolder(t);
  const { key } = await firstStart(t);
  const token = adminToken(folder);
  const later = await Program.start(t, { TOLLGATE_DATA: folder });
  assert.ok(!later.told.includes('sk-tg1-'), later.told);
  assert.equal((await later.get('/v1/models', key)).status, 200);
  const accounts = await later.get('/api/admin/accounts', token);
  // The one that was made has been used since, and its picture may still be under way.
  const [{ balance, held: _held, last_used_at, ...kept }] = accounts.json.data;
  const [{ balance: given, held: _none, last_used_at: _, ...made }] = (await firstStart(t)).accounts.json.data;
  assert.deepEqual([kept, accounts.json.data.length], [made, 1]);
  assert.ok(balance <= given && (last_used_at === null || last_used_at >= kept.created_at));
  assert.equal((await later.get('/api/admin/books', token)).json.balanced, true);
});

test('a later start tells how to make another key, by a command that works', async (t) => {
  const folder = await usedFolder(t);
  const { told } = await Program.start(t, { TOLLGATE_DATA: folder });
  const command = /^Another key for the account "demo":\n {2}(curl .*)$/m.exec(told)?.[1] ?? '';
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.match(JSON.parse(stdout).key, /^sk-tg1-/);
});

test('a start without the flags for V8 works, and says in the log that they are missing', async (t) => {
  const settings = await ownDatabase(t);
  const isMissing = (line: string) => line.includes('V8 runs without the flags');
  const [bare, flagged] = [await Program.start(t, settings, SERVE_WITHOUT_FLAGS), await Program.start(t, settings)];
  await until(() => bare.logged.some(isMissing));
  assert.deepEqual([bare.logged.filter(isMissing).length, flagged.logged.filter(isMissing).length], [1, 0]);
});

test('a start without an account tells how to make the first key, by commands that work', async (t) => {
  const settings = await ownDatabase(t);
  const program = await Program.start(t, { ...settings, TOLLGATE_ADMIN_TOKEN: `${ADMIN_TOKEN},another-admin-token` });
  const commands = [...program.told.matchAll(/^ {2}(curl \S+\/api\/admin\/.*)$/gm)].map(([, command = '']) => command);
  assert.equal(commands.length, 3, program.told);
  const run = (command = '', id = '') => {
    const env = { PATH: process.env.PATH, TOLLGATE_ADMIN_TOKEN: `${ADMIN_TOKEN},another-admin-token` };
    return JSON.parse(spawnSync('sh', ['-c', command.replace('ACCOUNT_ID', id)], { encoding: 'utf8', env }).stdout);
  };
  const { id } = run(commands[0]);
  assert.equal(run(commands[1], id).object, 'grant');
  const { key } = run(commands[2], id);
  assert.equal((await program.get('/v1/models', key)).status, 200);
});

test('a start offers commands only for models of the catalogue in force', async (t) => {
  const path = join(workFolder(t), 'gate.yaml');
  writeFileSync(path, JSON.stringify({ upstreams: [sandbox('home')], models: [imageModel('my/picture', ['home'])] }));
  const settings = await ownDatabase(t);
  const { told } = await Program.start(t, { ...settings, TOLLGATE_CONFIG: path });
  const paths = [...told.matchAll(/^ {2}curl http:\/\/[^/]+(\/v1\/\S+) .*$/gm)].map(([, route]) => route);
  assert.deepEqual(paths, ['/v1/models', '/v1/images/generations']);
  assert.match(told, /"model":"my\/picture"/);
});

test('a start whose catalogue is empty says how to fill it, and offers no command', async (t) => {
  const { told } = await Program.start(t, { ...(await ownDatabase(t)), NODE_ENV: 'production' });
  assert.match(told, /No model can be called yet\. Copy tollgate\.example\.yaml to tollgate\.yaml/);
  assert.doesNotMatch(told, /\/v1\//);
});

test('a start offers no command for a model that the account cannot reach', async (t) => {
  const path = join(workFolder(t), 'gate.yaml');
  const upstreams = [sandbox('home', { groups: ['inner'] })];
  writeFileSync(path, JSON.stringify({ upstreams, models: [imageModel('m', ['home'])] }));
  const { told } = await Program.start(t, { ...(await ownDatabase(t)), TOLLGATE_CONFIG: path });
  assert.doesNotMatch(told, /\/v1\//);
});

test('the variable in which the printed commands look for a key may be set at the next start', async (t) => {
  const settings = await ownDatabase(t);
  const program = await Program.start(t, settings);
  const names = [...program.told.matchAll(/\$(\w+)/g)].map(([, name = '']) => name);
  assert.notEqual(names.length, 0);
  await Program.start(t, { ...settings, ...Object.fromEntries(names.map((name) => [name, 'sk-tg1-mine'])) });
});

test('the key of a first start that could not listen is shown by the next one', async (t) => {
  const folder = join(workFolder(t), 'data');
  const port = await takenPort(t);
  assert.match(await Program.refusal(t, { TOLLGATE_DATA: folder, PORT: port }), /is in use/);
  const program = await Program.start(t, { TOLLGATE_DATA: folder });
  const key = /export TOLLGATE_KEY=(\S+)/.exec(program.told)?.[1];
  assert.equal((await program.get('/v1/models', key)).status, 200);
});

test('R-526: two side by side share nothing', async (t) => {
  const folders = [await usedFolder(t), join(workFolder(t), 'data')];
  const [one, other] = await Promise.all(folders.map((folder) => Program.start(t, { TOLLGATE_DATA: folder })));
  const [token, otherToken] = folders.map(adminToken);
  assert.notEqual(token, otherToken);
  const { key } = await firstStart(t);
  assert.equal((await one?.get('/v1/models', key))?.status, 200);
  assert.equal((await other?.get('/v1/models', key))?.status, 401);
  assert.equal((await other?.get('/api/admin/accounts', token))?.status, 404);
});

test('a gateway whose database is killed serves on once it has brought it back', async (t) => {
  const folder = await usedFolder(t);
  const program = await Program.start(t, { TOLLGATE_DATA: folder });
  process.kill(serverPid(folder), 'SIGKILL');
  // Health looks at the database once a second, and may miss that it was away.
  await until(() => program.logged.some((line) => line.includes('server is back')));
  await until(async () => (await program.get('/healthz')).status === 200);
  assert.equal((await program.get('/api/admin/books', adminToken(folder))).json.balanced, true);
  assert.equal(await program.kill('SIGTERM'), 0);
  assert.deepEqual(serversBelow(folder), []);
});

test('a second gateway on the same data folder is refused and leaves the first alone', async (t) => {
  const folder = await usedFolder(t);
  const first = await Program.start(t, { TOLLGATE_DATA: folder });
  const pid = serverPid(folder);
  const told = await Program.refusal(t, { TOLLGATE_DATA: folder });
  assert.match(told, /Another Tollgate is running on the data folder .*\n.*TOLLGATE_DATA/);
  assert.equal(serverPid(folder), pid);
  assert.equal((await first.get('/api/admin/books', adminToken(folder))).json.balanced, true);
});

test('a gateway that is stopped while it starts leaves no database running', async (t) => {
  const folder = await usedFolder(t);
  const killed = await Program.start(t, { TOLLGATE_DATA: folder });
  await killed.kill('SIGKILL');
  // Holds up the next start before it listens.
  const database = new Client({ host: join(folder, 'postgres'), port: 5432, user: 'postgres', database: 'postgres' });
  database.on('error', () => undefined);
  await database.connect();
  await database.query('begin; lock table migrations in access exclusive mode');
  const starting = Program.spawn(t, { TOLLGATE_DATA: folder });
  await until(async () => (await database.query('select 1 from pg_locks where not granted')).rows.length === 1);
  await starting.kill('SIGTERM');
  await until(() => serversBelow(folder).length === 0);
});

test('a port in use is told in one sentence', async (t) => {
  const port = await takenPort(t);
  const told = await Program.refusal(t, { ...(await ownDatabase(t)), PORT: port });
  assert.equal(told, `127.0.0.1:${port} is in use by another program. Choose another with PORT and HOST.\n`);
});

test('an address of another machine is told in one sentence', async (t) => {
  const told = await Program.refusal(t, { ...(await ownDatabase(t)), HOST: '203.0.113.1' });
  assert.match(told, /^203\.0\.113\.1 is not an address of this machine\. Choose another with PORT and HOST\.\n$/);
});

test('a database that cannot be reached is told without a trace', async (t) => {
  const DATABASE_URL = `postgres://gate:hush@127.0.0.1:${await freePort()}/gate`;
  const told = await Program.refusal(t, { ...(await ownDatabase(t)), DATABASE_URL });
  assert.match(told, /^The database is not available: connect ECONNREFUSED.*DATABASE_URL/);
  assertPlain(told);
});

test('secrets may come from files', async (t) => {
  const folder = workFolder(t);
  const settings = Object.entries(await ownDatabase(t)).map(([name, value]) => {
    const path = join(folder, name);
    writeFileSync(path, `${value}\n`);
    return [`${name}_FILE`, path];
  });
  const program = await Program.start(t, Object.fromEntries(settings));
  assert.equal((await program.get('/api/admin/accounts', ADMIN_TOKEN)).status, 200);
});

const UNSET_SECRET = `upstreams: [{ id: main, vendor: openai, base_url: "https://a.example/v1", api_key: "\${UNSET_KEY}" }]
models: []`;

const badFiles: readonly [what: string, text: string | undefined, told: readonly RegExp[]][] = [
  ['is missing', undefined, [/gate\.yaml/, /no such file/]],
  ['has several faults', 'upstreams: [{id: a, vendor: nobody}]\nmodels: []\nmore: 1', [/vendor/, /more/]],
  ['takes a secret that is not set', UNSET_SECRET, [/UNSET_KEY/]],
];

for (const [what, text, patterns] of badFiles) {
  test(`R-526: a configuration file that ${what} is told without a trace`, async (t) => {
    const path = join(workFolder(t), 'gate.yaml');
    if (text !== undefined) writeFileSync(path, text);
    const folder = join(workFolder(t), 'data');
    const told = await Program.refusal(t, { TOLLGATE_DATA: folder, TOLLGATE_CONFIG: path });
    for (const pattern of patterns) assert.match(told, pattern);
    assertPlain(told);
    // Told before a database was made for it.
    assert.ok(!existsSync(folder));
  });
}

if (IS_ROOT) {
  test('a data folder of somebody else is refused and left as it is', async (t) => {
    const folder = workFolder(t);
    chownSync(folder, STRANGER, STRANGER);
    const told = await Program.refusal(t, { TOLLGATE_DATA: folder });
    assert.match(told, /belongs to another user \(uid 1234\).*\n.*TOLLGATE_DATA/);
    assertPlain(told);
  });
}

test('a data folder that is a file is refused', async (t) => {
  const path = join(workFolder(t), 'data');
  writeFileSync(path, 'a letter');
  const told = await Program.refusal(t, { TOLLGATE_DATA: path });
  assert.match(told, /The data folder cannot be made.*TOLLGATE_DATA/);
  assertPlain(told);
});

if (canMount()) {
  test('a full disk is told at the start, and room on it is enough for the next', async (t) => {
    const folder = smallDisk(t);
    const empty = fillDisk(folder);
    const told = await Program.refusal(t, { TOLLGATE_DATA: folder });
    assert.match(told, /is full: free some space, or choose another folder with TOLLGATE_DATA/);
    assertPlain(told);
    empty();
    await Program.start(t, { TOLLGATE_DATA: folder });
  });

  test('a disk that fills up is an outage with its reason in the log, and room on it ends the outage', async (t) => {
    const folder = join(smallDisk(t), 'data');
    await copyUsed(t, folder);
    const key = adminToken(folder);
    const program = await Program.start(t, { TOLLGATE_DATA: folder });
    const empty = fillDisk(folder);
    const make = () => program.call('POST', '/api/admin/accounts', { key, body: { name: 'x'.repeat(200) } });
    await until(async () => (await make()).json.error?.code === 'database_unavailable');
    // Reads still work, and small changes for a while; the probe says what is the matter, and when it is over.
    const reason = 'The database takes no writes: its disk is full.';
    const health = () => program.get('/healthz');
    await until(async () => (await health()).json.warnings.includes(reason));
    const { status, json } = await health();
    assert.deepEqual([status, json.status, json.db], [503, 'degraded', 'unavailable']);
    empty();
    await until(async () => (await make()).status === 200);
    await until(async () => (await health()).status === 200);
    assert.deepEqual((await health()).json.warnings, []);
    assert.equal((await program.get('/api/admin/books', key)).json.balanced, true);
    await program.kill('SIGTERM');
    assert.ok(program.logged.some((line) => line.includes('No space left on device')));
  });
}

test('in production there is no sandbox, not even one that an earlier start has put there', async (t) => {
  const settings = await ownDatabase(t);
  const count = async (program: Program) => (await program.get('/api/hub/public/models')).json.count;
  const trial = await Program.start(t, settings);
  assert.notEqual(await count(trial), 0);
  await trial.kill('SIGTERM');
  const production = await Program.start(t, { ...settings, NODE_ENV: 'production' });
  assert.equal(await count(production), 0);
});

test('the test clock is refused in production, and its route is absent where it was not asked for', async (t) => {
  const settings = await ownDatabase(t);
  const told = await Program.refusal(t, { ...settings, TOLLGATE_TEST_CLOCK: '1', NODE_ENV: 'production' });
  assert.match(told, /TOLLGATE_TEST_CLOCK cannot be used with NODE_ENV=production/);
  const program = await Program.start(t, settings);
  assert.equal((await advance(program, 1)).json.error.code, 'not_found');
});

test('the test clock goes on from where it was after a restart', async (t) => {
  const settings = { ...(await ownDatabase(t)), TOLLGATE_TEST_CLOCK: '1' };
  const first = await Program.start(t, settings);
  const day = 24 * 60 * 60;
  assert.equal((await advance(first, day)).json.offset_seconds, day);
  const before = (await advance(first, day)).json;
  assert.equal(before.offset_seconds, 2 * day);
  await first.kill('SIGTERM');
  const second = await Program.start(t, settings);
  const after = (await advance(second, 0)).json;
  assert.equal(after.offset_seconds, 2 * day);
  assert.ok(after.now >= before.now);
});

test('R-528: a stopped process releases its place in the deployment, and its log is whole', async (t) => {
  const settings = await ownDatabase(t);
  const program = await Program.start(t, settings);
  const { headers } = await program.get('/healthz');
  const database = new Client({ connectionString: settings.DATABASE_URL });
  await database.connect();
  atEnd(t, () => database.end());
  const processes = async () => (await database.query('select id from processes')).rows.length;
  assert.equal(await processes(), 1);
  assert.equal(await program.kill('SIGTERM'), 0);
  assert.equal(await processes(), 0);
  const lines = program.logged.map((line) => JSON.parse(line));
  assert.ok(lines.some((line) => line.request_id === headers['x-request-id'] && line.status === 200));
  assert.equal(lines.at(-1)?.msg, 'stopping');
});

test('R-528: SIGTERM ends it although its database no longer answers', async (t) => {
  const database = await createDatabase();
  atEnd(t, () => database.drop());
  const link = await DatabaseLink.open(database);
  atEnd(t, () => link.cut());
  const program = await Program.start(t, { ...(await ownDatabase(t)), DATABASE_URL: link.database.url });
  link.silenceListeners();
  assert.equal(await program.kill('SIGTERM'), 0);
});

test('R-528: a second SIGTERM ends it at once, its database too, and loses nothing', async (t) => {
  const folder = await usedFolder(t);
  const token = adminToken(folder);
  const program = await Program.start(t, { TOLLGATE_DATA: folder });
  const made = await program.call('POST', '/api/admin/accounts', { key: token, body: { name: 'Kept' } });
  using _running = await begunRequest(program, token);
  program.child.kill('SIGTERM');
  await untilStopping(program);
  assert.equal(await program.kill('SIGTERM'), 1);
  await until(() => serversBelow(folder).length === 0);

  const next = await Program.start(t, { TOLLGATE_DATA: folder });
  assert.equal((await next.get(`/api/admin/accounts/${made.json.id}`, token)).json.name, 'Kept');
  const names = (await next.get('/api/admin/accounts', token)).json.data.map(
    (account: { name: string }) => account.name,
  );
  assert.ok(!names.includes('Running'));
});

/** A port on which somebody listens until the test ends. */
async function takenPort(t: TestContext): Promise<string> {
  const server = createServer();
  atEnd(t, () => server.close());
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(String(typeof address === 'object' ? address?.port : ''));
    });
  });
}

function advance(program: Program, seconds: number): Promise<Answer> {
  return program.call('POST', '/api/admin/clock', { key: ADMIN_TOKEN, body: { advance_seconds: seconds } });
}
