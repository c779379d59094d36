import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usedFolder } from '../support/first-start.ts';
import { serversBelow, until } from '../support/postgres.ts';
import { adminToken, ownDatabase, Program, SERVE } from '../support/program.ts';
import { begunRequest } from '../support/start-stop.ts';
import { childrenOf, isAlive, SERVE_TWO, startTwo } from '../support/supervised.ts';

test('a process that dies is started again and told of, while the other serves', async (t) => {
  const program = await startTwo(t);
  const [victim = 0, other = 0] = childrenOf(program);
  process.kill(victim, 'SIGKILL');
  await until(() => program.logged.some((line) => line.includes('a process ended and is started again')));
  assert.ok(isAlive(other));
  assert.equal((await program.get('/livez')).status, 200);
  await until(() => program.logged.some((line) => line.includes('a process that had ended serves again')));
  assert.equal(childrenOf(program).length, 2);
  assert.equal(await program.kill('SIGTERM'), 0);
});

test('R-528: a second SIGTERM ends supervisor and processes at once, and the embedded database with them', async (t) => {
  const folder = await usedFolder(t);
  const program = await Program.start(t, { TOLLGATE_DATA: folder }, SERVE_TWO);
  const pids = childrenOf(program);
  using _running = await begunRequest(program, adminToken(folder));
  program.child.kill('SIGTERM');
  await until(() => program.logged.some((line) => line.includes('"stopping"')));
  assert.equal(await program.kill('SIGTERM'), 1);
  await until(() => pids.every((pid) => !isAlive(pid)));
  await until(() => serversBelow(folder).length === 0);
});

test('processes whose supervisor is killed end in order', async (t) => {
  const program = await startTwo(t);
  const pids = childrenOf(program);
  await program.kill('SIGKILL');
  await until(() => pids.every((pid) => !isAlive(pid)));
});

test('a start that fails is told once and not repeated', async (t) => {
  const settings = { ...(await ownDatabase(t)), HOST: '203.0.113.1' };
  const told = await Program.refusal(t, settings, SERVE_TWO);
  assert.match(told, /^203\.0\.113\.1 is not an address of this machine\. Choose another with PORT and HOST\.\n$/);
  assert.match(await Program.refusal(t, { PORT: 'eighty' }, SERVE_TWO), /^ {2}- PORT /m);
});

test('a number of processes that makes no sense is a misuse', async (t) => {
  for (const count of ['0', '65', 'many']) {
    const program = Program.spawn(t, {}, [...SERVE, '--processes', count]);
    assert.equal(await program.end(), 2);
    assert.match(program.told, /--processes must be a whole number from 1 to 64/);
  }
});
