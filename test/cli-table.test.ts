import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { EXIT } from '../src/cli/exit-codes.ts';
import { Commands } from './support/commands.ts';
import { readDocument } from './support/manual.ts';
import { workFolder } from './support/postgres.ts';

let commands: Commands;
before(() => {
  commands = new Commands();
});
after(() => commands.stop());

test('docs/cli.md has every exit code, by its name', () => {
  const rows = [...readDocument('docs/cli.md').matchAll(/^\| (\d+) \| (\w+) \| /gm)].map(([, code, name]) => [
    name,
    Number(code),
  ]);
  assert.deepEqual(Object.fromEntries(rows), EXIT);
});

test('the completion of bash knows commands, what follows them, and their options', async (t) => {
  const { code, out } = await commands.run(['completion', 'bash'], workFolder(t), {});
  assert.equal(code, 0);
  const complete = (...words: string[]) => {
    const array = words.map((word) => `'${word}'`).join(' ');
    const line = `COMP_WORDS=(tollgate ${array}); COMP_CWORD=${words.length}; _tollgate; echo "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', `${out}\n${line}`], { encoding: 'utf8' }).trim();
  };
  assert.equal(complete('mod'), 'models');
  assert.equal(complete('upstream', 'dis'), 'disable');
  assert.equal(complete('run', 'sandbox/image', '--out'), '--output');
  assert.equal(complete('config', 'diff', '--u'), '--url');
  assert.equal(complete('nothing', '--x'), '');
});

for (const shell of ['zsh', 'fish']) {
  test(`the completion of ${shell} names every command that help lists`, async (t) => {
    const folder = workFolder(t);
    const help = await commands.run(['--help'], folder, {});
    const script = await commands.run(['completion', shell], folder, {});
    const words = [...help.out.matchAll(/^ {2}tollgate ([a-z]+)(?: ([a-z]+))?/gm)].flatMap(([, ...found]) => found);
    assert.ok(words.length > 30);
    for (const word of words) if (word !== undefined) assert.match(script.out, new RegExp(`\\b${word}\\b`));
  });
}

test('a shell without a completion is refused as a misuse', async (t) => {
  const { code, err } = await commands.run(['completion', 'csh'], workFolder(t), {});
  assert.equal(code, 2);
  assert.match(err, /bash, zsh and fish/);
});
