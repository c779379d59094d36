import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { byKey, ConsoleSite } from './support/console-site.ts';
import type { Answer } from './support/gateway.ts';
import { newOperator, type SignedInPerson } from './support/people.ts';

const site = new ConsoleSite();
let owner: SignedInPerson;
let key: string;
before(async () => {
  await site.start();
  owner = await site.owner();
  ({ key } = await site.keyOf(owner, { rpm: 60 }));
});
after(() => site.stop());
afterEach(() => site.gateway.assertBooksBalance());

async function overview(query = ''): Promise<Answer['json']> {
  const answer = await site.gateway.admin('GET', `/overview${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

test('R-524: requests, failures and credits since midnight are those of the ledger', async () => {
  const before = await overview();
  assert.equal(new Date(before.since * 1000).toISOString().slice(11, 19), '00:00:00');
  await site.made(byKey(key), 'speech');
  await site.made(byKey(key), 'speech');
  site.open.script({ kind: 'raw', status: 400, body: '{"error": {"message": "no"}}' });
  assert.equal((await site.run(byKey(key), 'speech')).status, 400);
  const now = await overview();
  assert.deepEqual(
    [now.requests - before.requests, now.errors - before.errors, now.credits_charged - before.credits_charged],
    [3, 1, 4],
  );
  assert.deepEqual([now.credits_held, now.margin, now.database, now.storage], [0, null, 'ok', 'ok']);
  site.gateway.clock.advance(86_400);
  const next = await overview();
  assert.deepEqual([next.requests, next.errors, next.credits_charged], [0, 0, 0]);
  const since = await overview(`?since=${before.since}`);
  assert.deepEqual([since.since, since.requests], [before.since, now.requests]);
});

test('R-524: the margin is what was charged beyond the cost that routes state, of calls and of jobs', async () => {
  site.gateway.clock.advance(86_400);
  const { json: document } = await site.gateway.admin('GET', '/config');
  const costs: Readonly<Record<string, object>> = { 'site/speech': { base: 0.5 }, 'sandbox/image': { base: 4 } };
  for (const model of document.models) if (model.id in costs) model.routes[0].cost = costs[model.id];
  assert.equal((await overview()).margin, null);
  await site.made(byKey(key), 'speech');
  assert.equal((await overview()).margin, null);
  await site.gateway.putConfig(document);
  await site.made(byKey(key), 'speech');
  assert.equal((await overview()).margin, 1.5);
  const { id } = (await site.made(byKey(key), 'picture')).json;
  await site.ended(owner, id);
  assert.equal((await overview()).margin, 7.5);
  site.open.script({ kind: 'raw', status: 400, body: '{"error": {"message": "no"}}' });
  await site.run(byKey(key), 'speech');
  assert.equal((await overview()).margin, 7.5);
});

test('R-524: open jobs are told by kind and status with the age of the oldest that waits, and what they hold', async () => {
  assert.deepEqual((await overview()).jobs, []);
  const { id } = (await site.made(byKey(key), 'music')).json;
  const open = await overview();
  assert.deepEqual([open.jobs.length, open.jobs[0].kind, open.jobs[0].count], [1, 'audio', 1]);
  assert.equal(open.credits_held, 50);
  await site.ended(owner, id);
  const ended = await overview();
  assert.deepEqual([ended.jobs, ended.oldest_queued_job_age_s, ended.credits_held], [[], null, 0]);
});

test('R-524: the last check of the books is told with its time, and telling it checks nothing', async () => {
  await site.gateway.assertBooksBalance();
  const { checked_at, balanced } = (await overview()).books;
  assert.deepEqual([checked_at, balanced], [Math.floor(site.gateway.clock.nowMs() / 1000), true]);
  site.gateway.clock.advance(60);
  assert.equal((await overview()).books.checked_at, checked_at);
});

test('R-524: an open breaker and the models that it leaves without a candidate are told', async () => {
  assert.deepEqual((await overview()).open_breakers, []);
  const unauthorized = { kind: 'raw', status: 401, body: '{"error": {"code": "invalid_api_key"}}' } as const;
  site.open.script(unauthorized);
  await site.run(byKey(key), 'speech');
  const { open_breakers, models_without_candidate } = await overview();
  assert.deepEqual(open_breakers, [{ upstream_id: 'open', model: null }]);
  assert.deepEqual(models_without_candidate, ['site/speech', 'site/transcribe']);
  await site.gateway.admin('POST', '/upstreams/open/reset');
  assert.deepEqual((await overview()).open_breakers, []);
});

test('R-524: accounts are counted, and those that are suspended', async () => {
  const before = (await overview()).accounts;
  const { accountId } = await site.owner(0);
  await site.gateway.admin('PATCH', `/accounts/${accountId}`, { status: 'suspended' });
  assert.deepEqual((await overview()).accounts, { total: before.total + 1, suspended: before.suspended + 1 });
});

test('R-525: an auditor sees the overview, an account’s owner does not', async () => {
  const { headers } = await newOperator(site.gateway, 'auditor');
  assert.equal((await site.gateway.call('GET', '/api/admin/overview', { headers })).status, 200);
  assert.equal((await site.gateway.call('GET', '/api/admin/overview', { headers: owner.headers })).status, 404);
  const bad = await site.gateway.admin('GET', '/overview?since=yesterday');
  assert.equal(bad.json.error.code, 'invalid_parameter');
});
