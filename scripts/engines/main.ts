// Runs the tests that need real servers from Debian's packages (packages.ts), which it installs when they are missing and
// it may. The tests start them in temporary folders with the launchers in this folder. With --if-possible a machine on
// which that cannot be done is no failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { installEngines } from './packages.ts';

const { values, positionals } = parseArgs({
  options: { 'if-possible': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const problem = installEngines();
if (problem !== undefined) {
  console.error(`The tests on real servers cannot run here: ${problem}.`);
  process.exit(values['if-possible'] ? 0 : 1);
}
const files = positionals.length > 0 ? positionals : globSync('test/engines/*.test.ts');
const child = spawn(process.execPath, ['scripts/test.ts', ...files], { stdio: 'inherit' });
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;
