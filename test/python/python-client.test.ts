import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { installWheel } from '../../scripts/python/environment.ts';
import { buildWheel } from '../../scripts/python/wheel.ts';
import { linkedGateway } from '../support/client-programs.ts';
import { ADMIN_TOKEN, type Gateway } from '../support/gateway.ts';
import { workFolder } from '../support/postgres.ts';

// `npm run test:python` runs this: it makes the virtual environment whose programs are used here.

const run = promisify(execFile);
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

let bin: string;
let gateway: Gateway;
before(async () => {
  bin = process.env.TEST_PYTHON ?? assert.fail('run "npm run test:python"');
  gateway = await linkedGateway();
});
after(() => gateway.stop());

test('the wheel is typed to the letter, does what its tests say at a gateway, and the books balance', async (t) => {
  const folder = workFolder(t);
  installWheel(bin, buildWheel(folder));
  // Away from the sources, so that what is tested is what the wheel holds.
  const copy = join(folder, 'client');
  mkdirSync(copy);
  for (const part of ['pyproject.toml', 'README.md', 'tests']) {
    cpSync(resolve('clients/python', part), join(copy, part), { recursive: true });
  }
  const env = {
    ...process.env,
    PYTHONDONTWRITEBYTECODE: '1',
    TOLLGATE_TEST_URL: gateway.url,
    TOLLGATE_TEST_ADMIN_TOKEN: ADMIN_TOKEN,
  };
  const options = { cwd: copy, env, maxBuffer: OUTPUT_BYTES_MAX };
  // The tests are checked with the types that the wheel brings, and the library by itself.
  const results = await Promise.all([
    outputOf(run(join(bin, 'mypy'), ['--no-incremental', 'tests'], options)),
    outputOf(run(join(bin, 'mypy'), ['--no-incremental', resolve('clients/python/src')], options)),
    outputOf(run(join(bin, 'pytest'), ['-q'], options)),
  ]);
  assert.deepEqual(results.filter(Boolean), [], results.join('\n'));
  await gateway.assertBooksBalance();
});

/** What a program said that has failed; undefined where it succeeded. */
async function outputOf(ending: Promise<unknown>): Promise<string | undefined> {
  try {
    await ending;
    return undefined;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    return `${stdout ?? ''}${stderr ?? String(error)}`;
  }
}
