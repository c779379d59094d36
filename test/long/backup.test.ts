import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { request } from 'undici';
import { keyed } from '../support/documents.ts';
import { firstStart, usedFolder } from '../support/first-start.ts';
import { atEnd, serversBelow, until, workFolder } from '../support/postgres.ts';
import { adminToken, Program, runCommand, spawnCommand } from '../support/program.ts';

const BUSY = { TOLLGATE_RPM: '100000', TOLLGATE_CONCURRENCY: '1000' };

/** A backup of a folder that was used once, made with the gateway stopped. */
async function smallBackup(t: TestContext): Promise<{ file: string; folder: string }> {
  const folder = await usedFolder(t);
  const file = join(workFolder(t), 'gate.tar');
  const { code, err } = await runCommand(t, ['backup', file], { TOLLGATE_DATA: folder });
  assert.equal(code, 0, err);
  return { file, folder };
}

test('a backup under load is restored elsewhere: the books balance, jobs go on, and links work', async (t) => {
  const folder = await usedFolder(t);
  const { key } = await firstStart(t);
  const program = await Program.start(t, { TOLLGATE_DATA: folder, ...BUSY });
  const file = join(workFolder(t), 'gate.tar');
  const link = await storedFile(program, key);
  const load = new Load(program, key);
  atEnd(t, () => load.stop());
  await until(async () => (await jobsOf(program, key)).filter(({ status }) => status === 'succeeded').length >= 3);
  const before = { jobs: load.jobs, chats: load.chats };
  const ended = (await jobsOf(program, key)).filter(({ status }) => status === 'succeeded').map(({ id }) => id);
  assert.notEqual(ended.length, 0);
  const { code, out, err } = await runCommand(t, ['backup', file], { TOLLGATE_DATA: folder });
  assert.equal(code, 0, err);
  assert.match(out, /holds \d+ rows and \d+ stored media\.\nIt also holds the root secret and the admin token/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  await until(() => load.jobs > before.jobs && load.chats > before.chats);
  await load.stop();
  assert.equal((await program.get('/api/admin/books', adminToken(folder))).json.balanced, true);
  await program.kill('SIGTERM');

  const other = join(workFolder(t), 'other', 'data');
  const restored = await runCommand(t, ['restore', file], { TOLLGATE_DATA: other });
  assert.deepEqual([restored.code, restored.out.startsWith(`${other} holds `)], [0, true], restored.err);
  assert.deepEqual(serversBelow(other), []);
  assert.deepEqual(openToOthers(other), []);
  const next = await Program.start(t, { TOLLGATE_DATA: other, ...BUSY });
  const books = () => next.get('/api/admin/books', adminToken(other));
  assert.equal((await books()).json.balanced, true);
  assert.equal((await next.get(link)).status, 200);
  await until(async () => (await jobsOf(next, key)).every(({ status }) => !['queued', 'running'].includes(status)));
  const jobs = await jobsOf(next, key);
  assert.ok(jobs.length >= before.jobs);
  const made = jobs.filter(({ status }) => status === 'succeeded').map(({ id }) => id);
  assert.deepEqual(
    ended.filter((id) => !made.includes(id)),
    [],
  );
  // A call that was being made at that moment has no known outcome, as after a crash: its job is refunded.
  assert.deepEqual(
    jobs.filter(({ status }) => !['succeeded', 'failed'].includes(status)),
    [],
  );
  for (const id of made) {
    const { json } = await next.get(`/v1/jobs/${id}/assets`, key);
    assert.notEqual(json.items.length, 0);
    for (const { url } of json.items) assert.equal((await next.get(pathOf(url))).status, 200, id);
  }
  assert.equal((await books()).json.balanced, true);
});

test('a restore brings back the secrets: tokens, sealed upstream keys and links', async (t) => {
  const folder = await usedFolder(t);
  const program = await Program.start(t, { TOLLGATE_DATA: folder });
  const token = adminToken(folder);
  const put = await program.call('PUT', '/api/admin/config', {
    key: token,
    body: { upstreams: [keyed('u', 'key-of-u')], models: [] },
  });
  assert.equal(put.status, 200, put.text);
  const file = join(workFolder(t), 'gate.tar');
  assert.equal((await runCommand(t, ['backup', file], { TOLLGATE_DATA: folder })).code, 0);
  const other = join(workFolder(t), 'data');
  // An empty folder is as good as none: a mounted disk is one.
  mkdirSync(other);
  assert.equal((await runCommand(t, ['restore', file], { TOLLGATE_DATA: other })).code, 0);
  const next = await Program.start(t, { TOLLGATE_DATA: other });
  assert.equal((await next.get('/api/admin/upstreams', token)).json.data[0].has_secret, true);
  const made = await next.call('POST', '/api/admin/accounts', { key: token, body: { name: 'New' } });
  assert.equal(made.status, 200, made.text);
  assert.equal((await next.get('/api/admin/config/versions', token)).json.data[0].version, put.json.version);
});

test('a backup is refused where it would overwrite, and where the database is not embedded', async (t) => {
  const { file, folder } = await smallBackup(t);
  const content = readFileSync(file);
  const again = await runCommand(t, ['backup', file], { TOLLGATE_DATA: folder });
  assert.deepEqual([again.code, again.out], [1, '']);
  assert.match(again.err, /exists already; choose another name/);
  assert.deepEqual(readFileSync(file), content);
  assert.deepEqual(readdirSync(join(file, '..')), ['gate.tar']);
  const nowhere = await runCommand(t, ['backup', join(file, 'x')], { TOLLGATE_DATA: folder });
  assert.match(nowhere.err, /The backup cannot be written: ENOTDIR/);
  const external = {
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    TOLLGATE_ADMIN_TOKEN: 'a-token-of-the-operator',
    TOLLGATE_SECRET: 'a-root-secret-of-thirty-two-chars',
  };
  for (const command of ['backup', 'restore']) {
    const { code, err } = await runCommand(t, [command, `${file}.2`], external);
    assert.equal(code, 1);
    assert.match(err, /is for the embedded database.*DATABASE_URL/);
  }
});

test('a backup is refused while its upstream keys are sealed with the previous secret', async (t) => {
  const folder = await usedFolder(t);
  const program = await Program.start(t, { TOLLGATE_DATA: folder });
  const body = { upstreams: [keyed('u', 'key-of-u')], models: [] };
  await program.call('PUT', '/api/admin/config', { key: adminToken(folder), body });
  const file = join(workFolder(t), 'gate.tar');
  const settings = {
    TOLLGATE_DATA: folder,
    TOLLGATE_SECRET: 'the-secret-that-comes-after-0123456789ab',
    TOLLGATE_SECRET_PREVIOUS_FILE: join(folder, 'secret'),
  };
  const { code, err } = await runCommand(t, ['backup', file], settings);
  assert.deepEqual([code, existsSync(file)], [1, false]);
  assert.match(err, /^Run "tollgate secrets reseal" first/);
  assert.equal((await runCommand(t, ['secrets', 'reseal'], settings)).code, 0);
  assert.equal((await runCommand(t, ['backup', file], settings)).code, 0);
});

test('a restore refuses a folder that is not empty and leaves it as it is', async (t) => {
  const { file, folder } = await smallBackup(t);
  const entries = readdirSync(folder);
  const { code, err } = await runCommand(t, ['restore', file], { TOLLGATE_DATA: folder });
  assert.equal(code, 1);
  assert.match(err, /data is not empty\. Choose another folder with TOLLGATE_DATA/);
  assert.deepEqual(readdirSync(folder), entries);
});

const DAMAGES: readonly (readonly [what: string, damage: (file: string) => void, told: RegExp])[] = [
  ['is cut off', (file) => truncateSync(file, statSync(file).size >> 1), /is not whole: its end is missing|is damaged/],
  ['lacks its manifest', (file) => truncateSync(file, statSync(file).size - 2560), /is not whole: its end is missing/],
  ['has one changed byte', (file) => changeByte(file, statSync(file).size >> 1), /is damaged/],
  ['is empty', (file) => truncateSync(file, 0), /is not whole/],
  ['is something else', (file) => writeFileSync(file, 'x'.repeat(2048)), /is no backup of Tollgate/],
  [
    'is of a format to come',
    (file) => replaceIn(file, '"format":2', '"format":3'),
    /by a version that this one does not know/,
  ],
  [
    'is of an unreleased version',
    (file) => replaceIn(file, '"format":2', '"format":1'),
    /by a version that this one does not know\. Restore it with that one/,
  ],
];

test('a restore checks the archive whole before it writes anything', async (t) => {
  const { file } = await smallBackup(t);
  for (const [what, damage, told] of DAMAGES) {
    const copy = join(workFolder(t), 'copy.tar');
    copyFileSync(file, copy);
    damage(copy);
    const folder = join(workFolder(t), 'data');
    const { code, out, err } = await runCommand(t, ['restore', copy], { TOLLGATE_DATA: folder });
    assert.deepEqual([code, out], [1, ''], what);
    assert.match(err, told, what);
    assert.doesNotMatch(err, /^\s+at /m, what);
    assert.ok(!existsSync(folder), what);
  }
  const missing = await runCommand(t, ['restore', `${file}.none`], { TOLLGATE_DATA: join(workFolder(t), 'data') });
  assert.match(missing.err, /cannot be read: ENOENT/);
});

test('a restore that is killed in the middle leaves nothing that starts', async (t) => {
  const { file } = await smallBackup(t);
  const folder = join(workFolder(t), 'data');
  const child = spawnCommand(t, ['restore', file], { TOLLGATE_DATA: folder });
  await until(() => existsSync(join(folder, 'postgres', 'postmaster.pid')));
  child.kill('SIGKILL');
  await until(() => child.signalCode !== null);
  assert.match(
    await Program.refusal(t, { TOLLGATE_DATA: folder }),
    /A restore into .* was broken off\. Delete the folder/,
  );
  const again = await runCommand(t, ['restore', file], { TOLLGATE_DATA: folder });
  assert.match(again.err, /A restore into .* was broken off\. Delete the folder/);
});

test('a restore that is stopped by SIGTERM leaves no database running', async (t) => {
  const { file } = await smallBackup(t);
  const folder = join(workFolder(t), 'data');
  const child = spawnCommand(t, ['restore', file], { TOLLGATE_DATA: folder });
  await until(() => existsSync(join(folder, 'postgres', 'postmaster.pid')));
  child.kill('SIGTERM');
  await until(() => child.exitCode !== null || child.signalCode !== null);
  await until(() => serversBelow(folder).length === 0);
});

test('other programs read the archive as a tar file', async (t) => {
  const { file } = await smallBackup(t);
  const { status, stdout } = spawnSync('tar', ['tvf', file], { encoding: 'utf8' });
  assert.equal(status, 0);
  assert.match(stdout, /^-rw------- .* tollgate-backup\.json\n/);
  assert.match(stdout, /objects\/[a-z]+\//);
  assert.match(stdout, / manifest\.json\n$/);
});

/** Chats and pictures, one after the other in several lanes, until it is stopped. */
class Load {
  jobs = 0;
  chats = 0;
  readonly #lanes: Promise<void>[];
  #isOver = false;

  constructor(program: Program, key: string) {
    const chat = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'What is 12 * 7?' }] };
    const picture = { model: 'sandbox/image', prompt: 'a gate', size: '256x256', quality: 'low' };
    const lane = async (path: string, body: object, done: () => void) => {
      while (!this.#isOver) {
        const answer = await program.call('POST', path, { key, body });
        assert.ok(answer.status < 300, answer.text);
        done();
      }
    };
    this.#lanes = [
      lane('/v1/chat/completions', chat, () => this.chats++),
      lane('/v1/chat/completions', chat, () => this.chats++),
      lane('/v1/images/generations', picture, () => this.jobs++),
    ];
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#lanes);
  }
}

async function storedFile(program: Program, key: string): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob([PNG], { type: 'image/png' }), 'a.png');
  const { body } = await request(`${program.url}/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  const answer = JSON.parse(await body.text());
  return pathOf(answer.url);
}

async function jobsOf(program: Program, key: string): Promise<{ id: string; status: string }[]> {
  const jobs: { id: string; status: string }[] = [];
  for (let after = ''; ; after = `&after=${jobs.at(-1)?.id}`) {
    const { json } = await program.get(`/v1/jobs?limit=100${after}`, key);
    jobs.push(...json.data);
    if (!json.has_more) return jobs;
  }
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** What other users may read or write below a folder, the server's own passage into it apart. */
function openToOthers(folder: string): readonly string[] {
  const paths = [
    '',
    'secret',
    'admin-token',
    ...readdirSync(join(folder, 'objects'), { recursive: true }).map((path) => join('objects', String(path))),
  ];
  return paths.filter((path) => (statSync(join(folder, path)).mode & 0o067) !== 0);
}

function changeByte(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

function replaceIn(file: string, before: string, after: string): void {
  const text = readFileSync(file, 'latin1');
  assert.ok(text.includes(before));
  writeFileSync(file, Buffer.from(text.replace(before, after), 'latin1'));
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
