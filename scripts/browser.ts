// Runs the tests that need a real browser, Debian's Chromium, which it installs when it is missing and may. With
// --if-possible a machine on which that cannot be done is no failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { installPackage } from './debian.ts';

const CHROMIUM = '/usr/bin/chromium';

const { values, positionals } = parseArgs({
  options: { 'if-possible': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const problem = installPackage('chromium', () => existsSync(CHROMIUM));
if (problem !== undefined) {
  console.error(`The tests in a real browser cannot run here: ${problem}.`);
  process.exit(values['if-possible'] ? 0 : 1);
}
const files = positionals.length > 0 ? positionals : globSync('test/browser/*.test.ts');
const child = spawn(process.execPath, ['scripts/test.ts', ...files], {
  stdio: 'inherit',
  env: { ...process.env, TEST_CHROMIUM: CHROMIUM },
});
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;
