import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sniff } from '../../src/media/index.ts';
import { CommandLine, MAIN } from '../support/command-line.ts';
import { BARE_ENVIRONMENT } from '../support/environment.ts';
import { ADMIN_TOKEN } from '../support/gateway.ts';
import { runShell, sectionsOf } from '../support/manual.ts';

test('the commands of docs/cli.md run as they stand there, one after the other', async (t) => {
  const shell = await CommandLine.start(t);
  const blocks = sectionsOf('docs/cli.md').flatMap((section) => section.blocks.map(({ commands }) => commands));
  assert.ok(blocks.length >= 7);
  const tollgate = `tollgate() { "${process.execPath}" "${MAIN}" "$@"; }`;
  // `env` starts programs, not functions of the shell.
  const commands = blocks.join('\n').replace('env -u TOLLGATE_KEY tollgate', 'TOLLGATE_KEY= tollgate');
  const env = { ...BARE_ENVIRONMENT, ...shell.environment, TOLLGATE_ADMIN_TOKEN: ADMIN_TOKEN };
  const { output, code } = await runShell(`${tollgate}\n${commands}`, { cwd: shell.folder, env });
  assert.equal(code, 0, output);
  assert.match(output, /84/);
  assert.match(output, /good morning/i);
  assert.match(output, /Everything balances\./);
  const typeOf = (name: string) => sniff(readFileSync(join(shell.folder, name)))?.mimeType;
  for (const name of ['gate.png', 'gates.png', 'gates-2.png', 'later.png'])
    assert.equal(typeOf(name), 'image/png', name);
  assert.match(readFileSync(join(shell.folder, 'key.txt'), 'utf8'), /^sk-tg1-\w+\n$/);
});
