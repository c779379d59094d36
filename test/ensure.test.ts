import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { atEnd, until, workFolder } from './support/postgres.ts';

const HAS_TERMINAL = spawnSync('script', ['--version']).status === 0;

/** A checkout without packages, and an npm that installs when it is let go. */
function bareCheckout(t: TestContext) {
  const folder = workFolder(t);
  for (const name of ['scripts', 'bin']) mkdirSync(join(folder, name));
  for (const script of ['ensure.mjs', 'console-build.mjs'])
    copyFileSync(`scripts/${script}`, join(folder, 'scripts', script));
  const lock = JSON.stringify({ packages: { '': {}, 'node_modules/a': { version: '1', integrity: 'x' } } });
  writeFileSync(join(folder, 'package-lock.json'), lock);
  const go = join(folder, 'go');
  const npm = join(folder, 'bin', 'npm');
  writeFileSync(
    npm,
    `#!/bin/sh\nmkdir -p node_modules/a\nuntil [ -e '${go}' ]; do sleep 0.1; done\ncp package-lock.json node_modules/.package-lock.json\n`,
  );
  chmodSync(npm, 0o755);
  const run = (command: readonly string[]) => {
    const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` };
    const child = spawn(command[0] ?? '', command.slice(1), { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    atEnd(t, () => child.kill('SIGKILL'));
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    return { child, said: () => text };
  };
  return { run, letGo: () => writeFileSync(go, '') };
}

if (HAS_TERMINAL) {
  test('the progress of an installation is one line that moves, on a terminal', async (t) => {
    const { run, letGo } = bareCheckout(t);
    const { child, said } = run(['script', '-qec', `'${process.execPath}' scripts/ensure.mjs`, '/dev/null']);
    await until(() => new Set(said().match(/1 of 1 packages unpacked, \d+ s/g) ?? []).size >= 2);
    letGo();
    await until(() => child.exitCode !== null);
    assert.equal(child.exitCode, 0, said());
    assert.equal(
      said()
        .split('\n')
        .filter((line) => line.includes('unpacked')).length,
      1,
      'always the same line',
    );
    assert.match(said(), /Installed 1 packages in \d+ s\.\r?\n$/);
  });
}

test('the progress of an installation leaves a log short, and a second command says that it waits', async (t) => {
  const { run, letGo } = bareCheckout(t);
  const first = run([process.execPath, 'scripts/ensure.mjs']);
  await until(() => first.said().includes('Installing up to 1 packages'));
  const second = run([process.execPath, 'scripts/ensure.mjs']);
  await until(() => second.said().includes('Waiting for another command that is installing the packages.\n'));
  letGo();
  await until(() => first.child.exitCode !== null && second.child.exitCode !== null);
  assert.deepEqual([first.child.exitCode, second.child.exitCode], [0, 0]);
  assert.doesNotMatch(first.said(), /\r/);
});

/** The lockfile of a gateway with a development package and a workspace. */
const LOCKED = {
  '': { dependencies: { a: '1' }, devDependencies: { d: '1' } },
  'node_modules/a': { version: '1', integrity: 'x' },
  'node_modules/d': { version: '1', integrity: 'x', dev: true },
  'node_modules/s': { version: '1', integrity: 'x' },
  'node_modules/@own/w': { resolved: 'packages/w', link: true },
  'packages/w': { dependencies: { s: '1' } },
};
type LockedPath = keyof typeof LOCKED;

/** Which options npm was given, or undefined where it was not run; it fails, so that nothing follows. */
function optionsOfInstall(t: TestContext, args: readonly string[], installed: object): string | undefined {
  const folder = workFolder(t);
  for (const name of ['scripts', 'bin', 'node_modules']) mkdirSync(join(folder, name));
  for (const script of ['ensure.mjs', 'console-build.mjs'])
    copyFileSync(`scripts/${script}`, join(folder, 'scripts', script));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: LOCKED }));
  writeFileSync(join(folder, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: installed }));
  writeFileSync(join(folder, 'bin', 'npm'), '#!/bin/sh\necho "$@" > npm-was-run\nexit 1\n', { mode: 0o755 });
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` };
  spawnSync(process.execPath, [join(folder, 'scripts', 'ensure.mjs'), ...args], { cwd: folder, env });
  const file = join(folder, 'npm-was-run');
  return existsSync(file) ? /^ci (.*?) ?--ignore-scripts/.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
}

function only(...paths: readonly LockedPath[]): object {
  return Object.fromEntries(paths.map((path) => [path, LOCKED[path]]));
}

const { '': _root, ...everything } = LOCKED;
const olderA = { 'node_modules/a': { version: '0', integrity: 'w' } };
const linked = only('node_modules/a', 'node_modules/@own/w', 'packages/w');

const INSTALLS: readonly (readonly [
  what: string,
  args: readonly string[],
  installed: object,
  options: string | undefined,
])[] = [
  ['a whole installation is enough for every command', [], everything, undefined],
  ['a production install is enough to run', ['--to-run'], only('node_modules/a'), undefined],
  ['a production install is not enough to test', [], only('node_modules/a'), ''],
  ['an older production install is renewed as one', ['--to-run'], olderA, '--omit=dev --no-workspaces'],
  ['one with the workspaces is renewed with them', ['--to-run'], { ...linked, ...olderA }, '--omit=dev'],
  ['a workspace without what it needs is renewed', ['--to-run'], linked, '--omit=dev'],
  [
    'a development install without the workspaces gets them',
    ['--to-run'],
    only('node_modules/a', 'node_modules/d'),
    '',
  ],
];

for (const [what, args, installed, options] of INSTALLS) {
  test(what, (t) => assert.equal(optionsOfInstall(t, args, installed), options));
}
