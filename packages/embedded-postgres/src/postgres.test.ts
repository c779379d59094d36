import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DatabaseError } from 'pg';
import { explain } from './ask.ts';
import { linkLibraries } from './binaries.ts';
import { fitsSocket } from './folders.ts';
import { identities, pickNamedUid } from './identity.ts';
import { isServerCommand } from './processes.ts';
import { lastLines } from './server-log.ts';
import { serverArguments } from './settings.ts';
import { asStartError, PostgresStartError } from './start-error.ts';

test('lets settings of the caller win over its own', () => {
  const given = serverArguments('/data/postgres', '/data/postgres', { fsync: 'off' });
  assert.deepEqual(given.slice(0, 2), ['-D', '/data/postgres']);
  assert.ok(given.lastIndexOf('fsync=off') > given.lastIndexOf('fsync=on'));
  assert.ok(given.includes('listen_addresses='));
});

for (const [folder, fits] of [
  ['/data/postgres', true],
  ['/my data/postgres', true],
  [`/${'x'.repeat(92)}`, true],
  [`/${'x'.repeat(93)}`, false],
  [`/${'é'.repeat(47)}`, false],
  ['/a,b', false],
  ['/a"b', false],
] as const) {
  test(`${fits ? 'keeps' : 'does not keep'} a socket in a folder like ${folder.slice(0, 20)} of ${folder.length}`, () => {
    assert.equal(fitsSocket(folder), fits);
  });
}

test('runs as an ordinary user when started by one', () => {
  const [first, second] = identities(1000, 100, 65_534);
  assert.deepEqual(first?.prefix, []);
  assert.equal(first?.uid, undefined);
  assert.deepEqual(first?.folderAccess, { uid: 1000, gid: 100, mode: 0o700 });
  assert.equal(second?.prefix[0], 'unshare');
});

test('never runs as root without more, and first tries the ways that leave the data folder closed', () => {
  const names = identities(0, 0, 65_534).map((identity) => identity.name);
  assert.deepEqual(names, [
    'uid 65534 with dac_read_search',
    'uid 65534 with dac_override',
    'uid 0 in a user namespace',
    'uid 65534',
  ]);
});

test('keeps the data folder in the hands of root', () => {
  for (const { folderAccess } of identities(0, 0, 65_534)) assert.equal(folderAccess.uid, 0);
});

for (const [passwd, expected] of [
  ['root:x:0:0::/root:/bin/sh\ndaemon:x:1:1::/:\nnobody:x:65534:65534::/:\n', 65_534],
  ['root:x:0:0::/root:/bin/sh\ndaemon:x:1:1::/:\n', 1],
  ['root:x:0:0::/root:/bin/sh\n', 65_534],
  ['', 65_534],
] as const) {
  test(`takes ${expected} for a user with a name from ${JSON.stringify(passwd)}`, () => {
    assert.equal(pickNamedUid(passwd), expected);
  });
}

for (const [commandLine, expected] of [
  ['/opt/bin/postgres\0-D\0/data/postgres\0-c\0fsync=on\0', true],
  ['/opt/bin/postgres\0-D\0/other/postgres\0', false],
  ['/usr/bin/editor\0/data/postgres\0', false],
  ['', false],
] as const) {
  test(`${expected ? 'takes' : 'does not take'} ${JSON.stringify(commandLine)} for the server of a cluster`, () => {
    assert.equal(isServerCommand(commandLine, '/data/postgres'), expected);
  });
}

for (const [code, state] of [
  ['57P03', 'busy'],
  ['57P01', 'busy'],
  ['3D000', 'broken'],
  ['XX001', 'broken'],
] as const) {
  test(`calls a server ${state} that refuses with ${code}`, () => {
    const error = new DatabaseError('refused', 0, 'error');
    error.code = code;
    assert.equal(explain(error).state, state);
  });
}

test('calls a server silent when there is no connection', () => {
  assert.equal(explain(new Error('connect ECONNREFUSED')).state, 'silent');
});

test('keeps the last lines of what a program said, without empty ones', () => {
  const text = Array.from({ length: 50 }, (_, index) => `line ${index}\n\n`).join('');
  assert.equal(lastLines(text).length, 20);
  assert.equal(lastLines(text).at(-1), 'line 49');
});

test('tells a person what to do about a full disk, and else names DATABASE_URL', () => {
  assert.match(asStartError(new Error('ENOSPC: no space left on device'), '/data').message, /\/data is full/);
  assert.match(asStartError(new Error('odd'), '/data').message, /odd\n.*DATABASE_URL/);
  const known = new PostgresStartError('known');
  assert.equal(asStartError(known, '/data'), known);
});

test('makes the links of shared libraries once, also when several processes do', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-links-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const native = join(folder, 'native');
  mkdirSync(join(native, 'lib'), { recursive: true });
  writeFileSync(join(native, 'lib', 'liba.so.1.2'), 'library');
  const links = [{ source: 'native/lib/liba.so.1.2', target: 'native/lib/liba.so.1' }];
  writeFileSync(join(native, 'pg-symlinks.json'), JSON.stringify(links));
  const spares = await Promise.all([1, 2, 3].map(() => linkLibraries(native, join(folder, 'spare'))));
  assert.deepEqual(spares, [undefined, undefined, undefined]);
  assert.equal(readlinkSync(join(native, 'lib', 'liba.so.1')), 'liba.so.1.2');
  assert.equal(readFileSync(join(native, 'lib', 'liba.so.1'), 'utf8'), 'library');
});
