import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { readTable } from '../scripts/clients/table.ts';
import { WORKS } from './clients/support/record.ts';
import { CLIENT_PROGRAMS, versionOf } from './clients/versions.ts';

/** What scripts import. */
const SHARED = ['step', 'token-credits'];

// The programs themselves are run by `npm run test:clients`, which writes the table.

test('the table in docs/clients.md has the pinned version of every client program, and no other row', () => {
  const written = new Set(readTable().map(({ title, version }) => `${title} ${version}`));
  assert.deepEqual(
    [...written].sort(),
    CLIENT_PROGRAMS.map((program) => `${program.title} ${versionOf(program)}`).sort(),
    'run "npm run test:clients" for those that differ',
  );
});

test('each row of the table says that the program works', () => {
  const faults = readTable().filter(({ result }) => result !== WORKS);
  assert.deepEqual(faults, []);
});

test('each client program has a test, and each test a program, with exact versions', () => {
  const tests = globSync('test/clients/*.test.ts').map((file) => basename(file, '.test.ts'));
  assert.deepEqual(tests.sort(), CLIENT_PROGRAMS.map(({ name }) => name).sort());
  const versions = CLIENT_PROGRAMS.flatMap(({ packages }) => Object.values(packages));
  assert.deepEqual(
    versions.filter((version) => !/^\d+\.\d+(?:\.\d+)*(?:[-.\w]+)?$/.test(version)),
    [],
  );
  const unused = globSync('test/clients/scripts/*.{mjs,py}')
    .map((file) => basename(file).replace(/\.\w+$/, ''))
    .filter((name) => !SHARED.includes(name) && !existsSync(`test/clients/${name}.test.ts`));
  assert.deepEqual(unused, []);
});
