// Runs the tests of the Python client (clients/python) at a real gateway: it makes a virtual environment with what they need,
// and test/python does the rest. With --if-possible a machine on which that cannot be done is no failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { installPython, pythonEnvironment } from './environment.ts';

const TEST = 'test/python/python-client.test.ts';
const REQUIREMENTS = 'clients/python/requirements-test.txt';

const { values } = parseArgs({ options: { 'if-possible': { type: 'boolean', default: false } } });
const environment = prepare();
if (typeof environment === 'object') {
  console.error(`The tests of the Python client cannot run here: ${environment.problem}.`);
  process.exit(values['if-possible'] ? 0 : 1);
}
const env = { ...process.env, TEST_PYTHON: environment };
const child = spawn(process.execPath, ['scripts/test.ts', TEST], { stdio: 'inherit', env });
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;

function prepare(): string | { readonly problem: string } {
  const problem = installPython();
  if (problem !== undefined) return { problem };
  try {
    return pythonEnvironment(REQUIREMENTS);
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
