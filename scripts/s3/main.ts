// Runs the tests of the bucket store against a real S3 server of another make, which it installs when it is missing and
// may. With --if-possible a machine on which that cannot be done is no failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { installSwift, type Swift, startSwift } from './swift.ts';

const TESTS = 'test/object-store-s3.test.ts';

const { values } = parseArgs({ options: { 'if-possible': { type: 'boolean', default: false } } });
const problem = installSwift();
if (problem !== undefined) {
  console.error(`The tests against a real S3 server cannot run here: ${problem}.`);
  process.exit(values['if-possible'] ? 0 : 1);
}
const swift = await startSwift();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void swift.stop().then(() => process.exit(1)));
}
try {
  process.exitCode = await runTests(swift);
} finally {
  await swift.stop();
}

async function runTests({ endpoint, environment }: Swift): Promise<number> {
  const env = { ...process.env, ...environment, TEST_S3_ENDPOINT: endpoint };
  const child = spawn(process.execPath, ['--test', TESTS], { stdio: 'inherit', env });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}
