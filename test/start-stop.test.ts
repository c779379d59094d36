import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { firstStart, usedFolder } from './support/first-start.ts';
import { serversBelow, workFolder } from './support/postgres.ts';
import { adminToken, ownDatabase, Program } from './support/program.ts';
import { RawConnection, requestText } from './support/raw-http.ts';
import { assertPlain, begunRequest, REST_OF_BODY, untilStopping } from './support/start-stop.ts';

// A smoke of starts and stops; test/long/start-stop.test.ts has the rest.

test('a first start prints a key and commands that work as they are', async (t) => {
  const { told, key, answers } = await firstStart(t);
  assert.equal(told.split(key).length, 2);
  assert.match(told, new RegExp(`shown only now.*\\n {2}export TOLLGATE_KEY=${key}\\n`));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 202, 200],
  );
});

test('a first start makes one account with 10 000 credits', async (t) => {
  const { accounts, entries } = await firstStart(t);
  assert.deepEqual(
    accounts.json.data.map((account: { name: string }) => account.name),
    ['demo'],
  );
  assert.deepEqual([entries.json.data.length, entries.json.data[0].balance], [1, 10_000]);
});

test('a gateway killed with its database running loses nothing', async (t) => {
  const folder = await usedFolder(t);
  const token = adminToken(folder);
  const killed = await Program.start(t, { TOLLGATE_DATA: folder });
  const made = await killed.call('POST', '/api/admin/accounts', { key: token, body: { name: 'Kept' } });
  await killed.kill('SIGKILL');
  assert.notEqual(serversBelow(folder).length, 0);

  const next = await Program.start(t, { TOLLGATE_DATA: folder });
  assert.equal((await next.get(`/api/admin/accounts/${made.json.id}`, token)).json.name, 'Kept');
  assert.equal((await next.get('/api/admin/books', token)).json.balanced, true);
  assert.equal(await next.kill('SIGTERM'), 0);
  assert.deepEqual(serversBelow(folder), []);
});

test('R-526: several bad settings and an unknown one are told at once, and nothing is started', async (t) => {
  const folder = join(workFolder(t), 'data');
  const bad = { PORT: 'eighty', TOLLGATE_SECRET: 'hush', TOLLGATE_COLOUR: 'blue', LOG_LEVEL: 'loud' };
  const told = await Program.refusal(t, { TOLLGATE_DATA: folder, ...bad });
  for (const name of Object.keys(bad)) assert.match(told, new RegExp(`^ {2}- ${name} `, 'm'));
  assertPlain(told);
  assert.ok(!existsSync(folder));
});

test('R-528: SIGTERM lets a running request end well and exits with 0', async (t) => {
  const program = await Program.start(t, await ownDatabase(t));
  using running = await begunRequest(program);
  program.child.kill('SIGTERM');
  await untilStopping(program);
  await running.send(REST_OF_BODY);
  const answer = await running.answer();
  assert.deepEqual([answer.status, answer.json.name], [200, 'Running']);
  assert.equal(await program.end(), 0);
});

test('R-528: while it stops the probe answers 503, and nothing new is taken', async (t) => {
  const program = await Program.start(t, await ownDatabase(t));
  using idle = await RawConnection.open(program.url);
  using _running = await begunRequest(program);
  program.child.kill('SIGTERM');
  await untilStopping(program);
  const { status, json } = await program.get('/healthz');
  assert.deepEqual([status, json.status, json.db], [503, 'degraded', 'ok']);
  await idle.send(requestText('GET /v1/models'));
  for (const refused of [await program.get('/api/hub/public/models'), await idle.answer()]) {
    assert.deepEqual([refused.status, refused.json.error?.code], [503, 'shutting_down']);
    assert.ok(refused.headers['x-request-id']);
    assert.equal(refused.headers.connection, 'close');
  }
});
