import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { exampleProgram, linkedGateway, writeProgram } from '../../../test/support/client-programs.ts';
import type { Gateway } from '../../../test/support/gateway.ts';
import { paidCaller } from '../../../test/support/paid-calls.ts';
import { workFolder } from '../../../test/support/postgres.ts';

let gateway: Gateway;
before(async () => {
  gateway = await linkedGateway();
});
after(() => gateway.stop());

test('the examples of the README run one after the other, and do what they say', async (t) => {
  const folder = workFolder(t);
  const { key } = await paidCaller(gateway);
  const program = writeProgram(folder, exampleProgram('packages/client/README.md', gateway.url), ['client']);
  const env = { ...process.env, TOLLGATE_KEY: key };
  const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: folder, env });
  assert.match(stdout, /84.* for [\d.]+ credits\n/);
  assert.match(stdout, /image\/png for 10 credits\n/);
  assert.match(stdout, /succeeded, 100 %\n1 s at http/);
  assert.match(stdout, /job_\w+ succeeded\n/);
  assert.match(stdout, /is open/i);
  assert.match(stdout, /40 of \d+(\.\d+)? credits\n/);
  assert.match(stdout, /no\/such-model.*req_\w+/);
  assert.equal(readFileSync(join(folder, 'gate.png')).toString('latin1', 1, 4), 'PNG');
  assert.ok(statSync(join(folder, 'tune.mp3')).size > 1000);
  await gateway.assertBooksBalance();
});
