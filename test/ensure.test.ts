import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { atEnd, until, workFolder } from './support/postgres.ts';

const HAS_TERMINAL = spawnSync('script', ['--version']).status === 0;

/** A checkout without packages, and an npm that installs when it is let go. */
function bareCheckout(t: TestContext) {
  const folder = workFolder(t);
  for (const name of ['scripts', 'bin']) mkdirSync(join(folder, name));
  copyFileSync('scripts/ensure.mjs', join(folder, 'scripts', 'ensure.mjs'));
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
