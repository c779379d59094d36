// Runs real client programs, which it installs from the registries, against a gateway, and writes the table of results in
// docs/clients.md. With names, only those programs; the rows of the others stay. With --if-possible a machine on which
// they cannot be installed is no failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { OUTCOMES_VARIABLE, readOutcomes } from '../../test/clients/support/record.ts';
import { CLIENT_PROGRAMS, clientProgram } from '../../test/clients/versions.ts';
import { installProgram } from './install.ts';
import { writeTable } from './table.ts';

const { values, positionals } = parseArgs({
  options: { 'if-possible': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const programs = positionals.length > 0 ? positionals.map(clientProgram) : CLIENT_PROGRAMS;
for (const program of programs) {
  const problem = installProgram(program);
  if (problem === undefined) continue;
  console.error(`${program.title} cannot be installed here: ${problem}.`);
  process.exit(values['if-possible'] ? 0 : 1);
}
const folder = mkdtempSync(join(tmpdir(), 'tollgate-clients-'));
try {
  const outcomes = join(folder, 'outcomes');
  const files = programs.map(({ name }) => `test/clients/${name}.test.ts`);
  const env = { ...process.env, [OUTCOMES_VARIABLE]: outcomes };
  const child = spawn(process.execPath, ['scripts/test.ts', ...files], { stdio: 'inherit', env });
  const [code] = await once(child, 'exit');
  process.exitCode = code ?? 1;
  writeTable(programs, readOutcomes(outcomes));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
