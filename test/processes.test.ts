import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADMIN_TOKEN } from './support/gateway.ts';
import { until } from './support/postgres.ts';
import { freePort, ownDatabase, Program } from './support/program.ts';
import { begunRequest, REST_OF_BODY } from './support/start-stop.ts';
import { childrenOf, isAlive, SERVE_TWO, startTwo } from './support/supervised.ts';

// A smoke; test/long/processes.test.ts has the rest.

test('processes on one port share a deployment, and say that they do not share limits', async (t) => {
  const program = await startTwo(t);
  assert.match(program.told, /2 processes share the port\. Each counts rates and concurrency alone/);
  // Each hears of the other with its next beat.
  await until(async () =>
    (await program.get('/healthz')).json.warnings.join().includes('2 processes share this database'),
  );
  // Connections are dealt out in turn, so both of them answer some of these.
  const { id } = (await program.call('POST', '/api/admin/accounts', { key: ADMIN_TOKEN, body: { name: 'Shared' } }))
    .json;
  for (let call = 0; call < 6; call++) {
    assert.equal((await program.get(`/api/admin/accounts/${id}`, ADMIN_TOKEN)).json.name, 'Shared');
  }
  assert.equal(await program.kill('SIGTERM'), 0);
});

test('R-528: SIGTERM to the supervisor lets a running request of a process end well', async (t) => {
  const program = await startTwo(t);
  const pids = childrenOf(program);
  using running = await begunRequest(program);
  program.child.kill('SIGTERM');
  // As a service manager does that signals every process of its unit: it is one stop, not two.
  for (const pid of pids) process.kill(pid, 'SIGTERM');
  await running.send(REST_OF_BODY);
  const answer = await running.answer();
  assert.deepEqual([answer.status, answer.json.name], [200, 'Running']);
  assert.equal(await program.end(), 0);
  assert.deepEqual(pids.filter(isAlive), []);
});

test('R-528: a stop while other processes still start lets a running request of the first end well', async (t) => {
  const port = await freePort();
  const program = Program.spawn(t, { ...(await ownDatabase(t)), PORT: String(port) }, SERVE_TWO);
  // The second is started once the first serves, and takes a while.
  await until(() => childrenOf(program).length === 2);
  const pids = childrenOf(program);
  using running = await begunRequest({ url: `http://127.0.0.1:${port}` });
  program.child.kill('SIGTERM');
  await until(() => program.logged.some((line) => line.includes('"stopping"')));
  await running.send(REST_OF_BODY);
  const answer = await running.answer();
  assert.deepEqual([answer.status, answer.json.name], [200, 'Running']);
  assert.equal(await program.end(), 0);
  assert.deepEqual(pids.filter(isAlive), []);
});
